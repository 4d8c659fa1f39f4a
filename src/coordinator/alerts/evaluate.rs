//! Evaluates stored records again: what a crash left uncounted, and what a retry stored without asking the plugin.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    alert::{Evaluated, Match, Severity, Watched},
    base::{Offset, TimestampMs},
    plugin::{
        PluginHost, Transform,
        hook::{RaisedAlert, TransformInput, TransformVerdict},
    },
    replica::{Partition, ReplicaError},
    telemetry,
    wire::record_batch::{Batch, DecodedBatch, split},
};

/// Bytes of one read.
const READ_BYTES: usize = 1024 * 1024;

/// Reads one stretch of a partition and asks the plugin about it.
pub(super) struct Evaluation<'a> {
    pub(super) partition: &'a Partition,
    pub(super) plugins: &'a PluginHost,
    pub(super) watched: &'a Watched,
    pub(super) decompressed_max_bytes: usize,
}

impl Evaluation<'_> {
    /// Verdicts on the first part of `from..to`, in order, and where the next part begins; `None` at the end. A batch that
    /// the plugin fails on is passed over, as its policy did when the batch came; so is one that cannot be decoded.
    pub(super) async fn next(
        &self,
        from: Offset,
        to: Offset,
    ) -> Result<Option<(Vec<Evaluated>, Offset)>, ReplicaError> {
        let from = from.max(self.partition.log().log_start_offset());
        if from >= to {
            return Ok(None);
        }
        let fetched = self.partition.log().read(from, to, READ_BYTES, true)?;
        let Ok(batches) = split(fetched.records) else { return Ok(None) };
        let Some(last) = batches.last() else { return Ok(None) };
        let end = last.header.last_offset() + 1;
        let mut verdicts = Vec::with_capacity(batches.len());
        for batch in &batches {
            verdicts.push(self.batch(batch, from, to).await);
        }
        Ok(Some((verdicts, end)))
    }

    async fn batch(&self, batch: &Batch, from: Offset, to: Offset) -> Evaluated {
        let mut matches = self.matches(batch).await;
        matches.retain(|it| it.offset.is_some_and(|offset| offset >= from && offset < to));
        Evaluated {
            watched: self.watched.clone(),
            from: batch.header.base_offset,
            to: batch.header.last_offset() + 1,
            matches: Some(matches),
        }
    }

    async fn matches(&self, batch: &Batch) -> Vec<Match> {
        let Some(transform) = self.plugins.transform(&self.watched.plugin) else {
            tracing::warn!(partition = %self.watched.source, plugin = %self.watched.plugin, "no such plugin: stored records were not evaluated");
            return Vec::new();
        };
        if batch.header.attributes.is_control() {
            return Vec::new();
        }
        match batch.decode(self.decompressed_max_bytes) {
            Ok(decoded) => self.ask(&transform, Arc::new(decoded)).await,
            Err(error) => {
                tracing::warn!(partition = %self.watched.source, %error, "a stored batch cannot be evaluated");
                Vec::new()
            }
        }
    }

    async fn ask(&self, transform: &Transform, batch: Arc<DecodedBatch>) -> Vec<Match> {
        let input = TransformInput {
            partition: self.watched.source.clone(),
            batch: batch.clone(),
            now: telemetry::now(),
        };
        let TransformVerdict::Done(output) = transform.process(input).await else {
            tracing::warn!(partition = %self.watched.source, plugin = %self.watched.plugin, "stored records were not evaluated");
            return Vec::new();
        };
        transform.keep_state(&self.watched.source, output.state);
        let found = |alert| self.found(&batch, &output.plugin_version, alert);
        output.alerts.into_iter().filter_map(found).collect()
    }

    fn found(&self, batch: &DecodedBatch, version: &str, alert: RaisedAlert) -> Option<Match> {
        let record = batch.record(alert.record)?;
        let labels: BTreeMap<String, String> = alert.labels;
        Some(Match {
            source: self.watched.source.clone(),
            offset: Some(batch.header.base_offset + i64::from(record.offset_delta())),
            plugin: self.watched.plugin.clone(),
            plugin_version: version.to_owned(),
            severity: Severity::of_plugin(alert.severity),
            title: alert.title,
            fingerprint: alert.fingerprint,
            labels,
            timestamp: TimestampMs(
                batch.header.base_timestamp.0.saturating_add(record.timestamp_delta()),
            ),
        })
    }
}
