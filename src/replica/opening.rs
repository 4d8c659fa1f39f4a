//! Opening the logs of the partitions that an image gives this node: in which directory each lies, and what that took.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Instant,
};

use parking_lot::Mutex;

use super::{
    Partition, ReplicaManager,
    hosted::{Hosted, Wanted, cause},
    manager::{Partitions, each},
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
        each(&new, |(wanted, dir)| match self.open(wanted, dir) {
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
        });
        let opened = opened.into_inner();
        tell_recovery(&opened, started);
        opened
    }

    /// The directory of each new partition: where it lies already or, if it is lost, lay; else the one with the fewest. None, while it may lie in one
    /// that cannot be read.
    fn places(
        &self,
        new: Vec<Wanted>,
        kept: &Partitions,
        told: &BTreeSet<TopicPartition>,
    ) -> Vec<(Wanted, Arc<LogDir>)> {
        let (mut found, mut all_read) = (HashMap::new(), true);
        for (at, dir) in self.dirs.iter().enumerate() {
            match dir.partitions() {
                Ok(partitions) => found.extend(partitions.into_iter().map(|it| (it, at))),
                Err(error) => {
                    all_read = false;
                    let cause = cause(&error);
                    tracing::error!(%error, cause, "could not read a log directory: what is not found elsewhere waits");
                }
            }
        }
        let count =
            |dir: &Arc<LogDir>| kept.values().filter(|it| Arc::ptr_eq(&it.dir, dir)).count();
        let mut counts: Vec<_> = self.dirs.iter().map(count).collect();
        let is_unclean = |at: &usize| self.dirs.get(*at).is_some_and(|it| !it.was_clean());
        let mut to_check = 0;
        let mut place = |wanted: &Wanted| {
            let known = found.get(&wanted.topic_partition).copied();
            let is_first_time = !told.contains(&wanted.topic_partition);
            to_check += usize::from(is_first_time && known.as_ref().is_some_and(is_unclean));
            let lost = || self.dirs.iter().position(|it| it.remembers(&wanted.topic_partition));
            let at = known.or_else(lost).or_else(|| self.emptiest(&counts).filter(|_| all_read))?;
            *counts.get_mut(at)? += 1;
            self.dirs.get(at).cloned()
        };
        let placed = new.into_iter().filter_map(|it| place(&it).map(|dir| (it, dir))).collect();
        if to_check > 0 {
            tracing::info!(partitions = to_check, "the last stop was not clean: checking logs");
        }
        placed
    }

    /// An online directory with the fewest partitions; any, if none is online.
    fn emptiest(&self, counts: &[usize]) -> Option<usize> {
        let is_offline = |at: &usize| self.dirs.get(*at).is_none_or(|it| !it.health.is_online());
        (0..counts.len()).min_by_key(|at| (is_offline(at), counts.get(*at).copied()))
    }

    fn open(&self, wanted: &Wanted, dir: &Arc<LogDir>) -> Result<Hosted, LogError> {
        let settings = LogSettings::new(&wanted.role.config, &self.altered.load().log);
        let log = dir.open_log(&wanted.topic_partition, wanted.topic_id, settings, now())?;
        let partition = Partition::new(
            wanted.topic_partition.clone(),
            wanted.topic_id,
            log,
            self.config.node.id,
            wanted.role.clone(),
        );
        Ok(Hosted {
            partition: Arc::new(partition),
            dir: Arc::clone(dir),
            own_configs: Mutex::new(wanted.own_configs.clone()),
        })
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
