//! All partitions of this node: opened, found, changed and deleted as the metadata image says.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, atomic::AtomicI64},
};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use prometheus_client::metrics::gauge::Gauge;

use super::{
    Partition, ReplicaError,
    cleaning::Cleaning,
    dirs,
    held_open::HeldOpen,
    hosted::{Hosted, Wanted, cause},
    metrics,
    moves::Moves,
};
use crate::{
    base::{LeaderEpoch, TopicId, TopicName, TopicPartition},
    config::{Config, TopicConfig, TopicConfigs},
    log::{LogDir, OpenFiles},
    metadata::{MetadataImage, TopicImage},
    telemetry::Metrics,
};

/// Each request looks its partitions up: by a hash, which costs the same with ten thousand of them.
pub(super) type Partitions = HashMap<TopicPartition, Arc<Hosted>>;

/// Opens, finds and deletes the partitions of this node as the metadata image says.
pub struct ReplicaManager {
    /// As of this node's file.
    pub(super) config: Arc<Config>,
    /// As the applied image has altered it.
    pub(super) altered: ArcSwap<Config>,
    pub(super) dirs: Vec<Arc<LogDir>>,
    partitions: ArcSwap<Partitions>,
    /// Those of this node whose log could not be opened.
    offline: ArcSwap<BTreeSet<TopicPartition>>,
    /// The image that was applied last.
    image: ArcSwap<MetadataImage>,
    /// Held by whoever changes the set of partitions.
    changing: Mutex<()>,
    count: Gauge<i64, AtomicI64>,
    pub(super) held_open: HeldOpen,
    pub(super) cleaning: Cleaning,
    pub(super) moves: Moves,
}

impl ReplicaManager {
    /// Locks the log directories. Logs are opened by the first [`ReplicaManager::apply`].
    ///
    /// # Errors
    ///
    /// [`crate::log::LogError::DirectoryRefused`] for a directory that is in use or another node's, and any failure of the first.
    pub fn start(config: &Arc<Config>, registry: &Metrics) -> Result<Arc<Self>, ReplicaError> {
        Ok(Self::over(dirs::open(config)?, config, registry))
    }

    pub(super) fn over(
        dirs: Vec<Arc<LogDir>>,
        config: &Arc<Config>,
        registry: &Metrics,
    ) -> Arc<Self> {
        let count = Gauge::default();
        registry.register(|it| {
            it.register(
                "klamm_partitions",
                "Partitions with a replica on this node",
                count.clone(),
            );
        });
        let manager = Arc::new(Self {
            config: Arc::clone(config),
            altered: ArcSwap::from(Arc::clone(config)),
            dirs,
            partitions: ArcSwap::default(),
            offline: ArcSwap::default(),
            image: ArcSwap::default(),
            changing: Mutex::new(()),
            count,
            held_open: HeldOpen::default(),
            cleaning: Cleaning::new(&config.log.cleaner, registry),
            moves: Moves::new(config.log.alter_dirs_max_bytes_per_second),
        });
        metrics::register(registry, &manager);
        manager
    }

    /// Makes partitions as `image` says: opens and creates logs, deletes those of removed topics, takes over changed
    /// configs. Called for each new image, one at a time, off the runtime's workers.
    ///
    /// The first image after a start must be a whole one: a topic in it whose id differs from that of the folder
    /// found is taken for a new one.
    pub fn apply(&self, image: &Arc<MetadataImage>) {
        let _changing = self.changing.lock();
        let hosted = self.partitions.load_full();
        self.alter(image);
        let (known, new) = self.wanted(image, &hosted);
        let mut kept = Partitions::new();
        let config = self.altered.load_full();
        for wanted in known {
            if let Some(it) = hosted.get(&wanted.topic_partition) {
                it.update(&wanted, &config.log);
                kept.insert(wanted.topic_partition, Arc::clone(it));
            }
        }
        let gone: Vec<_> = hosted.iter().filter(|(key, _)| !kept.contains_key(key)).collect();
        // First out of sight, then deleted; only then may a topic of the same name be made.
        self.publish(kept.clone());
        if !gone.is_empty() {
            // Also after a crash, a topic that gets the name of one that is gone must not be taken for it.
            self.store_checkpoints();
        }
        for (key, _) in &gone {
            self.cancel_move(key);
        }
        self.each_in_its_dir(&gone, |(_, it)| it.dir(), |(_, it)| it.delete());
        let is_first = self.image.load().version == 0;
        if is_first {
            self.put_strays_aside(image);
        }
        let told = self.offline.load_full();
        let looks_for_moves = is_first || !told.is_empty();
        let mut offline: BTreeSet<_> = new.iter().map(|it| it.topic_partition.clone()).collect();
        if !new.is_empty() {
            let opened = self.open_all(new, &kept, &told);
            kept.extend(opened);
            offline.retain(|it| !kept.contains_key(it));
            self.publish(kept);
        }
        for dir in &self.dirs {
            dir.forget_all_but(|it| offline.contains(it));
        }
        if is_first {
            self.store_checkpoints();
        }
        self.offline.store(Arc::new(offline));
        self.image.store(Arc::clone(image));
        if looks_for_moves {
            self.resume_moves();
        }
    }

