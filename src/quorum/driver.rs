//! A member of the quorum: starts it, and commits one change after another.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use openraft::{
    SnapshotPolicy,
    async_runtime::WatchReceiver as _,
    errors::{ClientWriteError, Fatal, RaftError},
    impls::BasicNode,
};
use tokio::{
    sync::{Mutex, watch},
    time::{Instant, timeout},
};

use super::{
    QuorumError, cluster_id,
    consensus::{Change, Consensus},
    files::Files,
    log_store::{LOST, LogStore, damaged},
    network::SingleVoter,
    state_machine::StateMachine,
};
use crate::{
    base::BrokerId,
    machine::Decision,
    metadata::{MetadataImage, MetadataRecord},
};

type Raft = openraft::Raft<Consensus, StateMachine>;

/// How long the start waits for a leader, and a change for one that is being elected.
const LEADER_TIMEOUT: Duration = Duration::from_secs(10);

/// A new leader refuses writes for some tens of milliseconds, until a quorum has answered it.
const RETRY_PAUSE: Duration = Duration::from_millis(2);

/// Entries after which the state is snapshotted and the log cut.
const SNAPSHOT_ENTRIES: u64 = 1_000;

/// A member of the metadata quorum.
pub struct Quorum {
    raft: Raft,
    id: u64,
    log: LogStore,
    log_path: PathBuf,
    image: watch::Receiver<Arc<MetadataImage>>,
    /// Held from a decision until it is in the image: the next one decides on that.
    turn: Arc<Mutex<()>>,
    /// Keeps a second process away from the files.
    _lock: std::fs::File,
}

/// What the files say, read off the runtime's workers.
struct Opened {
    log: LogStore,
    machine: StateMachine,
    lock: std::fs::File,
    log_path: PathBuf,
}

impl Quorum {
    /// Opens the log under `dir` (`__cluster_metadata-0`), replays it, and leads when this node is the only voter. The
    /// first start gives the cluster its id.
    ///
    /// # Errors
    ///
    /// [`QuorumError::Storage`] when the files cannot be read or belong to another node or process;
    /// [`QuorumError::NotController`] when no leader was found in time.
    pub async fn start(dir: PathBuf, node_id: BrokerId) -> Result<Arc<Self>, QuorumError> {
        let id = u64::try_from(node_id.0)
            .map_err(|_| QuorumError::Storage(format!("node.id {} is negative", node_id.0)))?;
        let (published, image) = watch::channel(Arc::default());
        let opened = tokio::task::spawn_blocking(move || open(dir, published))
            .await
            .map_err(|_| QuorumError::Stopped)??;
        let config = Arc::new(raft_config());
        let log = opened.log;
        let raft = Raft::new(id, config, SingleVoter, log.clone(), opened.machine).await?;
        let quorum = Self {
            raft,
            id,
            log,
            log_path: opened.log_path,
            image,
            turn: Arc::default(),
            _lock: opened.lock,
        };
        quorum.lead().await?;
        quorum.name_cluster().await?;
        Ok(Arc::new(quorum))
    }

    /// Whether a member was in the folder before. Makes nothing.
    pub fn is_there(dir: &Path) -> bool {
        Files::of(dir.to_owned()).any()
    }

    fn why_no_voter(&self) -> String {
        let voters: Vec<_> = self.raft.voter_ids().collect();
        match voters.as_slice() {
            [] => damaged(&self.log_path, &LOST).to_string(),
            voters => {
                format!("the metadata log belongs to node {voters:?}, this is node {}", self.id)
            }
        }
    }

    /// Forms the quorum at the first start, and gets this voter elected.
    async fn lead(&self) -> Result<(), QuorumError> {
        if !self.raft.is_initialized().await? {
            let voters = BTreeMap::from([(self.id, BasicNode { addr: String::new() })]);
            self.raft.initialize(voters).await.map_err(|it| storage(&it))?;
        } else if !self.raft.voter_ids().any(|it| it == self.id) {
            return Err(QuorumError::Storage(self.why_no_voter()));
        } else if !self.raft.is_leader() {
            // Nobody else can lead: no need to wait for the election timeout.
            self.raft.trigger().elect(false).await?;
        }
        let is_leader = |metrics: &openraft::RaftMetrics<_>| metrics.state.is_leader();
        let wait = self.raft.wait(Some(LEADER_TIMEOUT));
        wait.metrics(is_leader, "lead").await.map_err(|_| self.why_no_leader())?;
        let recovered = self.raft.wait_for_recovery(Some(LEADER_TIMEOUT)).await;
        recovered.map(drop).map_err(|_| self.why_no_leader())
    }

    /// A member that has died will never lead.
    fn why_no_leader(&self) -> QuorumError {
        let running = self.raft.metrics().borrow_watched().running_state.clone();
        running.err().map_or(QuorumError::NotController, QuorumError::from)
    }

    /// Waits until this member has died: by a failed write of its files, most often, or because it was shut down. It takes no
    /// more changes then.
    pub async fn died(&self) -> QuorumError {
        let mut metrics = self.raft.metrics();
        loop {
            if let Err(fatal) = metrics.borrow_watched().running_state.clone() {
                return fatal.into();
            }
            if metrics.changed().await.is_err() {
                return QuorumError::Stopped;
            }
        }
    }

    async fn name_cluster(&self) -> Result<(), QuorumError> {
        let cluster_id = cluster_id::random();
        let named = self.change(|image| {
            let is_new = image.cluster_id.is_empty();
            let record = is_new.then_some(MetadataRecord::Cluster { cluster_id });
            Ok::<_, std::convert::Infallible>(Decision::new(record.into_iter().collect(), ()))
        });
        named.await.map(drop)
    }

