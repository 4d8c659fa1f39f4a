//! The partitioner hook: which partition each record of a batch belongs to.

use std::sync::Arc;

use crate::{
    base::TopicName,
    plugin::{
        convert,
        failure::CallFailure,
        guest::{Answer, Call},
        guests::Guests,
        manifest::OnFailure,
        slot::Slot,
    },
    wire::record_batch::DecodedBatch,
};

/// A batch to place.
#[derive(Clone, Debug)]
pub struct PartitionerInput {
    pub topic: TopicName,
    /// At least 1.
    pub partitions: u32,
    pub batch: Arc<DecodedBatch>,
    /// Number of the first record; see `wit/partitioner.wit`.
    pub sequence: u32,
    pub seed: u32,
}

/// The plugin's answer, after its `on-failure` setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartitionerVerdict {
    /// One partition for each record, each in range.
    Targets(Vec<u32>),
    /// It failed, and the client's choice stands (`on-failure = "client"`).
    Client,
    /// It failed, and nothing may be stored (`on-failure = "reject"`).
    Failed(String),
}

/// A partitioner plugin, callable from any task; each batch uses the version that is loaded when it comes.
#[derive(Clone)]
pub struct Partitioner {
    slot: Arc<Slot>,
    guests: Arc<Guests>,
}

impl Partitioner {
    pub(in crate::plugin) fn new(slot: Arc<Slot>, guests: Arc<Guests>) -> Self {
        Self { slot, guests }
    }

    /// Whether it declares itself a function of the key; modes `guard` and `observe` need it.
    pub fn is_key_pure(&self) -> bool {
        self.slot.newest().is_some_and(|it| it.description.key_pure)
    }

    /// Never fails: a plugin that errs, traps or runs past its limits is answered for by its setting.
    pub async fn place(&self, input: PartitionerInput) -> PartitionerVerdict {
        match self.targets(input).await {
            Ok(targets) => PartitionerVerdict::Targets(targets),
            Err(failure) => match self.slot.on_failure() {
                OnFailure::Client => PartitionerVerdict::Client,
                _ => {
                    PartitionerVerdict::Failed(format!("partitioner {}: {failure}", self.slot.name))
                }
            },
        }
    }

    /// Call by call, all by one version.
    async fn targets(&self, input: PartitionerInput) -> Result<Vec<u32>, CallFailure> {
        let loaded = super::running(&self.slot)?;
        let mut targets = Vec::with_capacity(input.batch.len());
        for records in convert::calls(&input.batch) {
            let call = Call::Place { input: input.clone(), records };
            match self.guests.call(&self.slot, &loaded, call).await? {
                Answer::Placed(placed) => targets.extend(placed),
                _ => return Err(super::wrong_hook()),
            }
        }
        Ok(targets)
    }
}
