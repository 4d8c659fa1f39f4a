//! The transform hook, callable: a batch goes to it call by call.

use std::sync::Arc;

use crate::{
    base::TopicPartition,
    plugin::{
        convert::{self, Processed},
        failure::CallFailure,
        guest::{Answer, Call},
        guests::Guests,
        hook::{RaisedAlert, RecordAction, TransformInput, TransformOutput, TransformVerdict},
        limits::RESULT_BYTES_MAX,
        manifest::OnFailure,
        slot::Slot,
    },
};

/// A transform plugin, callable from any task; each batch uses the version that is loaded when it comes.
#[derive(Clone)]
pub struct Transform {
    slot: Arc<Slot>,
    guests: Arc<Guests>,
}

impl Transform {
    pub(in crate::plugin) fn new(slot: Arc<Slot>, guests: Arc<Guests>) -> Self {
        Self { slot, guests }
    }

    /// Never fails: a plugin that errs, traps or runs past its limits is answered for by its setting.
    pub async fn process(&self, input: TransformInput) -> TransformVerdict {
        let partition = input.partition.clone();
        match self.output(input).await {
            Ok(output) => TransformVerdict::Done(output),
            Err(failure) => {
                self.forget_state(&partition);
                self.answer_for(&failure)
            }
        }
    }

    /// Keeps the state that a stored batch ended with, for the next call of this partition. A state that an
    /// older version made is not kept.
    pub fn keep_state(&self, partition: &TopicPartition, state: Vec<u8>) {
        if let Some(load_id) = self.slot.active_id() {
            self.slot.states.lock().keep(partition, load_id, state);
        }
    }

    /// Empties the state of a partition that moved away or was deleted.
    pub fn forget_state(&self, partition: &TopicPartition) {
        self.slot.states.lock().forget(partition);
    }

    /// Call by call, all by one version, each with the state that the one before it left.
    async fn output(&self, input: TransformInput) -> Result<TransformOutput, CallFailure> {
        let loaded = super::running(&self.slot)?;
        let mut output = TransformOutput {
            plugin_version: loaded.description.version.clone(),
            state: self.slot.states.lock().begin(&input.partition, loaded.id),
            ..TransformOutput::default()
        };
        let mut answer_bytes = 0;
        for records in convert::calls(&input.batch) {
            let state = std::mem::take(&mut output.state);
            let call = Call::Process { input: input.clone(), records: records.clone(), state };
            match self.guests.call(&self.slot, &loaded, call).await? {
                Answer::Processed(processed) => {
                    answer_bytes += processed.size_bytes();
                    check_size(answer_bytes)?;
                    output.append(records.start, processed);
                }
                _ => return Err(super::wrong_hook()),
            }
        }
        output.keep_the_rest(input.batch.len());
        Ok(output)
    }

    fn answer_for(&self, failure: &CallFailure) -> TransformVerdict {
        let reason = format!("transform {}: {failure}", self.slot.name);
        match self.slot.on_failure() {
            OnFailure::Pass => TransformVerdict::Pass,
            OnFailure::Drop => TransformVerdict::DropAll,
            OnFailure::DeadLetter => TransformVerdict::DeadLetter {
                topic: self.slot.newest().and_then(|it| it.manifest.dead_letter_topic.clone()),
                reason,
            },
            _ => TransformVerdict::Failed(reason),
        }
    }
}

/// Each call's answer is bounded; so is what all calls about one batch may add up to.
fn check_size(answer_bytes: usize) -> Result<(), CallFailure> {
    if answer_bytes <= RESULT_BYTES_MAX {
        return Ok(());
    }
    Err(CallFailure::malformed(format!(
        "returned over {RESULT_BYTES_MAX} bytes of new records and alerts for one batch"
    )))
}

impl TransformOutput {
    /// Adds what a call about the records from `start` on made of them.
    fn append(&mut self, start: usize, processed: Processed) {
        if !processed.actions.is_empty() {
            self.keep_the_rest_until(start);
            self.actions.extend(processed.actions);
        }
        self.alerts.extend(
            processed
                .alerts
                .into_iter()
                .map(|alert| RaisedAlert { record: alert.record + start, ..alert }),
        );
        self.state = processed.state;
    }

    /// An answer without actions keeps all: spelled out only where another call's answer has some.
    fn keep_the_rest_until(&mut self, len: usize) {
        self.actions.resize(len, RecordAction::Keep);
    }

    fn keep_the_rest(&mut self, len: usize) {
        if !self.actions.is_empty() {
            self.keep_the_rest_until(len);
        }
    }
}
