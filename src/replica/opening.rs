//! Opening the logs of the partitions that an image gives this node: in which directory each lies, and what that took.

use std::{collections::BTreeSet, sync::Arc, time::Instant};

use parking_lot::Mutex;

use super::{
    Partition, ReplicaManager,
    hosted::{Hosted, Wanted, cause},
    manager::Partitions,
};
use crate::{
    base::TopicPartition,
    log::{LogDir, LogError, LogSettings, Recovery},
    telemetry::now,
};

impl ReplicaManager {
    /// Opens what can be. What could not is told, unless it was told before: it is tried again and again.
    pub(super) fn open_all(
        &self,
        new: Vec<Wanted>,
        kept: &Partitions,
        told: &BTreeSet<TopicPartition>,
    ) -> Partitions {
        let started = Instant::now();
        let new = self.places(new, kept, told);
        let opened = Mutex::new(Partitions::new());
        let open = |(wanted, dir): &(Wanted, Arc<LogDir>)| match self.open(wanted, dir) {
            Ok(it) => {
                if told.contains(&wanted.topic_partition) {
                    tracing::info!(partition = %wanted.topic_partition, "opened a log that could not be opened before");
                }
                opened.lock().insert(wanted.topic_partition.clone(), Arc::new(it));
            }
            Err(error) if told.contains(&wanted.topic_partition) => {
                tracing::debug!(partition = %wanted.topic_partition, %error, "still could not open a log");
            }
            Err(error) => {
                let cause = cause(&error);
                tracing::error!(partition = %wanted.topic_partition, %error, cause, "could not open a log");
            }
        };
        self.each_in_its_dir(&new, |(_, dir)| Arc::clone(dir), open);
        let opened = opened.into_inner();
        tell_recovery(&opened, started);
        opened
    }

    /// The directory of each new partition: where it lies already or, if it is lost, lay; else the one with the fewest. None, while it
    /// may lie in one that is offline or cannot be read.
    fn places(
        &self,
        new: Vec<Wanted>,
        kept: &Partitions,
        told: &BTreeSet<TopicPartition>,
    ) -> Vec<(Wanted, Arc<LogDir>)> {
        let looked = self.look_for_partitions();
        let count = |dir: &Arc<LogDir>| kept.values().filter(|it| it.lies_in(dir)).count();
        let mut counts: Vec<_> = self.dirs.iter().map(count).collect();
        let is_unclean = |at: &usize| self.dirs.get(*at).is_some_and(|it| !it.was_clean());
        let mut to_check = 0;
        let mut place = |wanted: &Wanted| {
            let partition = &wanted.topic_partition;
            let found = looked.found.get(partition);
            let known = match found {
                Some(found) => Some(self.settle_place(partition, found, looked.is_all)?),
                None => None,
            };
            let is_first_time = !told.contains(partition);
            to_check += usize::from(is_first_time && known.as_ref().is_some_and(is_unclean));
            let lost = || self.dirs.iter().position(|it| it.remembers(partition));
            let may_be_made = looked.is_all || self.is_new(wanted);
            let made = || self.preferred(partition).or_else(|| self.emptiest(&counts));
            let made = || may_be_made.then(made).flatten();
            let at = known.or_else(lost).or_else(made)?;
            *counts.get_mut(at)? += 1;
            self.dirs.get(at).cloned()
        };
        let placed = new.into_iter().filter_map(|it| place(&it).map(|dir| (it, dir))).collect();
        if to_check > 0 {
            tracing::info!(partitions = to_check, "the last stop was not clean: checking logs");
        }
        placed
    }

    /// The directory that was asked for before the partition was there, if it is online.
    fn preferred(&self, partition: &TopicPartition) -> Option<usize> {
        let is_online = |at: &usize| self.dirs.get(*at).is_some_and(|it| it.health.is_online());
        self.moves.take_preferred(partition).filter(is_online)
    }

    /// The online directory with the fewest partitions.
    fn emptiest(&self, counts: &[usize]) -> Option<usize> {
        let is_online = |at: &usize| self.dirs.get(*at).is_some_and(|it| it.health.is_online());
        (0..counts.len()).filter(is_online).min_by_key(|at| counts.get(*at).copied())
    }

    fn open(&self, wanted: &Wanted, dir: &Arc<LogDir>) -> Result<Hosted, LogError> {
        let settings = LogSettings::new(&wanted.role.config, &self.altered.load().log);
        let log = dir.open_log(&wanted.topic_partition, wanted.topic_id, settings, now())?;
        let partition = Partition::new(
            wanted.topic_partition.clone(),
            wanted.topic_id,
            log,
            Arc::clone(&dir.fsyncs),
            self.config.node.id,
            wanted.role.clone(),
        );
        Ok(Hosted::new(partition, dir, wanted.own_configs.clone()))
    }
}

/// What a start after a kill took.
fn tell_recovery(opened: &Partitions, started: Instant) {
    let recovered = opened.values().map(|it| it.partition.log().recovery());
    let (mut partitions, mut sum) = (0, Recovery::default());
    for it in recovered.filter(|it| it.segments > 0) {
        partitions += 1;
        sum.segments += it.segments;
        sum.bytes_checked += it.bytes_checked;
        sum.bytes_cut += it.bytes_cut;
    }
    if partitions > 0 {
        let Recovery { segments, bytes_checked, bytes_cut } = sum;
        let ms = started.elapsed().as_millis();
        tracing::info!(partitions, segments, bytes_checked, bytes_cut, ms, "checked logs");
    }
}
