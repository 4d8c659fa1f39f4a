//! The way of matches from the produce path to the alert coordinator: a bounded channel, in the order of offsets.

use tokio::sync::mpsc;

use crate::alert::Evaluated;

/// Verdicts that may wait. A producer above it waits too, before it stores.
const WAITING_MAX: usize = 1_024;

/// Hands verdicts to the alert coordinator.
#[derive(Clone, Debug)]
pub struct AlertIntake(mpsc::Sender<Evaluated>);

/// Room for a number of verdicts, taken before the records are stored: sending then neither waits nor fails.
#[derive(Debug, Default)]
pub struct Reserved(Vec<mpsc::OwnedPermit<Evaluated>>);

impl AlertIntake {
    /// The intake, and the end that the coordinator reads.
    pub fn new() -> (Self, mpsc::Receiver<Evaluated>) {
        let (sender, receiver) = mpsc::channel(WAITING_MAX);
        (Self(sender), receiver)
    }

    /// Waits for room for `count` verdicts. Once the coordinator has stopped there is room for none, and what is
    /// sent is lost: the partition's progress then tells the next start what to evaluate again.
    pub async fn reserve(&self, count: usize) -> Reserved {
        let mut permits = Vec::with_capacity(count);
        for _ in 0..count {
            if let Ok(permit) = self.0.clone().reserve_owned().await {
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
            permit.send(evaluated);
        }
    }
}
