//! The way of matches from the produce path to the alert coordinator: a bounded channel, in the order of offsets.

use std::{collections::HashSet, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::{MutexGuard, OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use crate::{
    alert::{Evaluated, Watched},
    base::{Offset, PluginName, TopicName},
};

/// Verdicts that may wait. A producer above it waits too, before it stores.
const WAITING_MAX: usize = 1_024;

/// Bytes of their matches; one batch with more than that goes alone.
const WAITING_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A permit is a KiB, so that a share fits the semaphore's `u32`.
const UNIT_BYTES: usize = 1024;

/// What the produce path tells.
#[derive(Debug)]
pub enum Notice {
    /// With its share of what may wait.
    Verdict(Evaluated, Option<Arc<OwnedSemaphorePermit>>),
    /// A plugin is about to see records of a source, from this offset on.
    Begin { watched: Watched, from: Offset, done: oneshot::Sender<()> },
    /// A plugin is about to be given a topic that it does not watch: whatever is known of an earlier time is over.
    Forget { topic: TopicName, plugin: PluginName, done: oneshot::Sender<()> },
}

/// Hands verdicts to the alert coordinator.
#[derive(Clone, Debug)]
pub struct AlertIntake {
    notices: mpsc::Sender<Notice>,
    waiting: Arc<Semaphore>,
    /// Sources whose progress is known to be kept.
    begun: Arc<Mutex<HashSet<Watched>>>,
    changing: Arc<tokio::sync::Mutex<()>>,
}

/// Room for a number of verdicts, taken before the records are stored: sending then neither waits nor fails.
#[derive(Debug, Default)]
pub struct Reserved {
    places: Vec<mpsc::OwnedPermit<Notice>>,
    share: Option<Arc<OwnedSemaphorePermit>>,
}

impl AlertIntake {
    /// The intake, and the end that the coordinator reads.
    pub fn new() -> (Self, mpsc::Receiver<Notice>) {
        let (notices, receiver) = mpsc::channel(WAITING_MAX);
        let waiting = Arc::new(Semaphore::new(WAITING_BYTES_MAX / UNIT_BYTES));
        (Self { notices, waiting, begun: Arc::default(), changing: Arc::default() }, receiver)
    }

    /// Makes sure that the progress of a plugin on a source is kept before the first record is stored: a crash right
    /// after it would otherwise leave nobody who knows that the record is to be evaluated again. `false` when it cannot
    /// be kept now.
    pub async fn begin(&self, watched: Watched, from: Offset) -> bool {
        if self.begun.lock().contains(&watched) {
            return true;
        }
        let (done, is_done) = oneshot::channel();
        let begin = Notice::Begin { watched: watched.clone(), from, done };
        let kept = self.notices.send(begin).await.is_ok() && is_done.await.is_ok();
        if kept {
            self.begun.lock().insert(watched);
        }
        kept
    }

    /// For a change that puts plugins on topics: nobody else makes one meanwhile.
    pub async fn alone(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().await
    }

    /// Before a plugin is put on a topic: its progress begins anew at the first record that it will see. So what was
    /// stored while it did not watch is never evaluated, also after a crash. `false` when that cannot be kept now.
    pub async fn forget(&self, topic: &TopicName, plugin: &PluginName) -> bool {
        let (done, is_done) = oneshot::channel();
        let (topic, plugin) = (topic.clone(), plugin.clone());
        self.begun.lock().retain(|it| it.source.topic != topic || it.plugin != plugin);
        let forget = Notice::Forget { topic, plugin, done };
        self.notices.send(forget).await.is_ok() && is_done.await.is_ok()
    }

    /// Waits for room for `count` verdicts with about `bytes` of matches. Once the coordinator has stopped there is room for
    /// none, and what is sent is lost: the partition's progress then tells the next start what to evaluate again.
    pub async fn reserve(&self, count: usize, bytes: usize) -> Reserved {
        let units = bytes.min(WAITING_BYTES_MAX).div_ceil(UNIT_BYTES) as u32;
        let share = match units {
            0 => None,
            _ => Arc::clone(&self.waiting).acquire_many_owned(units).await.ok().map(Arc::new),
        };
        let mut places = Vec::with_capacity(count);
        for _ in 0..count {
            if let Ok(place) = self.notices.clone().reserve_owned().await {
                places.push(place);
            }
        }
        Reserved { places, share }
    }
}

impl Reserved {
    /// Sends one verdict.
    pub fn send(&mut self, evaluated: Evaluated) {
        if let Some(place) = self.places.pop() {
            place.send(Notice::Verdict(evaluated, self.share.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use crate::base::{TopicId, TopicPartition};

    fn verdict() -> Evaluated {
        let topic_id = TopicId(uuid::Uuid::from_u128(1));
        Evaluated {
            watched: Watched { topic_id, source: TopicPartition::new("t", 0), plugin: "p".into() },
            from: Offset(0),
            to: Offset(1),
            matches: None,
        }
    }

    #[test]
    fn verdicts_that_wait_hold_their_bytes_until_they_are_taken() {
        let (intake, mut notices) = AlertIntake::new();
        let reserve = |bytes| intake.reserve(1, bytes).now_or_never();
        reserve(2 * WAITING_BYTES_MAX).expect("alone").send(verdict());
        assert!(reserve(1).is_none());
        reserve(0).expect("without matches it is small").send(verdict());
        drop(notices.try_recv().unwrap());
        assert!(reserve(WAITING_BYTES_MAX).is_some(), "what was not sent holds nothing");
        assert!(reserve(WAITING_BYTES_MAX).is_some());
    }
}
