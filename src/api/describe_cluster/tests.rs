//! Against a quorum of one.

use super::*;
use crate::api::test_node::{TestNode, context, encodes};

#[tokio::test]
async fn the_cluster_is_described_at_every_version() {
    let node = TestNode::start().await;
    let image = node.quorum.image();
    for version in VERSIONS {
        let request =
            DescribeClusterRequest::default().with_include_cluster_authorized_operations(true);
        let response = answer(&image, BrokerId(1), &context(version), &request);
        encodes(&response, version);
        assert_eq!(&*response.cluster_id, &*image.cluster_id);
        assert_eq!(response.brokers.len(), 1);
        assert_eq!((&*response.brokers[0].host, response.brokers[0].port), ("h", 9092));
        assert_eq!(response.cluster_authorized_operations, 8096);
    }
}

#[tokio::test]
async fn fenced_brokers_are_shown_to_those_who_ask() {
    let mut image = (*TestNode::start().await.quorum.image()).clone();
    image.brokers.values_mut().for_each(|it| it.fenced = true);
    for (asks, count) in [(false, 0), (true, 1)] {
        let request = DescribeClusterRequest::default().with_include_fenced_brokers(asks);
        let response = answer(&image, BrokerId(1), &context(2), &request);
        encodes(&response, 2);
        assert_eq!(response.brokers.len(), count);
        assert!(response.brokers.iter().all(|it| it.is_fenced));
    }
}

#[test]
fn controllers_are_not_served() {
    for (endpoint, code) in
        [(2, ErrorCode::MismatchedEndpointType), (7, ErrorCode::UnsupportedEndpointType)]
    {
        let request = DescribeClusterRequest::default().with_endpoint_type(endpoint);
        let image = MetadataImage::default();
        let response = answer(&image, BrokerId(1), &context(1), &request);
        encodes(&response, 1);
        assert_eq!(response.error_code, code.code());
    }
}
