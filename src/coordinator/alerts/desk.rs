//! Takes notices in order, fills in what a crash or a retry left out, and feeds the machine.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{mpsc, oneshot, watch},
    task::JoinSet,
};
use uuid::Uuid;

use super::{
    AlertRooms,
    driver::{AlertDriver, AlertEvent, Link},
    evaluate::Evaluation,
    metrics::AlertMetrics,
    progress::ProgressKeeper,
};
use crate::{
    alert::{Evaluated, Progress, Watched},
    base::{Offset, PluginName, TopicId, TopicName, TopicPartition},
    config::TransformsMode,
    controller::{ALERTS_TOPIC, alerts_topic},
    coordinator::{
        Notice,
        clock::Clock,
        internal_topic,
        runtime::{self, Seat},
    },
    replica::Partition,
};

/// Verdicts that may wait at the machine. Few: there nobody counts their bytes.
const EVENTS_MAX: usize = 16;
/// How often it is looked whether the machine was loaded again, and between attempts.
const LOOK: Duration = Duration::from_millis(500);

/// The one place that all verdicts pass.
pub(super) struct Desk {
    rooms: AlertRooms,
    link: Link,
    /// The machine's channel, once there is a topic for it.
    machine: Option<mpsc::Sender<AlertEvent>>,
    /// Loads of the machine that this desk has taken note of.
    loads: u64,
    /// Where the evaluation of each source stands.
    through: HashMap<Watched, Offset>,
    keeper: Arc<ProgressKeeper>,
    /// The machine, and the keeper of progress; they end with the desk.
    tasks: JoinSet<()>,
}

impl Desk {
    pub(super) fn new(rooms: AlertRooms) -> Self {
        let (progress, newest) = watch::channel(Progress::new());
        let link = Link {
            metrics: AlertMetrics::register(&rooms.metrics),
            plugins: rooms.plugins.clone(),
            loads: Arc::new(AtomicU64::new(0)),
            progress,
        };
        let mut tasks = JoinSet::new();
        let keeper = ProgressKeeper::new(&rooms);
        tasks.spawn(keeper.clone().run(newest));
        Self { rooms, link, machine: None, loads: 0, through: HashMap::new(), keeper, tasks }
    }

    pub(super) async fn run(mut self, mut notices: mpsc::Receiver<Notice>) {
        if let Err(error) = self.keeper.forget_unwatched(&self.rooms).await {
            tracing::warn!(%error, "forget the progress of transforms that were removed");
        }
        if self.has_alerts() || self.sources().next().is_some() {
            self.start_machine().await;
            self.catch_up().await;
        }
        loop {
            tokio::select! {
                notice = notices.recv() => match notice {
                    Some(Notice::Verdict(verdict, _share)) => self.take(verdict).await,
                    Some(Notice::Begin { watched, from, done }) => self.begin(&watched, from, done).await,
                    Some(Notice::Forget { topic, plugin, done }) => {
                        self.forget(topic, plugin, done).await;
                    }
                    None => return,
                },
                () = tokio::time::sleep(LOOK) => self.note_reload().await,
            }
        }
    }

    fn has_alerts(&self) -> bool {
        self.rooms.quorum.image().topic(ALERTS_TOPIC).is_some()
    }

    /// Every partition here whose records a transform sees before they are stored.
    fn sources(&self) -> impl Iterator<Item = (Arc<Partition>, Watched)> + use<> {
        self.rooms.replicas.partitions().into_iter().flat_map(|partition| {
            let config = partition.config();
            let is_inline = config.transforms_mode == TransformsMode::Inline;
            let plugins = config.transforms.iter().filter(|_| is_inline);
            let watched = plugins.map(|plugin| Watched {
                topic_id: partition.topic_id,
                source: partition.topic_partition.clone(),
                plugin: plugin.clone(),
            });
            watched.map(|it| (partition.clone(), it)).collect::<Vec<_>>()
        })
    }

    /// Who waits stores no record before.
    async fn begin(&self, watched: &Watched, from: Offset, done: oneshot::Sender<()>) {
        match self.keeper.begin(watched, from).await {
            // The producer may have gone.
            Ok(()) => drop(done.send(())),
            Err(error) => {
                let (partition, plugin) = (&watched.source, &watched.plugin);
                tracing::warn!(%partition, %plugin, %error, "keep the progress of a transform");
            }
        }
    }