    /// The newest committed image.
    pub fn image(&self) -> Arc<MetadataImage> {
        self.image.borrow().clone()
    }

    /// Raft's term, which Kafka calls the leader's epoch.
    pub fn leader_epoch(&self) -> i32 {
        self.raft.metrics().borrow_watched().current_term as i32
    }

    /// Tells of each new image.
    pub fn watch(&self) -> watch::Receiver<Arc<MetadataImage>> {
        self.image.clone()
    }

    /// Decides against the newest image and commits what was decided, one change at a time. Returns the decision's
    /// response once its records are committed and in the image, or the decision's own refusal.
    ///
    /// A caller that goes away, or waits for longer than [`LEADER_TIMEOUT`] because the disk is slow, leaves a change that is
    /// under way to be finished: the next decision must see it.
    ///
    /// # Errors
    ///
    /// [`QuorumError::NotController`]: ask the leader, or again. The others: this member has stopped for good.
    pub async fn change<T, E>(
        &self,
        decide: impl FnOnce(&MetadataImage) -> Result<Decision<MetadataRecord, T>, E> + Send,
    ) -> Result<Result<T, E>, QuorumError>
    where
        T: Send,
        E: Send,
    {
        let too_long = |_| QuorumError::NotController;
        let turn = timeout(LEADER_TIMEOUT, Arc::clone(&self.turn).lock_owned());
        let turn = turn.await.map_err(too_long)?;
        let Decision { records, response } = match decide(&self.image()) {
            Ok(decision) => decision,
            Err(refusal) => return Ok(Err(refusal)),
        };
        if records.is_empty() {
            return Ok(Ok(response));
        }
        let raft = self.raft.clone();
        let id = self.id;
        let proposal = tokio::spawn(async move {
            let result = commit(&raft, id, Change(records)).await;
            drop(turn);
            result
        });
        let committed = timeout(LEADER_TIMEOUT, proposal).await.map_err(too_long)?;
        committed.map_err(|_| QuorumError::Stopped)??;
        Ok(Ok(response))
    }

    /// Stops the member. What was answered is on disk already; where the log ends is too, afterwards.
    ///
    /// # Errors
    ///
    /// [`QuorumError::Stopped`] when it had died before.
    pub async fn shutdown(&self) -> Result<(), QuorumError> {
        // A change under way is finished first.
        let _turn = self.turn.lock().await;
        let has_died = self.raft.metrics().borrow_watched().running_state.is_err();
        self.raft.shutdown().await.map_err(|_| QuorumError::Stopped)?;
        if !has_died {
            self.end_log().await;
        }
        Ok(())
    }

    /// Not to be able to say that the log is whole is no reason to call a stop unclean: what was answered is in it.
    async fn end_log(&self) {
        if let Err(error) = self.log.end().await {
            tracing::warn!(%error, "the next start cannot tell whether the metadata log is whole");
        }
    }
}

fn open(dir: PathBuf, published: watch::Sender<Arc<MetadataImage>>) -> io::Result<Opened> {
    let files = Files::open(dir)?;
    let lock = files.lock()?;
    let log = LogStore::open(&files)?;
    let machine = StateMachine::open(&files, published)?;
    if log.purged() > machine.applied() {
        let reason = "it is missing or older than quorum.log, which holds only what came after it";
        return Err(damaged(&files.snapshot(), &reason));
    }
    Ok(Opened { log, machine, lock, log_path: files.log() })
}

/// Timeouts are those of a quorum on one machine or rack; a single voter meets none of them.
fn raft_config() -> openraft::Config {
    openraft::Config {
        cluster_name: "klamm".into(),
        heartbeat_interval: 250,
        election_timeout_min: 500,
        election_timeout_max: 900,
        snapshot_policy: SnapshotPolicy::LogsSinceLast(SNAPSHOT_ENTRIES),
        max_in_snapshot_log_to_keep: 0,
        enable_pre_vote: Some(true),
        ..openraft::Config::default()
    }
}

/// Proposes an entry and returns once it is applied here, or refused without being logged.
async fn commit(raft: &Raft, id: u64, change: Change) -> Result<(), QuorumError> {
    let deadline = Instant::now() + LEADER_TIMEOUT;
    loop {
        match raft.client_write(change.clone()).await {
            Ok(_) => return Ok(()),
            Err(RaftError::Fatal(fatal)) => return Err(fatal.into()),
            Err(RaftError::APIError(ClientWriteError::ForwardToLeader(forward)))
                if forward.leader_id.is_none_or(|it| it == id) && Instant::now() < deadline =>
            {
                tokio::time::sleep(RETRY_PAUSE).await;
            }
            Err(RaftError::APIError(_)) => return Err(QuorumError::NotController),
        }
    }
}

fn storage(error: &dyn std::fmt::Display) -> QuorumError {
    QuorumError::Storage(error.to_string())
}

impl From<io::Error> for QuorumError {
    fn from(error: io::Error) -> Self {
        storage(&error)
    }
}

impl From<Fatal<super::consensus::Consensus>> for QuorumError {
    fn from(fatal: Fatal<super::consensus::Consensus>) -> Self {
        match fatal {
            Fatal::StorageError(error) => storage(&error),
            Fatal::Panicked | Fatal::Stopped => Self::Stopped,
        }
    }
}
