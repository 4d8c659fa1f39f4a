//! The transform hook: filters, changes and watches the records of a batch.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    base::{TimestampMs, TopicPartition},
    wire::record_batch::DecodedBatch,
};

#[derive(Clone, Debug)]
pub struct TransformInput {
    pub partition: TopicPartition,
    pub batch: Arc<DecodedBatch>,
    pub now: TimestampMs,
}

/// Name and value of a header; the value may be null.
pub type ReplacementHeader = (Vec<u8>, Option<Vec<u8>>);

/// New contents of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    pub key: Option<Vec<u8>>,
    pub value: Option<Vec<u8>>,
    /// `None`: the record's own.
    pub headers: Option<Vec<ReplacementHeader>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordAction {
    Keep,
    Drop,
    Replace(Box<Replacement>),
    /// A decision, not a failure: the batch is refused with `INVALID_RECORD` and this reason.
    Reject(String),
}

/// An alert as the plugin raised it; the broker counts and folds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaisedAlert {
    /// Index of the record in the batch.
    pub record: usize,
    /// 0 info, 1 warning, 2 error, 3 critical.
    pub severity: u8,
    pub title: String,
    pub fingerprint: String,
    pub labels: BTreeMap<String, String>,
}

/// What a transform made of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransformOutput {
    /// One for each record; empty keeps all.
    pub actions: Vec<RecordAction>,
    pub alerts: Vec<RaisedAlert>,
    /// Version of the plugin that answered.
    pub plugin_version: String,
    /// The plugin's state for this partition after the batch; give it back by [`keep_state`](crate::plugin::Transform::keep_state) once the batch is stored.
    pub state: Vec<u8>,
}

/// The plugin's answer, after its `on-failure` setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransformVerdict {
    Done(TransformOutput),
    /// It failed: the batch passes unchanged (`pass`).
    Pass,
    /// It failed: the batch's records are dropped (`drop`).
    DropAll,
    /// It failed: the batch's records go to the dead-letter topic instead (`dead-letter`).
    DeadLetter {
        topic: Option<String>,
        reason: String,
    },
    /// It failed: nothing may be stored (`reject`).
    Failed(String),
}
