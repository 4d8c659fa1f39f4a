//! Asks a topic's hooks about one batch: its transforms in order, then its partitioner.

use std::{
    collections::hash_map::DefaultHasher,
    hash::{Hash, Hasher},
    sync::Arc,
};

use super::{
    ProduceError, RefusedRecord,
    edit::{Edit, records_left},
};
use crate::{
    base::{PluginName, TimestampMs, TopicPartition},
    config::{PartitionerMode, TopicConfig},
    plugin::{
        PluginHost, Transform,
        hook::{
            PartitionerInput, PartitionerVerdict, RaisedAlert, RecordAction, TransformInput,
            TransformOutput, TransformVerdict,
        },
    },
    wire::record_batch::{BatchBuilder, BatchHeader, Compression, DecodedBatch},
};

/// What one transform raised, by index in the received batch.
#[derive(Debug)]
pub(crate) struct Raised {
    pub(crate) plugin: PluginName,
    pub(crate) version: String,
    pub(crate) alerts: Vec<(usize, RaisedAlert)>,
}

/// Records that a failed transform's `dead-letter` policy sends elsewhere.
#[derive(Debug)]
pub(crate) struct DeadLetters {
    /// `None`: the topic's own, `TOPIC.dead-letter`.
    pub(crate) topic: Option<String>,
    pub(crate) plugin: PluginName,
    pub(crate) reason: String,
    /// The records as the failed transform was shown them.
    pub(crate) batch: Arc<DecodedBatch>,
}

/// What the transforms made of a batch.
pub(crate) struct Transformed {
    pub(crate) edit: Edit,
    pub(crate) raised: Vec<Raised>,
    pub(crate) dead_letters: Vec<DeadLetters>,
    states: Vec<(Transform, Vec<u8>)>,
}

impl Transformed {
    /// Lets the plugins keep their states, once the batch is stored.
    pub(crate) fn keep_states(&mut self, partition: &TopicPartition) {
        for (transform, state) in self.states.drain(..) {
            transform.keep_state(partition, state);
        }
    }
}

/// What a batch's hooks work on.
pub(crate) struct HookCall<'a> {
    pub(crate) plugins: &'a PluginHost,
    pub(crate) config: &'a TopicConfig,
    pub(crate) partition: &'a TopicPartition,
    pub(crate) batch: &'a Arc<DecodedBatch>,
}

impl HookCall<'_> {
    /// Runs the transforms, each on what the one before left. The records may grow to `bytes_max`.
    pub(crate) async fn transform(
        &self,
        now: TimestampMs,
        bytes_max: usize,
    ) -> Result<Transformed, ProduceError> {
        let mut result = Transformed {
            edit: Edit::none(self.batch.len()),
            raised: Vec::new(),
            dead_letters: Vec::new(),
            states: Vec::new(),
        };
        for name in &self.config.transforms {
            let shown = result.edit.left();
            if shown.is_empty() {
                break;
            }
            let transform = self.plugins.transform(name).ok_or_else(|| not_loaded(name))?;
            let batch = self.left(&result.edit)?;
            let input =
                TransformInput { partition: self.partition.clone(), batch: batch.clone(), now };
            match transform.process(input).await {
                TransformVerdict::Done(output) => {
                    take_over(&mut result, name, transform, &shown, output)?;
                    self.check_size(name, &result.edit, bytes_max)?;
                }
                TransformVerdict::Pass => {}
                TransformVerdict::DropAll => result.edit.drop_all(),
                TransformVerdict::DeadLetter { topic, reason } => {
                    let plugin = name.clone();
                    result.dead_letters.push(DeadLetters { topic, plugin, reason, batch });
                    result.edit.drop_all();
                }
                TransformVerdict::Failed(reason) => return Err(ProduceError::HookFailed(reason)),
            }
        }
        Ok(result)
    }

    fn check_size(
        &self,
        name: &PluginName,
        edit: &Edit,
        bytes_max: usize,
    ) -> Result<(), ProduceError> {
        let size = edit.new_bytes(self.batch);
        if size <= bytes_max {
            return Ok(());
        }
        let reason =
            format!("{name} made {size} bytes of the batch, at most {bytes_max} are allowed");
        Err(ProduceError::HookFailed(reason))
    }

    /// The batch as the next hook is shown it: what is left of it, as it is now.
    fn left(&self, edit: &Edit) -> Result<Arc<DecodedBatch>, ProduceError> {
        if edit.is_none() {
            return Ok(self.batch.clone());
        }
        let mut builder = BatchBuilder::rebuild(&self.batch.header, Compression::None);
        for record in records_left(self.batch, edit) {
            builder.push(&record);
        }
        let rebuilt = builder.build().ok_or(ProduceError::InvalidRequest("nothing is left"))?;
        Ok(Arc::new(rebuilt.decode(usize::MAX)?))
    }

    /// The targets of the records that are left, or `None` when the client's choice stands for all.
    pub(crate) async fn place(
        &self,
        edit: &Edit,
        partitions: u32,
        sequence: u32,
        observer: &dyn Observer,
    ) -> Result<Option<Vec<u32>>, ProduceError> {
        let left = edit.left();
        let Some(name) = self.config.partitioner.as_ref().filter(|_| !left.is_empty()) else {
            return Ok(None);
        };
        let partitioner = self.plugins.partitioner(name).ok_or_else(|| not_loaded(name))?;
        let batch = self.left(edit)?;
        let input = PartitionerInput {
            topic: self.partition.topic.clone(),
            partitions,
            batch: batch.clone(),
            sequence,
            seed: seed(&self.batch.header, self.partition.partition),
        };
        let targets = match partitioner.place(input).await {
            PartitionerVerdict::Targets(targets) => targets,
            PartitionerVerdict::Client => return Ok(None),
            PartitionerVerdict::Failed(reason) => return Err(ProduceError::HookFailed(reason)),
        };
        let strays = || self.strays(&batch, &left, &targets);
        match self.config.partitioner_mode {
            PartitionerMode::Route => {
                let here = u32::try_from(self.partition.partition).unwrap_or(0);
                Ok(Some(targets).filter(|it| it.iter().any(|&target| target != here)))
            }
            PartitionerMode::Guard => guard(strays()).map(|()| None),
            PartitionerMode::Observe => {
                observer.observed(self.partition, targets.len(), &strays());
                Ok(None)
            }
        }
    }

    /// Keyed records that belong elsewhere, with both partitions.
    fn strays(&self, batch: &DecodedBatch, left: &[usize], targets: &[u32]) -> Vec<RefusedRecord> {
        let here = self.partition.partition;
        let stray = |((record, &index), &target): ((_, &usize), &u32)| {
            let record: crate::wire::record_batch::RecordView<'_> = record;
            (record.key().is_some() && i64::from(target) != i64::from(here)).then(|| {
                RefusedRecord {
                    index: index as i32,
                    reason: format!("the key belongs to partition {target}, not {here}"),
                }
            })
        };
        batch.records().zip(left).zip(targets).filter_map(stray).collect()
    }
}

