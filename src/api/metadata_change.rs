//! Changes of metadata as handlers make them: decided by the controller, committed by the quorum, and answered when every
//! room works with the outcome.

use std::{convert::Infallible, time::Duration};

use tokio::sync::MutexGuard;
use uuid::Uuid;

use super::{Published, Rooms, refusal::Refusal};
use crate::{
    base::{ErrorCode, TopicId},
    config::Config,
    controller::{
        ControllerError, CreatedTopic, LoadedPlugins, NewTopic, TopicDefaults, added_transforms,
        create_topics,
    },
    coordinator::AlertIntake,
    machine::Decision,
    metadata::{MetadataImage, MetadataRecord},
    plugin::{HookKind, PluginHost},
    quorum::Quorum,
};

/// What a change needs of the rooms.
pub(super) struct MetadataChange<'a> {
    pub(super) quorum: &'a Quorum,
    pub(super) config: &'a Config,
    pub(super) published: &'a Published,
    pub(super) alerts: &'a AlertIntake,
    /// Decide and refuse as ever, but commit nothing.
    pub(super) validate_only: bool,
    /// How long to wait for the rooms; the change itself is made in any case.
    pub(super) timeout: Duration,
}

/// The coordinator of alerts may have much to evaluate before.
const FORGET_TIMEOUT: Duration = Duration::from_secs(15);

type Results<T> = Vec<Result<T, Refusal>>;

impl<'a> MetadataChange<'a> {
    /// `timeout_ms` as a request has it.
    pub(super) fn new(rooms: &'a Rooms, validate_only: bool, timeout_ms: i32) -> Self {
        Self {
            quorum: &rooms.quorum,
            config: &rooms.config,
            published: &rooms.published,
            alerts: &rooms.alerts,
            validate_only,
            timeout: Duration::from_millis(u64::try_from(timeout_ms).unwrap_or(0)),
        }
    }

    /// The same, which only checks.
    pub(super) fn validating(&self) -> Self {
        Self { validate_only: true, ..*self }
    }

    /// Makes a change that has a result for each of `items` things.
    pub(super) async fn make<T: Send>(
        &self,
        items: usize,
        decide: impl Fn(&MetadataImage) -> Decision<MetadataRecord, Vec<Result<T, ControllerError>>>
        + Send
        + Sync,
    ) -> Results<T> {
        let _alone = match self.begin_transforms(|image| decide(image).records).await {
            Ok(guard) => guard,
            Err(refusal) => return failed(items, &refusal),
        };
        let validate_only = self.validate_only;
        let decide = |image: &MetadataImage| {
            let Decision { records, response } = decide(image);
            let records = if validate_only { Vec::new() } else { records };
            Ok::<_, Infallible>(Decision::new(records, response))
        };
        let results = match self.quorum.change(decide).await {
            Ok(Ok(results)) => results,
            Err(error) => return failed(items, &Refusal::from(error)),
        };
        let is_changed = !self.validate_only && results.iter().any(Result::is_ok);
        let version = self.quorum.image().version;
        if is_changed && !self.published.reached(version, self.timeout).await {
            let late = Refusal::new(
                ErrorCode::RequestTimedOut,
                "The change is committed, and not in effect yet.",
            );
            return results
                .into_iter()
                .map(|it| it.map_err(Refusal::from).and(Err(late.clone())))
                .collect();
        }
        results.into_iter().map(|it| it.map_err(Refusal::from)).collect()
    }

    /// Sees to it that a transform which is about to be put on a topic begins there anew. Such changes are made one by
    /// one, so that none forgets what another has begun.
    async fn begin_transforms(
        &self,
        decide: impl Fn(&MetadataImage) -> Vec<MetadataRecord>,
    ) -> Result<Option<MutexGuard<'a, ()>>, Refusal> {
        let added = || {
            let image = self.quorum.image();
            added_transforms(self.config, &image, &decide(&image))
        };
        if self.validate_only || added().is_empty() {
            return Ok(None);
        }
        let alone = self.alerts.alone().await;
        for (topic, plugin) in added() {
            let forgotten = self.alerts.forget(&topic, &plugin);
            if !matches!(tokio::time::timeout(FORGET_TIMEOUT, forgotten).await, Ok(true)) {
                let text = format!("What {plugin} did on {topic} before cannot be forgotten now.");
                return Err(Refusal::new(ErrorCode::RequestTimedOut, text));
            }
        }
        Ok(Some(alone))
    }

    /// Creates topics; those that were created can be produced to when this returns.
    pub(super) async fn create_topics(
        &self,
        plugins: &LoadedPlugins,
        topics: &[NewTopic],
    ) -> Results<CreatedTopic> {
        let defaults = TopicDefaults {
            partitions: self.config.node.num_partitions,
            replication_factor: self.config.node.default_replication_factor,
        };
        self.make(topics.len(), |image| create_topics(image, defaults, plugins, topics)).await
    }
}

fn failed<T>(items: usize, refusal: &Refusal) -> Results<T> {
    (0..items).map(|_| Err(refusal.clone())).collect()
}

pub(super) fn fresh_topic_id() -> TopicId {
    TopicId(Uuid::new_v4())
}

/// What the controller has to know of this node's plugins.
pub(super) fn loaded_plugins(host: &PluginHost) -> LoadedPlugins {
    let partitioners = host.names(HookKind::Partitioner).into_iter().filter_map(|name| {
        let is_key_pure = host.partitioner(&name)?.is_key_pure();
        Some((name, is_key_pure))
    });
    LoadedPlugins {
        partitioners: partitioners.collect(),
        assignors: host.names(HookKind::Assignor).into_iter().collect(),
        transforms: host.names(HookKind::Transform).into_iter().collect(),
    }
}
