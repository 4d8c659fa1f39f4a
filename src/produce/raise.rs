//! Verdicts of transforms, with the offsets at which their records were stored. Pure.

use crate::{
    alert::{Evaluated, Match, Severity},
    base::{Offset, PluginName, TimestampMs, TopicPartition},
    wire::record_batch::DecodedBatch,
};

use super::hooks::Raised;

/// Where the records of one append came to lie.
pub(crate) struct Placed<'a> {
    pub(crate) partition: &'a TopicPartition,
    /// The append's first and last offset, inclusive.
    pub(crate) first: Offset,
    pub(crate) last: Offset,
    /// The offset of a received record here; `None` where it is not here.
    pub(crate) offset_of: &'a dyn Fn(usize) -> Option<Offset>,
    /// Whether dropped records are told of with this append, without an offset.
    pub(crate) dropped: &'a dyn Fn(usize) -> bool,
}

/// One verdict for each transform of the topic, also for one that found nothing: its progress moves on.
pub(crate) fn verdicts(
    transforms: &[PluginName],
    raised: Option<&[Raised]>,
    batch: &DecodedBatch,
    placed: &Placed<'_>,
) -> Vec<Evaluated> {
    let verdict = |plugin: &PluginName| Evaluated {
        source: placed.partition.clone(),
        plugin: plugin.clone(),
        from: placed.first,
        to: placed.last + 1,
        matches: raised.map(|raised| {
            let of_plugin = raised.iter().filter(|it| it.plugin == *plugin);
            of_plugin.flat_map(|it| matches(it, batch, placed)).collect()
        }),
    };
    transforms.iter().map(verdict).collect()
}

fn matches<'a>(
    raised: &'a Raised,
    batch: &'a DecodedBatch,
    placed: &'a Placed<'_>,
) -> impl Iterator<Item = Match> + 'a {
    raised.alerts.iter().filter_map(move |(index, alert)| {
        let offset = (placed.offset_of)(*index);
        if offset.is_none() && !(placed.dropped)(*index) {
            return None;
        }
        let delta = batch.record(*index)?.timestamp_delta();
        Some(Match {
            source: placed.partition.clone(),
            offset,
            plugin: raised.plugin.clone(),
            plugin_version: raised.version.clone(),
            severity: Severity::of_plugin(alert.severity),
            title: alert.title.clone(),
            fingerprint: alert.fingerprint.clone(),
            labels: alert.labels.clone(),
            timestamp: TimestampMs(batch.header.base_timestamp.0.saturating_add(delta)),
        })
    })
}