    /// Whether some log could not be opened. Applying the image again tries again.
    pub fn has_offline(&self) -> bool {
        !self.offline.load().is_empty()
    }

    /// The partition, if this node leads it and the caller's epoch (if any) is the current one.
    pub fn leader(
        &self,
        topic_partition: &TopicPartition,
        current_leader_epoch: Option<LeaderEpoch>,
    ) -> Result<Arc<Partition>, ReplicaError> {
        let partition = self.find(topic_partition).ok_or_else(|| self.absent(topic_partition))?;
        if !partition.log().is_online() {
            return Err(ReplicaError::Offline);
        }
        if !partition.is_leader() {
            return Err(ReplicaError::NotLeader);
        }
        match current_leader_epoch.map(|it| it.cmp(&partition.leader_epoch())) {
            None | Some(std::cmp::Ordering::Equal) => Ok(partition),
            Some(std::cmp::Ordering::Less) => Err(ReplicaError::FencedLeaderEpoch),
            Some(std::cmp::Ordering::Greater) => Err(ReplicaError::UnknownLeaderEpoch),
        }
    }

    /// Whether a name still means this topic.
    pub fn topic_id(&self, topic_partition: &TopicPartition) -> Option<TopicId> {
        self.find(topic_partition).map(|it| it.topic_id)
    }

    /// Partitions that a topic has in the image that was applied last, wherever they are; 0 for one that does not exist.
    pub fn partition_count(&self, topic: &TopicName) -> u32 {
        self.image.load().topic(topic.as_str()).map_or(0, |it| it.partitions.len() as u32)
    }

    /// Every partition of this node, sorted.
    pub fn partitions(&self) -> Vec<Arc<Partition>> {
        let hosted = self.partitions.load();
        let mut all: Vec<_> = hosted.values().map(|it| Arc::clone(&it.partition)).collect();
        all.sort_unstable_by(|a, b| a.topic_partition.cmp(&b.topic_partition));
        all
    }

    /// Topics of the image that was applied last.
    pub(super) fn topics(&self) -> usize {
        self.image.load().topics.len()
    }

    /// Partitions of this node that it cannot serve: their log could not be opened, or its directory has failed since.
    pub(super) fn offline(&self) -> usize {
        let failed = self.hosted().values().filter(|it| !it.partition.log().is_online()).count();
        self.offline.load().len() + failed
    }

    /// The log directories, and whether each is online.
    pub(super) fn dirs(&self) -> impl Iterator<Item = (String, bool)> {
        self.dirs.iter().map(|it| (it.path.display().to_string(), it.health.is_online()))
    }

    /// Applies retention to every log, and closes files that nobody uses; called now and then. Topics are made and deleted
    /// meanwhile: it waits for fsyncs.
    pub fn retain(&self) {
        for it in self.hosted().values().filter(|it| it.dir().health.is_online()) {
            it.retain();
        }
        OpenFiles::of_this_process().close_idle();
        self.checkpoint();
    }

    /// fsyncs the logs that are due by `flush.ms`; called now and then.
    pub fn flush_due(&self) {
        for it in self.partitions.load().values().filter(|it| it.dir().health.is_online()) {
            it.flush_if_due();
        }
    }

    /// Writes down where logs begin, and where recovery does after a crash; called now and then.
    pub fn checkpoint(&self) {
        let _changing = self.changing.lock();
        self.store_checkpoints();
    }

    /// fsyncs and closes every log, and leaves the clean-shutdown marker.
    pub fn close(&self) {
        let _changing = self.changing.lock();
        let hosted = self.partitions.load_full();
        let hosted: Vec<_> = hosted.values().collect();
        let closed = Mutex::new(HashMap::<_, bool>::new());
        self.each_in_its_dir(
            &hosted,
            |it| it.dir(),
            |it| {
                it.partition.stop();
                let is_closed = it.close();
                *closed.lock().entry(it.dir().path.clone()).or_insert(true) &= is_closed;
            },
        );
        self.store_checkpoints();
        let closed = closed.into_inner();
        for dir in self.online_dirs().filter(|it| closed.get(&it.path) != Some(&false)) {
            if self.holds_unopened(dir) {
                continue;
            }
            if let Err(error) = dir.mark_clean() {
                let cause = cause(&error);
                tracing::error!(dir = %dir.path.display(), %error, cause, "the next start checks every log");
            }
        }
    }

    /// A log that could not be opened was not checked either: the next start must not believe it.
    fn holds_unopened(&self, dir: &LogDir) -> bool {
        let offline = self.offline.load();
        let is_offline = |it: &TopicPartition| offline.contains(it);
        // What cannot be listed holds what is offline, perhaps.
        !offline.is_empty() && dir.partitions().map_or(true, |it| it.iter().any(is_offline))
    }

