//! The shards that this node leads, each a task with its channel.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use prometheus_client::metrics::gauge::Gauge;
use tokio::{sync::mpsc, task::JoinHandle};

use super::{
    assign::AssignorDesk, driver::GroupDriver, event::GroupEvent, offsets_topic::existing, watch,
};
use crate::{
    base::{GroupId, TopicId, TopicPartition},
    config::Config,
    controller::OFFSETS_TOPIC,
    coordinator::{
        clock::Clock,
        runtime::{self, Seat},
    },
    group::{GroupError, Shard, partition_for},
    metadata::{MetadataImage, TopicImage},
    plugin::PluginHost,
    quorum::Quorum,
    replica::ReplicaManager,
    telemetry::Metrics,
};

/// Events that may wait at a shard. Whoever sends more waits as well.
const EVENTS_MAX: usize = 1_024;

/// Coordinates the groups whose partition of `__consumer_offsets` this node leads.
pub struct GroupCoordinator {
    pub(super) desk: AssignorDesk,
    clock: Clock,
    shards: Mutex<Shards>,
    watcher: Mutex<Option<JoinHandle<()>>>,
    partitions: Gauge,
}

#[derive(Default)]
struct Shards {
    /// Which `__consumer_offsets`: a topic made again has other logs.
    topic_id: Option<TopicId>,
    open: BTreeMap<i32, OpenShard>,
    stopped: bool,
}

struct OpenShard {
    events: mpsc::Sender<GroupEvent>,
    task: JoinHandle<()>,
}

impl GroupCoordinator {
    /// Opens the shards that the newest image gives this node, and follows the image and the plugins from then on.
    pub fn start(
        config: Arc<Config>,
        quorum: Arc<Quorum>,
        replicas: Arc<ReplicaManager>,
        plugins: Arc<PluginHost>,
        metrics: &Metrics,
    ) -> Arc<Self> {
        let partitions = Gauge::default();
        metrics.register(|it| {
            let help = "Partitions of __consumer_offsets that this node coordinates";
            it.register("klamm_group_coordinator_partitions", help, partitions.clone());
        });
        let coordinator = Arc::new(Self {
            desk: AssignorDesk::new(config, quorum, replicas, plugins),
            clock: Clock::start(),
            shards: Mutex::default(),
            watcher: Mutex::default(),
            partitions,
        });
        let watcher = tokio::spawn(watch::run(&coordinator));
        *coordinator.watcher.lock() = Some(watcher);
        coordinator.reconcile(&coordinator.desk.quorum.image());
        coordinator
    }

    /// Gives up every shard, answering what is decided already. Groups go on where they were at the next start.
    pub async fn shutdown(&self) {
        if let Some(watcher) = self.watcher.lock().take() {
            watcher.abort();
        }
        let open = {
            let mut shards = self.shards.lock();
            shards.stopped = true;
            std::mem::take(&mut shards.open)
        };
        let tasks: Vec<JoinHandle<()>> = open.into_values().map(|it| it.task).collect();
        for task in tasks {
            if let Err(error) = task.await {
                tracing::error!(%error, "a group coordinator's shard has ended");
            }
        }
    }

    /// Opens and closes shards as `image` says.
    pub(super) fn reconcile(&self, image: &MetadataImage) {
        let mut shards = self.shards.lock();
        if shards.stopped {
            return;
        }
        let topic = existing(image);
        let topic_id = topic.as_ref().map(|it| it.id);
        if shards.topic_id != topic_id {
            // Dropping a channel ends its task.
            shards.open.clear();
            shards.topic_id = topic_id;
        }
        let led = topic.map(|it| self.led(&it)).unwrap_or_default();
        // One whose task is gone panicked: its machine is unloaded, and loaded again below.
        shards.open.retain(|index, it| led.contains(index) && !it.events.is_closed());
        for index in led {
            shards.open.entry(index).or_insert_with(|| self.open(index));
        }
        self.partitions.set(shards.open.len() as i64);
    }

    fn led(&self, topic: &TopicImage) -> Vec<i32> {
        let me = Some(self.desk.config.node.id);
        (0..).zip(&topic.partitions).filter(|it| it.1.leader == me).map(|it| it.0).collect()
    }

    fn open(&self, index: i32) -> OpenShard {
        let (events, receiver) = mpsc::channel(EVENTS_MAX);
        let desk = self.desk.clone();
        let weak = events.downgrade();
        let config = self.desk.config.clone();
        let seat = Seat {
            topic_partition: TopicPartition::new(OFFSETS_TOPIC, index),
            replicas: self.desk.replicas.clone(),
            clock: self.clock,
            decompressed_max_bytes: config.log.decompressed_max_bytes,
            make: move || {
                let shard = Shard::new(config.group.clone());
                let expiry = config.group.offsets_retention_check_interval_ms;
                GroupDriver::new(shard, desk.clone(), weak.clone(), expiry)
            },
        };
        OpenShard { events, task: tokio::spawn(runtime::run(seat, receiver)) }
    }

    /// The channel of the shard that holds a group.
    ///
    /// # Errors
    ///
    /// [`GroupError::NotCoordinator`]; [`GroupError::CoordinatorNotAvailable`] while there is no `__consumer_offsets`.
    pub(super) fn shard_of(
        &self,
        group_id: &GroupId,
    ) -> Result<mpsc::Sender<GroupEvent>, GroupError> {
        let image = self.desk.quorum.image();
        let topic = existing(&image).ok_or(GroupError::CoordinatorNotAvailable)?;
        let count = topic.partitions.len() as i32;
        if count == 0 {
            return Err(GroupError::CoordinatorNotAvailable);
        }
        let events = {
            let shards = self.shards.lock();
            let shard = shards.open.get(&partition_for(group_id.as_str(), count));
            shard.map(|it| it.events.clone()).ok_or(GroupError::NotCoordinator)?
        };
        if events.is_closed() {
            self.reconcile(&image);
            return Err(GroupError::CoordinatorNotAvailable);
        }
        Ok(events)
    }

    pub(super) fn all_shards(&self) -> Vec<mpsc::Sender<GroupEvent>> {
        self.shards.lock().open.values().map(|it| it.events.clone()).collect()
    }
}
