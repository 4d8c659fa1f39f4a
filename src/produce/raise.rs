//! Verdicts of transforms, with the offsets at which their records were stored. Pure.

use crate::{
    alert::{Evaluated, Match, Severity, Watched},
    base::{Offset, PluginName, TimestampMs, TopicId, TopicPartition},
    plugin::hook::RaisedAlert,
    wire::record_batch::DecodedBatch,
};

use super::hooks::Raised;

/// Where the records of one append came to lie.
pub(crate) struct Placed<'a> {
    pub(crate) topic_id: TopicId,
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
        watched: Watched {
            topic_id: placed.topic_id,
            source: placed.partition.clone(),
            plugin: plugin.clone(),
        },
        from: placed.first,
        to: placed.last + 1,
        matches: raised.map(|raised| {
            let of_plugin = raised.iter().filter(|it| it.plugin == *plugin);
            of_plugin.flat_map(|it| matches(it, batch, placed)).collect()
        }),
    };
    transforms.iter().map(verdict).collect()
}

/// What the matches of a batch hold, about.
pub(crate) fn size_bytes(raised: &[Raised]) -> usize {
    let alerts = raised.iter().flat_map(|it| &it.alerts);
    let bytes = |(_, it): &(usize, RaisedAlert)| {
        let labels = it.labels.iter().map(|(name, value)| name.len() + value.len());
        size_of::<Match>() + it.title.len() + it.fingerprint.len() + labels.sum::<usize>()
    };
    alerts.map(bytes).sum()
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::wire::record_batch::{BatchBuilder, Compression, RecordParts};

    fn batch(records: i32) -> DecodedBatch {
        let mut builder = BatchBuilder::new(TimestampMs(100), Compression::None);
        for offset_delta in 0..records {
            builder.push(&RecordParts {
                offset_delta,
                timestamp_delta: offset_delta.into(),
                key: None,
                value: None,
                headers: Vec::new(),
            });
        }
        builder.build().unwrap().decode(usize::MAX).unwrap()
    }

    fn raised(plugin: &str, records: &[usize]) -> Raised {
        let alert = |&record: &usize| RaisedAlert {
            record,
            severity: 2,
            title: "t".into(),
            fingerprint: "f".into(),
            labels: BTreeMap::new(),
        };
        Raised {
            plugin: plugin.into(),
            version: "1".into(),
            alerts: records.iter().map(|it| (*it, alert(it))).collect(),
        }
    }

    /// Record 0 lies elsewhere, record 1 was dropped, record 2 is at offset 9.
    fn verdicts_of(raised: Option<&[Raised]>) -> Vec<Evaluated> {
        let source = TopicPartition::new("t", 4);
        let placed = Placed {
            topic_id: TopicId(uuid::Uuid::from_u128(1)),
            partition: &source,
            first: Offset(9),
            last: Offset(9),
            offset_of: &|index| (index == 2).then_some(Offset(9)),
            dropped: &|index| index == 1,
        };
        verdicts(&["quiet".into(), "loud".into()], raised, &batch(3), &placed)
    }

    #[test]
    fn a_match_is_told_with_its_own_record_or_with_the_batch_that_dropped_it() {
        let verdicts = verdicts_of(Some(&[raised("loud", &[0, 1, 2])]));
        let found = verdicts[1].matches.as_ref().unwrap();
        let told: Vec<_> = found.iter().map(|it| (it.offset, it.timestamp)).collect();
        assert_eq!(told, [(None, TimestampMs(101)), (Some(Offset(9)), TimestampMs(102))]);
    }

    #[test]
    fn a_transform_that_found_nothing_moves_on_all_the_same() {
        let verdicts = verdicts_of(Some(&[raised("loud", &[2])]));
        assert_eq!(verdicts.len(), 2);
        assert_eq!(verdicts[0].matches, Some(Vec::new()));
        for it in &verdicts {
            assert_eq!((it.from, it.to), (Offset(9), Offset(10)));
        }
    }

    #[test]
    fn what_no_plugin_was_asked_about_is_left_to_be_evaluated() {
        assert!(verdicts_of(None).iter().all(|it| it.matches.is_none()));
    }
}
