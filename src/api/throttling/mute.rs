//! Until when a connection is not read.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::time::{Instant, sleep_until};

/// Until when a connection is not read.
#[derive(Clone, Debug, Default)]
pub struct Mute(Arc<Mutex<Option<Instant>>>);

impl Mute {
    /// For so long from now on, or longer if it was held before.
    pub(crate) fn hold(&self, time: Duration) {
        let until = Instant::now() + time;
        let mut held = self.0.lock();
        *held = Some(held.map_or(until, |it| it.max(until)));
    }

    /// Waits until the connection may be read.
    pub async fn passed(&self) {
        loop {
            // Copied, so that it is not locked while this waits.
            let until = *self.0.lock();
            match until {
                Some(until) if until > Instant::now() => sleep_until(until).await,
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shorter_hold_does_not_end_a_longer_one() {
        let mute = Mute::default();
        mute.hold(Duration::from_secs(1_000));
        let until = *mute.0.lock();
        mute.hold(Duration::ZERO);
        assert_eq!(*mute.0.lock(), until);
    }
}
