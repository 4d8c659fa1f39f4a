//! The connections that are open.
//!
//! Rule: there are at most so many, and a new one always gets in: whoever idles keeps no health check out.

use std::collections::VecDeque;

use tokio::task::{AbortHandle, JoinSet};

use super::CONNECTIONS_MAX;

#[derive(Default)]
pub(super) struct Crowd {
    pub(super) tasks: JoinSet<()>,
    /// The oldest first.
    by_age: VecDeque<AbortHandle>,
}

impl Crowd {
    /// Runs a connection, in the place of the oldest one if there are too many. Pages are short, so that one most likely
    /// idles; a scraper that kept it connects again.
    pub(super) fn admit(&mut self, connection: impl Future<Output = ()> + Send + 'static) {
        while self.tasks.try_join_next().is_some() {}
        self.by_age.retain(|it| !it.is_finished());
        if self.by_age.len() >= CONNECTIONS_MAX
            && let Some(oldest) = self.by_age.pop_front()
        {
            oldest.abort();
        }
        self.by_age.push_back(self.tasks.spawn(connection));
    }
}