    /// Who waits puts the plugin on the topic then.
    async fn forget(&mut self, topic: TopicName, plugin: PluginName, done: oneshot::Sender<()>) {
        self.through.retain(|it, _| it.source.topic != topic || it.plugin != plugin);
        if let Some(machine) = &self.machine {
            let (forgot, has_forgotten) = oneshot::channel();
            let (topic, plugin) = (topic.clone(), plugin.clone());
            let _ = machine.send(AlertEvent::Forget { topic, plugin, done: forgot }).await;
            // One that is being loaded answers nothing, and knows nothing.
            let _ = has_forgotten.await;
        }
        match self.keeper.forget(&topic, &plugin).await {
            Ok(()) => drop(done.send(())),
            Err(error) => {
                tracing::warn!(%topic, %plugin, %error, "forget the progress of a transform");
            }
        }
    }

    async fn take(&mut self, verdict: Evaluated) {
        if self.machine.is_none() {
            self.start_machine().await;
        }
        self.note_reload().await;
        let (watched, to) = (verdict.watched.clone(), verdict.to);
        // A source that is new here begins with this verdict; so does one whose topic did without the transform for a while.
        let through = self.through.get(&watched).copied().unwrap_or(verdict.from).max(verdict.from);
        if to <= through && to > verdict.from {
            return;
        }
        match verdict.matches {
            Some(_) => self.send(verdict).await,
            None => self.evaluate(&watched, through, to).await,
        }
        self.through.insert(watched, to);
    }

    async fn send(&self, evaluated: Evaluated) {
        if let Some(machine) = &self.machine {
            // It ends only when the node stops, and then the progress says what was not counted.
            let _ = machine.send(AlertEvent::Verdict { evaluated, load: self.loads }).await;
        }
    }

    /// Makes the topic if there is none, and waits until the machine has loaded.
    async fn start_machine(&mut self) {
        while !self.has_topic().await {
            tokio::time::sleep(LOOK).await;
        }
        let (events, receiver) = mpsc::channel(EVENTS_MAX);
        let link = self.link.clone();
        let seat = Seat {
            topic_partition: TopicPartition::new(ALERTS_TOPIC, 0),
            replicas: self.rooms.replicas.clone(),
            clock: Clock::start(),
            decompressed_max_bytes: self.rooms.config.log.decompressed_max_bytes,
            make: move || AlertDriver::new(link.clone()),
        };
        self.tasks.spawn(runtime::run(seat, receiver));
        self.machine = Some(events);
        while self.link.loads.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        self.loads = self.link.loads.load(Ordering::SeqCst);
    }

    async fn has_topic(&self) -> bool {
        let new = alerts_topic(TopicId(Uuid::new_v4()));
        let made = internal_topic::ensure(&self.rooms.quorum, &self.rooms.config, new).await;
        made.inspect_err(|error| tracing::warn!(%error, "alerts wait for their topic")).is_ok()
    }

    /// After the machine was loaded again, what it had not logged is evaluated once more.
    async fn note_reload(&mut self) {
        if self.machine.is_some() && !self.has_alerts() {
            // Somebody has deleted it. The machine loads again, from a new one.
            self.has_topic().await;
        }
        let loads = self.link.loads.load(Ordering::SeqCst);
        if self.machine.is_some() && loads != self.loads {
            self.loads = loads;
            self.through.clear();
            self.catch_up().await;
        }
    }

    /// Evaluates from the stored progress of each source to its end.
    async fn catch_up(&mut self) {
        for (partition, watched) in self.sources() {
            self.catch_up_with(&partition, watched).await;
        }
    }

    async fn catch_up_with(&mut self, partition: &Partition, watched: Watched) {
        let end = partition.log().log_end_offset();
        match self.keeper.load(&watched).await {
            Ok(Some(from)) => {
                if from < end {
                    self.evaluate(&watched, from, end).await;
                }
                self.through.insert(watched, end);
            }
            Ok(None) => {}
            Err(error) => {
                let (partition, plugin) = (&watched.source, &watched.plugin);
                tracing::error!(%partition, %plugin, %error, "read the progress of a transform");
            }
        }
    }

    async fn evaluate(&self, watched: &Watched, from: Offset, to: Offset) {
        let Ok(partition) = self.rooms.replicas.leader(&watched.source, None) else { return };
        let plugins = self.rooms.plugins.clone();
        let evaluation = Evaluation {
            partition: &partition,
            plugins: &plugins,
            watched,
            decompressed_max_bytes: self.rooms.config.log.decompressed_max_bytes,
        };
        let mut from = from;
        loop {
            match evaluation.next(from, to).await {
                Ok(Some((verdicts, end))) => {
                    for verdict in verdicts {
                        self.send(verdict).await;
                    }
                    from = end;
                }
                Ok(None) => return,
                Err(error) => {
                    let (partition, plugin) = (&watched.source, &watched.plugin);
                    tracing::error!(%partition, %plugin, %error, "evaluate stored records");
                    return;
                }
            }
        }
    }
}
