//! One node: its rooms, started in order and stopped in the opposite one.

use std::{sync::Arc, time::Duration};

use anyhow::Context as _;
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::{
    cleaners,
    foundation::Foundation,
    listeners, metadata_log, open_files, plugin_uses,
    publish::{self, Publisher},
};
use crate::{
    api::{Published, Rooms, Telemetry, Throttling, fetch::FetchSessions},
    config::Config,
    controller::{self, Registration},
    coordinator::{AlertCoordinator, AlertIntake},
    delivery::{self, DeliveryRooms},
    http,
    net::{BoundListener, ConnectionQuotas, Server},
    plugin::{Folders, PluginHost, SHIPPED},
    quorum::{ProducerIds, Quorum},
    replica::ReplicaManager,
    telemetry::Metrics,
};

/// Folder of the plugins' compile cache, in the first log directory.
const PLUGIN_CACHE: &str = "plugin-cache";

/// Folder of the versions of plugins that a rollback needs, beside it.
const PLUGIN_VERSIONS: &str = "plugin-versions";

/// To check large disks after a power cut takes hours. Whoever does not want to wait sends a signal.
const LOGS_OPEN_WITHIN: Duration = Duration::from_hours(24);

/// A running node.
pub(super) struct Node {
    rooms: Arc<Rooms>,
    connections: Arc<ConnectionQuotas>,
    alerts: AlertCoordinator,
    addresses: Vec<String>,
    /// What HTTP shows, while the node serves.
    shown: watch::Sender<Option<Arc<Rooms>>>,
    /// Stops listeners and HTTP.
    stop_edge: CancellationToken,
    edge: Vec<JoinHandle<()>>,
    /// Stops what works in the background.
    stop_rooms: CancellationToken,
    background: Vec<JoinHandle<()>>,
}

/// What is bound before anything is read, so that a taken port is told at once.
struct Sockets {
    listeners: Vec<BoundListener>,
    http: TcpListener,
}

impl Node {
    /// Starts all rooms; when it returns the node serves. `connections_max`: as many as the system has room for.
    pub(super) async fn start(config: Config, connections_max: usize) -> anyhow::Result<Self> {
        metadata_log::refuse_if_lost(&config)?;
        let config = Arc::new(config);
        let metrics = Arc::new(Metrics::default());
        publish::register_process_metrics(&metrics, config.node.id.0);
        open_files::register(&metrics);
        // Locks the log directories before the metadata log in the first of them is touched.
        let replicas = ReplicaManager::start(&config, &metrics)?;
        let sockets = Sockets::bind(&config).await?;
        let addresses = sockets.addresses(&config)?;
        let Sockets { listeners, http } = sockets;
        let (stop_edge, stop_rooms) = (CancellationToken::new(), CancellationToken::new());
        // Whoever watches over this node is told that it lives and is not ready.
        let (shown, is_shown) = watch::channel(None);
        let edge = vec![tokio::spawn(http::serve(http, is_shown, stop_edge.clone()))];
        let quorum = metadata_log::start(&config).await?;
        replicas.claim(&quorum.image().cluster_id)?;
        register(&config, &quorum, &listeners).await?;
        let plugins = start_plugins(&config, &quorum, &metrics).await?;

        let base = Foundation { config, metrics, replicas, quorum, plugins };
        let (intake, matches) = AlertIntake::new();
        let produce = base.produce(intake.clone());
        let throttling = Arc::new(Throttling::new(&base.config.quota, &base.metrics));
        let telemetry = Telemetry::new(base.config.telemetry.max_bytes, &base.metrics);
        let connections = ConnectionQuotas::new(&base.config, connections_max);
        let to_rooms = base.publisher(&produce, &throttling, &telemetry, &connections);
        let (publish, published) = start_publishing(&base.quorum, to_rooms, &stop_rooms);
        let is_open = published.reached(base.quorum.image().version, LOGS_OPEN_WITHIN).await;
        anyhow::ensure!(is_open, "opening the logs has ended before its end");
        produce.resume();

        let groups = base.groups();
        let alerts = base.alert_rooms(&groups);
        let deliveries = DeliveryRooms::from(&alerts);
        let alerts = AlertCoordinator::start(alerts, matches);
        let deliver = delivery::run(deliveries, stop_rooms.clone());
        let mut background = vec![publish, tokio::spawn(deliver)];
        background.extend(start_upkeep(&base, &stop_rooms));
        let Foundation { config, metrics, replicas, quorum, plugins } = base;
        let sessions = FetchSessions::new(config.node.max_incremental_fetch_session_cache_slots);
        let rooms = Arc::new(Rooms {
            config,
            metrics,
            producer_ids: ProducerIds::new(quorum.clone()),
            quorum,
            replicas,
            plugins,
            fetch_sessions: Arc::new(sessions),
            produce,
            groups,
            alerts: intake,
            published,
            throttling,
            telemetry,
        });
        let mut node = Self {
            rooms,
            connections,
            alerts,
            addresses,
            shown,
            stop_edge,
            edge,
            stop_rooms,
            background,
        };
        node.open(listeners);
        Ok(node)
    }

    /// Begins to serve clients.
    fn open(&mut self, listeners: Vec<BoundListener>) {
        let server = Server::of(self.rooms.clone(), self.connections.clone());
        for listener in listeners {
            let serve = server.clone().serve(listener, self.stop_edge.clone());
            self.edge.push(tokio::spawn(serve));
        }
        self.shown.send_replace(Some(self.rooms.clone()));
    }

    /// Every address, as the ready line tells them.
    pub(super) fn addresses(&self) -> &[String] {
        &self.addresses
    }

