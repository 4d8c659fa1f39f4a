//! The way of matches from the produce path to the alert coordinator: a bounded channel, in the order of offsets.

use std::{collections::HashSet, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::{MutexGuard, mpsc, oneshot};

use crate::{
    alert::{Evaluated, Watched},
    base::{Offset, PluginName, TopicName},
};

/// Verdicts that may wait. A producer above it waits too, before it stores.
const WAITING_MAX: usize = 1_024;

/// What the produce path tells.
#[derive(Debug)]
pub enum Notice {
    Verdict(Evaluated),
    /// A plugin is about to see records of a source, from this offset on.
    Begin {
        watched: Watched,
        from: Offset,
        done: oneshot::Sender<()>,
    },
    /// A plugin is about to be given a topic that it does not watch: whatever is known of an earlier time is over.
    Forget {
        topic: TopicName,
        plugin: PluginName,
        done: oneshot::Sender<()>,
    },
}

/// Hands verdicts to the alert coordinator.
#[derive(Clone, Debug)]
pub struct AlertIntake {
    notices: mpsc::Sender<Notice>,
    /// Sources whose progress is known to be kept.
    begun: Arc<Mutex<HashSet<Watched>>>,
    changing: Arc<tokio::sync::Mutex<()>>,
}

/// Room for a number of verdicts, taken before the records are stored: sending then neither waits nor fails.
#[derive(Debug, Default)]
pub struct Reserved(Vec<mpsc::OwnedPermit<Notice>>);

impl AlertIntake {
    /// The intake, and the end that the coordinator reads.
    pub fn new() -> (Self, mpsc::Receiver<Notice>) {
        let (notices, receiver) = mpsc::channel(WAITING_MAX);
        (Self { notices, begun: Arc::default(), changing: Arc::default() }, receiver)
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

    /// Waits for room for `count` verdicts. Once the coordinator has stopped there is room for none, and what is
    /// sent is lost: the partition's progress then tells the next start what to evaluate again.
    pub async fn reserve(&self, count: usize) -> Reserved {
        let mut permits = Vec::with_capacity(count);
        for _ in 0..count {
            if let Ok(permit) = self.notices.clone().reserve_owned().await {
                permits.push(permit);
            }
        }
        Reserved(permits)
    }
}

impl Reserved {
    /// Sends one verdict.
    pub fn send(&mut self, evaluated: Evaluated) {
        if let Some(permit) = self.0.pop() {
            permit.send(Notice::Verdict(evaluated));
        }
    }
}
