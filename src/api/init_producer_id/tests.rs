//! Against a quorum of one.

use kafka_protocol::protocol::StrBytes;

use super::*;
use crate::api::test_node::{TestNode, encodes};

fn had(id: i64, epoch: i16) -> InitProducerIdRequest {
    InitProducerIdRequest::default()
        .with_transactional_id(None)
        .with_producer_id(id.into())
        .with_producer_epoch(epoch)
}

#[tokio::test]
async fn every_producer_gets_an_id_of_its_own_at_every_version() {
    let node = TestNode::start().await;
    let ids = ProducerIds::new(node.quorum.clone());
    for (want, version) in (0..).zip(VERSIONS) {
        let request = if version >= 3 { had(7, 3) } else { had(-1, -1) };
        let response = answer(&ids, &request).await;
        encodes(&response, version);
        let got = (response.error_code, response.producer_id.0, response.producer_epoch);
        assert_eq!(got, (0, want, 0));
    }
}

#[tokio::test]
async fn half_an_identity_and_transactions_are_refused() {
    let node = TestNode::start().await;
    let ids = ProducerIds::new(node.quorum.clone());
    let transactional = |id: &'static str| {
        had(-1, -1).with_transactional_id(Some(StrBytes::from_static_str(id).into()))
    };
    for (request, code) in [
        (had(7, -1), ErrorCode::InvalidRequest),
        (had(-1, 7), ErrorCode::InvalidRequest),
        (transactional(""), ErrorCode::InvalidRequest),
        (transactional("t"), ErrorCode::TransactionalIdAuthorizationFailed),
    ] {
        let response = answer(&ids, &request).await;
        encodes(&response, 5);
        assert_eq!((response.error_code, response.producer_id.0), (code.code(), -1));
    }
}
