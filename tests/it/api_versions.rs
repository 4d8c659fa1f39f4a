//! `ApiVersions`, and what becomes of versions that are not served.

use bytes::Buf;
use kafka_protocol::{
    messages::{ApiKey, ApiVersionsRequest, ApiVersionsResponse},
    protocol::Decodable,
};

use crate::support::{Broker, frame_of};

fn named(name: &'static str) -> ApiVersionsRequest {
    ApiVersionsRequest::default()
        .with_client_software_name(name.into())
        .with_client_software_version("1.0".into())
}

#[test]
fn every_version_lists_the_same_apis() {
    let broker = Broker::start();
    let mut client = broker.client();
    let first = client.call(0, &ApiVersionsRequest::default());
    for version in 1..=4 {
        let request = if version < 3 { ApiVersionsRequest::default() } else { named("it") };
        let response = client.call(version, &request);
        assert_eq!(response.error_code, 0);
        assert_eq!(response.api_keys, first.api_keys);
    }
    let produce = first.api_keys.iter().find(|api| api.api_key == 0).unwrap();
    assert_eq!((produce.min_version, produce.max_version), (0, 13));
    let init = first.api_keys.iter().find(|api| api.api_key == 22).unwrap();
    assert_eq!(init.max_version, 5);
}

#[test]
fn an_unknown_version_is_answered_in_version_0_and_the_connection_stays() {
    let broker = Broker::start();
    let mut client = broker.client();
    client.send_bytes(&frame_of(ApiKey::ApiVersions as i16, 99, 7, b"who knows")).unwrap();
    let mut frame = client.receive_frame().unwrap();
    assert_eq!(frame.get_i32(), 7);
    let response = ApiVersionsResponse::decode(&mut frame, 0).unwrap();
    assert_eq!(response.error_code, 35);
    assert_eq!(response.api_keys[0].api_key, ApiKey::ApiVersions as i16);
    assert_eq!(client.call(4, &named("it")).error_code, 0);
}

#[test]
fn software_that_is_named_against_the_rules_is_refused() {
    let broker = Broker::start();
    let mut client = broker.client();
    assert_eq!(client.call(3, &named("no spaces")).error_code, 42);
    assert_eq!(client.call(3, &named("apache-kafka-java")).error_code, 0);
}

#[test]
fn other_versions_and_keys_that_are_not_served_close_the_connection() {
    let broker = Broker::start();
    for (key, version) in [(0, 2), (1, 3), (3, 99), (22, 6), (52, 0)] {
        let mut client = broker.client();
        client.send_bytes(&frame_of(key, version, 1, b"")).unwrap();
        assert!(client.receive_frame().is_err(), "key {key} version {version}");
    }
    let mut client = broker.client();
    client.send_bytes(&[0, 0, 0, 10, 0x7f, 0, 0, 0, 0, 0, 0, 1, 0xff, 0xff]).unwrap();
    assert!(client.receive_frame().is_err(), "an unknown key");
}