/// Hears what mode `observe` finds.
pub(crate) trait Observer: Sync {
    fn observed(&self, partition: &TopicPartition, records: usize, strays: &[RefusedRecord]);
}

fn guard(strays: Vec<RefusedRecord>) -> Result<(), ProduceError> {
    match strays.first() {
        None => Ok(()),
        Some(first) => {
            let message = format!("record {}: {}", first.index, first.reason);
            Err(ProduceError::Refused { message, records: strays })
        }
    }
}

fn not_loaded(name: &PluginName) -> ProduceError {
    ProduceError::HookFailed(format!("plugin {name}: no version is loaded now"))
}

fn take_over(
    result: &mut Transformed,
    name: &PluginName,
    transform: Transform,
    shown: &[usize],
    output: TransformOutput,
) -> Result<(), ProduceError> {
    refuse_rejected(name, shown, &output.actions)?;
    result.edit.apply(shown, output.actions);
    let index = |alert: RaisedAlert| shown.get(alert.record).map(|&index| (index, alert));
    result.raised.push(Raised {
        plugin: name.clone(),
        version: output.plugin_version,
        alerts: output.alerts.into_iter().filter_map(index).collect(),
    });
    result.states.push((transform, output.state));
    Ok(())
}

/// A plugin's decision against one record refuses the batch, raises nothing and consumes no sequence number.
fn refuse_rejected(
    name: &PluginName,
    shown: &[usize],
    actions: &[RecordAction],
) -> Result<(), ProduceError> {
    let rejected = |(&index, action): (&usize, &RecordAction)| match action {
        RecordAction::Reject(reason) => {
            Some(RefusedRecord { index: index as i32, reason: reason.clone() })
        }
        _ => None,
    };
    let records: Vec<RefusedRecord> = shown.iter().zip(actions).filter_map(rejected).collect();
    match records.first() {
        None => Ok(()),
        Some(first) => {
            let message = format!("{name} rejects record {}: {}", first.index, first.reason);
            Err(ProduceError::Refused { message, records })
        }
    }
}

/// The same for all batches of one producer session in one receiving partition. Well spread over producers, and one
/// apart from partition to partition: else what is left over of each partition's round would pile up on the same targets.
fn seed(header: &BatchHeader, receiving_partition: i32) -> u32 {
    let mut hasher = DefaultHasher::new();
    (header.producer_id, header.producer_epoch).hash(&mut hasher);
    (hasher.finish() as u32).wrapping_add(receiving_partition as u32)
}