    fn put_strays_aside(&self, image: &MetadataImage) {
        let is_wanted = |partition: &TopicPartition, topic_id| {
            image.topic(partition.topic.as_str()).is_some_and(|it| it.id == topic_id)
        };
        for dir in self.online_dirs() {
            if let Err(error) = dir.put_strays_aside(is_wanted) {
                let cause = cause(&error);
                tracing::warn!(dir = %dir.path.display(), %error, cause, "could not look for records of deleted topics");
            }
        }
    }

    pub(super) fn find(&self, topic_partition: &TopicPartition) -> Option<Arc<Partition>> {
        self.partitions.load().get(topic_partition).map(|it| Arc::clone(&it.partition))
    }

    fn absent(&self, topic_partition: &TopicPartition) -> ReplicaError {
        if self.could_not_open(topic_partition) {
            ReplicaError::Offline
        } else {
            ReplicaError::UnknownTopicOrPartition
        }
    }

    pub(super) fn could_not_open(&self, topic_partition: &TopicPartition) -> bool {
        self.offline.load().contains(topic_partition)
    }

    /// Whether the image before the one that is being applied had this partition; unknown of a node's first.
    pub(super) fn is_new(&self, wanted: &Wanted) -> bool {
        let before = self.image.load();
        let partition = &wanted.topic_partition;
        let topic = before.topic(partition.topic.as_str()).filter(|it| it.id == wanted.topic_id);
        let had = topic.map_or(0, |it| it.partitions.len());
        before.version > 0 && usize::try_from(partition.partition).is_ok_and(|it| it >= had)
    }

    fn publish(&self, partitions: Partitions) {
        self.count.set(partitions.len() as i64);
        self.partitions.store(Arc::new(partitions));
    }

    /// This node's settings, as the applied image has altered them.
    pub fn settings(&self) -> Arc<Config> {
        self.altered.load_full()
    }

    /// Takes over what an image alters of this node's settings.
    fn alter(&self, image: &MetadataImage) {
        if self.is_altered_by(image) {
            let alterations = image.alterations(self.config.node.id);
            let altered = self.config.altered(alterations);
            self.cleaning.alter(&altered.log.cleaner);
            self.moves.alter(altered.log.alter_dirs_max_bytes_per_second);
            self.altered.store(Arc::new(altered));
        }
    }

    fn is_altered_by(&self, image: &MetadataImage) -> bool {
        let applied = self.image.load();
        applied.alterations(self.config.node.id) != image.alterations(self.config.node.id)
    }

    /// What an image gives this node: partitions it has already, and new ones.
    fn wanted(&self, image: &MetadataImage, hosted: &Partitions) -> (Vec<Wanted>, Vec<Wanted>) {
        let is_altered = self.is_altered_by(image);
        let mut wanted = Vec::new();
        for topic in image.topics.values() {
            let own = image.topic_configs(&topic.name).cloned();
            let mut config = None;
            for (index, partition) in (0..).zip(&topic.partitions) {
                if partition.replicas.contains(&self.config.node.id) {
                    let key = TopicPartition { topic: topic.name.clone(), partition: index };
                    let known = hosted
                        .get(&key)
                        .filter(|_| !is_altered)
                        .and_then(|it| it.config_if_from(own.as_ref()));
                    let config = config.get_or_insert_with(|| {
                        known.unwrap_or_else(|| self.resolve(topic, own.as_ref()))
                    });
                    wanted.push(Wanted::new(
                        key,
                        topic,
                        partition,
                        own.clone(),
                        Arc::clone(config),
                    ));
                }
            }
        }
        let is_hosted = |it: &Wanted| {
            hosted.get(&it.topic_partition).is_some_and(|at| at.partition.topic_id == it.topic_id)
        };
        wanted.into_iter().partition(is_hosted)
    }

    fn resolve(&self, topic: &TopicImage, own: Option<&Arc<TopicConfigs>>) -> Arc<TopicConfig> {
        let none = TopicConfigs::new();
        let own = own.map_or(&none, |it| it.as_ref());
        Arc::new(TopicConfig::resolve(&self.altered.load(), &topic.name, own))
    }

    /// Every partition of this node.
    pub(super) fn hosted(&self) -> Arc<Partitions> {
        self.partitions.load_full()
    }

    /// Writes down where logs begin, up to where they are clean, and up to where they are on disk.
    pub(super) fn store_checkpoints(&self) {
        self.store_cleaner_points();
        for dir in self.online_dirs() {
            self.store_log_starts(dir);
            let points = || {
                let hosted = self.hosted();
                let here = hosted.iter().filter(|(_, it)| it.lies_in(dir));
                let point = |it: &Hosted| Some(it.partition.log().recovery_point());
                here.map(|(key, it)| (key.clone(), point(it))).collect()
            };
            if let Err(error) = dir.store_recovery_points(points) {
                let cause = cause(&error);
                tracing::warn!(dir = %dir.path.display(), %error, cause, "recovery will have to check more");
            }
        }
    }
}