    /// Waits for what ends a node, and tells of it. As in Kafka a failed write of the metadata log does: what the cluster is
    /// cannot be changed any more, and a start reads it anew. So does any other failure of the directory that it lies in.
    pub(super) async fn failed(&self) -> anyhow::Error {
        let failure = tokio::select! {
            error = self.rooms.quorum.died() => anyhow::Error::new(error).context("the metadata log has failed"),
            () = self.rooms.replicas.first_dir_offline() => anyhow::anyhow!("the log directory of the metadata log is offline"),
        };
        self.shown.send_replace(None);
        tracing::error!("this node cannot go on and stops: {failure:#}");
        failure
    }

    /// Finishes running requests, then flushes and closes the logs.
    pub(super) async fn stop(self) -> anyhow::Result<()> {
        self.shown.send_replace(None);
        self.stop_edge.cancel();
        join(self.edge).await;
        self.alerts.shutdown();
        self.rooms.groups.shutdown().await;
        self.stop_rooms.cancel();
        self.rooms.replicas.stop_cleaning();
        self.rooms.replicas.stop_moves();
        join(self.background).await;
        self.rooms.plugins.shutdown().await;
        let replicas = self.rooms.replicas.clone();
        tokio::task::spawn_blocking(move || replicas.close()).await?;
        self.rooms.quorum.shutdown().await.context("stop the metadata quorum")
    }
}

impl Sockets {
    async fn bind(config: &Config) -> anyhow::Result<Self> {
        let http = &config.net.http_listen;
        Ok(Self {
            listeners: listeners::bind(config).await?,
            http: TcpListener::bind(http)
                .await
                .with_context(|| format!("listen on {http}, which is klamm.http.listen"))?,
        })
    }

    fn addresses(&self, config: &Config) -> anyhow::Result<Vec<String>> {
        let mut addresses: Vec<String> = listeners::advertised(config, &self.listeners)
            .iter()
            .zip(&self.listeners)
            .map(|(it, bound)| format!("{}://{}", it.name, bound.address()))
            .collect();
        addresses.push(format!("http://{}", self.http.local_addr()?));
        Ok(addresses)
    }
}

/// Takes each metadata image to the rooms; what comes with the task tells how far they are.
fn start_publishing(
    quorum: &Quorum,
    to_rooms: Publisher,
    stop: &CancellationToken,
) -> (JoinHandle<()>, Published) {
    let (reached, versions) = watch::channel(0);
    let publish = to_rooms.run(quorum.watch(), reached, stop.clone());
    (tokio::spawn(publish), Published::new(versions))
}

/// What goes on in the logs besides requests.
fn start_upkeep(base: &Foundation, stop: &CancellationToken) -> Vec<JoinHandle<()>> {
    let mut upkeep = Vec::from(start_chores(base, stop));
    upkeep.extend(start_cleaners(base, stop));
    upkeep.extend(start_movers(base, stop));
    upkeep
}

/// What is done for all logs now and then.
fn start_chores(base: &Foundation, stop: &CancellationToken) -> [JoinHandle<()>; 3] {
    let log = &base.config.log;
    let start = |name, every_ms, chore: fn(&ReplicaManager)| {
        let (replicas, every) = (base.replicas.clone(), Duration::from_millis(every_ms));
        tokio::spawn(publish::now_and_then(name, replicas, every, chore, stop.clone()))
    };
    [
        start("retention", log.retention_check_interval_ms, ReplicaManager::retain),
        start("flush", log.flush_scheduler_interval_ms, ReplicaManager::flush_due),
        start("checkpoint", log.flush_offset_checkpoint_interval_ms, ReplicaManager::checkpoint),
    ]
}

fn start_cleaners(base: &Foundation, stop: &CancellationToken) -> Vec<JoinHandle<()>> {
    let is_enabled = base.config.log.cleaner.enable;
    if is_enabled { cleaners::start(&base.replicas, stop) } else { Vec::new() }
}

/// A task for each log directory.
fn start_movers(base: &Foundation, stop: &CancellationToken) -> Vec<JoinHandle<()>> {
    let carry_out = || publish::move_replicas(base.replicas.clone(), stop.clone());
    base.config.log.dirs.iter().map(|_| tokio::spawn(carry_out())).collect()
}

async fn register(config: &Config, quorum: &Quorum, bound: &[BoundListener]) -> anyhow::Result<()> {
    let registration = Registration {
        broker_id: config.node.id,
        listeners: listeners::advertised(config, bound),
        rack: config.node.rack.clone(),
    };
    let registered = quorum
        .change(|image| {
            Ok::<_, std::convert::Infallible>(controller::register_broker(image, registration))
        })
        .await
        .context("register this broker")?;
    let epoch = registered.unwrap_or_else(|never| match never {});
    tracing::debug!(epoch, "registered");
    Ok(())
}

async fn start_plugins(
    config: &Config,
    quorum: &Quorum,
    metrics: &Metrics,
) -> anyhow::Result<Arc<PluginHost>> {
    let dir = config.log.dirs.first().context("log.dirs names no folder")?;
    let folders = Folders { cache: dir.join(PLUGIN_CACHE), versions: dir.join(PLUGIN_VERSIONS) };
    let uses = plugin_uses::of(config, &quorum.image());
    Ok(PluginHost::start(&config.plugin, SHIPPED, uses, folders, metrics).await?)
}

async fn join(tasks: Vec<JoinHandle<()>>) {
    for task in tasks {
        if let Err(error) = task.await {
            tracing::error!(%error, "a task has ended");
        }
    }
}
