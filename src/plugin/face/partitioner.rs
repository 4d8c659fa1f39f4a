//! The partitioner hook, callable.

use std::sync::Arc;

use crate::plugin::{
    convert,
    failure::CallFailure,
    guest::{Answer, Call},
    guests::Guests,
    hook::{PartitionerInput, PartitionerVerdict},
    manifest::OnFailure,
    slot::Slot,
};

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
