//! What both requests that change configs do: what can be read goes to the controller, and each resource gets its result.

use super::{metadata_change::MetadataChange, refusal::Refusal};
use crate::{
    controller::ControllerError,
    machine::Decision,
    metadata::{ConfigResource, MetadataImage, MetadataRecord},
};

/// The requests have no timeout of their own; Kafka's clients wait 30 seconds.
pub(super) const TIMEOUT_MS: i32 = 15_000;

/// A resource and what is to become of its configs, if that could be read.
pub(super) type Asked<C> = Result<(ConfigResource, C), Refusal>;

type Decided = Decision<MetadataRecord, Vec<Result<(), ControllerError>>>;

/// Results in the order of the request: those of what could be read are the controller's.
pub(super) async fn alter<C: Send + Sync>(
    change: &MetadataChange<'_>,
    asked: Vec<Asked<C>>,
    decide: impl Fn(&MetadataImage, &[(ConfigResource, C)]) -> Decided + Send + Sync,
) -> Vec<Result<(), Refusal>> {
    let mut good = Vec::with_capacity(asked.len());
    let read: Vec<_> = asked.into_iter().map(|it| it.map(|it| good.push(it))).collect();
    let decided = change.make(good.len(), |image| decide(image, &good)).await;
    let mut decided = decided.into_iter();
    read.into_iter().map(|it| it.and_then(|()| decided.next().unwrap_or(Ok(())))).collect()
}
