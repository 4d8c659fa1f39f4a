//! What a transform remembers of a partition: from stored batch to stored batch, and no further.

use super::{
    Fixture, TransformVerdict, embed, partition, processing,
    text::{Text, list},
};
use crate::plugin::{HookKind, Transform};

/// Its state grows by one byte a call; it traps when the batch holds one record.
fn counting(version: &'static str) -> Text {
    let grown = list(52, "(i32.const 524288)", "(i32.add (local.get $state-len) (i32.const 1))");
    Text::good(HookKind::Transform).version(version).later(&format!(
        "(if (i32.eq (local.get $count) (i32.const 1)) (then unreachable)) {grown}"
    ))
}

/// The length of the state after a batch of two records.
async fn state_after(transform: &Transform) -> Vec<u8> {
    match transform.process(processing(&["a", "b"])).await {
        TransformVerdict::Done(output) => output.state,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_state_goes_on_only_from_batches_that_were_stored() {
    let fixture = Fixture::start(&[embed("count", &counting("1.0.0"))], &[]).await;
    let transform = fixture.host.transform(&"count".into()).expect("known");
    assert_eq!(state_after(&transform).await.len(), 1);
    let state = state_after(&transform).await;
    assert_eq!(state.len(), 1, "the first batch was not stored");
    transform.keep_state(&partition(), state);
    let state = state_after(&transform).await;
    assert_eq!(state.len(), 2);
    transform.keep_state(&partition(), state);

    assert!(matches!(transform.process(processing(&["a"])).await, TransformVerdict::Failed(_)));
    assert_eq!(state_after(&transform).await.len(), 1, "a failure empties it");

    let state = state_after(&transform).await;
    transform.keep_state(&partition(), state);
    transform.forget_state(&partition());
    assert_eq!(state_after(&transform).await.len(), 1, "a move empties it");
}

#[tokio::test]
async fn a_reload_empties_the_state() {
    let fixture = Fixture::start(&[], &[("count.wasm", &counting("1.0.0").wasm())]).await;
    let transform = fixture.host.transform(&"count".into()).expect("known");
    let state = state_after(&transform).await;
    transform.keep_state(&partition(), state);
    let state = state_after(&transform).await;
    assert_eq!(state.len(), 2);
    fixture.replace("count.wasm", &counting("2.0.0").wasm());
    fixture.until_version("count", "2.0.0").await;
    transform.keep_state(&partition(), state);
    assert_eq!(state_after(&transform).await.len(), 1);
}

#[tokio::test]
async fn the_parts_of_one_batch_hand_the_state_on() {
    let fixture = Fixture::start(&[embed("count", &counting("1.0.0"))], &[]).await;
    let transform = fixture.host.transform(&"count".into()).expect("known");
    let TransformVerdict::Done(output) = transform.process(processing(&vec!["v"; 3_500])).await
    else {
        panic!("it answers");
    };
    assert_eq!(output.state.len(), 4);
}
