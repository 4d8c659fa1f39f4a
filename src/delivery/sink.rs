//! Where alerts go.

use super::{
    alertmanager::Alertmanager,
    http_post::{HttpPost, PostError},
};
use crate::{
    alert::AlertRecord,
    base::TimestampMs,
    config::{SinkConfig, SinkKind},
};

/// One configured sink.
pub(super) enum Sink {
    Alertmanager(Alertmanager),
    Webhook(HttpPost),
    Log,
}

impl Sink {
    pub(super) fn new(config: &SinkConfig) -> Self {
        match config.kind {
            SinkKind::Alertmanager => Self::Alertmanager(Alertmanager::new(&config.url)),
            SinkKind::Webhook => Self::Webhook(HttpPost::new(config.url.clone())),
            SinkKind::Log => Self::Log,
        }
    }

    /// Takes note of an update that was delivered before a restart.
    pub(super) fn recall(&mut self, update: &AlertRecord) {
        if let Self::Alertmanager(sink) = self {
            sink.recall(update);
        }
    }

    /// Delivers updates, in order. After an error all of them are delivered again.
    pub(super) async fn deliver(
        &mut self,
        updates: &[AlertRecord],
        now: TimestampMs,
    ) -> Result<(), PostError> {
        match self {
            Self::Alertmanager(sink) => sink.deliver(updates, now).await,
            Self::Webhook(post) => post.post(json(updates)).await,
            Self::Log => {
                updates.iter().for_each(log);
                Ok(())
            }
        }
    }

    /// Tells again of what still fires, to a sink that forgets.
    pub(super) async fn remind(&mut self, now: TimestampMs) -> Result<(), PostError> {
        match self {
            Self::Alertmanager(sink) => sink.remind(now).await,
            Self::Webhook(_) | Self::Log => Ok(()),
        }
    }
}

pub(super) fn json(value: &(impl serde::Serialize + ?Sized)) -> Vec<u8> {
    serde_json::to_vec(value).expect("alerts are plain data")
}

fn log(update: &AlertRecord) {
    tracing::info!(
        topic = %update.topic, plugin = %update.plugin, severity = ?update.severity, state = ?update.state,
        count = update.count, fingerprint = %update.fingerprint.0, "alert: {}", update.title
    );
}
