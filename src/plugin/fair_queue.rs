//! Whose call is next: plugins take turns, and those that failed lately share half of the threads. Pure.
//!
//! So a plugin that hangs holds up itself, and no other for longer than one call.

use std::collections::{BTreeMap, VecDeque};

use crate::base::PluginName;

/// Calls of one plugin that may wait.
pub(super) const WAITING_MAX: usize = 256;

pub(super) struct FairQueue<J> {
    /// Only plugins with waiting calls.
    lanes: BTreeMap<PluginName, VecDeque<J>>,
    /// The same plugins, in the order of their turns.
    turns: VecDeque<PluginName>,
    suspects_running: usize,
    suspects_max: usize,
}

/// A taken call. `suspect` is given back to [`FairQueue::done`].
pub(super) struct Taken<J> {
    pub(super) job: J,
    pub(super) suspect: bool,
}

impl<J> FairQueue<J> {
    pub(super) fn new(threads: usize) -> Self {
        Self {
            lanes: BTreeMap::new(),
            turns: VecDeque::new(),
            suspects_running: 0,
            suspects_max: (threads / 2).max(1),
        }
    }

    /// Gives the call back when too many of this plugin wait.
    pub(super) fn push(&mut self, plugin: &PluginName, job: J) -> Result<(), J> {
        if let Some(lane) = self.lanes.get_mut(plugin) {
            if lane.len() >= WAITING_MAX {
                return Err(job);
            }
            lane.push_back(job);
            return Ok(());
        }
        self.lanes.insert(plugin.clone(), VecDeque::from([job]));
        self.turns.push_back(plugin.clone());
        Ok(())
    }

    /// The next call that may run now.
    pub(super) fn take(&mut self, is_trusted: impl Fn(&J) -> bool) -> Option<Taken<J>> {
        for _ in 0..self.turns.len() {
            let plugin = self.turns.pop_front()?;
            let suspect = !self.lanes.get(&plugin)?.front().is_some_and(&is_trusted);
            if suspect && self.suspects_running >= self.suspects_max {
                self.turns.push_back(plugin);
                continue;
            }
            let job = self.pop(plugin)?;
            self.suspects_running += usize::from(suspect);
            return Some(Taken { job, suspect });
        }
        None
    }

    fn pop(&mut self, plugin: PluginName) -> Option<J> {
        let lane = self.lanes.get_mut(&plugin)?;
        let job = lane.pop_front();
        if lane.is_empty() {
            self.lanes.remove(&plugin);
        } else {
            self.turns.push_back(plugin);
        }
        job
    }

    pub(super) fn done(&mut self, suspect: bool) {
        self.suspects_running -= usize::from(suspect);
    }

    /// Drops all that wait.
    pub(super) fn clear(&mut self) {
        self.lanes.clear();
        self.turns.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(queue: &mut FairQueue<(&'static str, u32)>, plugin: &'static str, count: u32) {
        for number in 0..count {
            queue.push(&plugin.into(), (plugin, number)).expect("room");
        }
    }

    fn all(
        queue: &mut FairQueue<(&'static str, u32)>,
        trusted: &[&str],
    ) -> Vec<(&'static str, u32)> {
        std::iter::from_fn(|| queue.take(|(plugin, _)| trusted.contains(plugin)).map(|it| it.job))
            .collect()
    }

    #[test]
    fn plugins_take_turns_and_each_ones_calls_stay_in_order() {
        let mut queue = FairQueue::new(2);
        push(&mut queue, "a", 3);
        push(&mut queue, "b", 1);
        push(&mut queue, "c", 2);
        let order = all(&mut queue, &["a", "b", "c"]);
        assert_eq!(order, [("a", 0), ("b", 0), ("c", 0), ("a", 1), ("c", 1), ("a", 2)]);
    }

    #[test]
    fn suspects_leave_half_of_the_threads_to_others() {
        let mut queue = FairQueue::new(4);
        push(&mut queue, "bad", 9);
        push(&mut queue, "worse", 9);
        push(&mut queue, "good", 2);
        let order = all(&mut queue, &["good"]);
        assert_eq!(order, [("bad", 0), ("worse", 0), ("good", 0), ("good", 1)]);
        queue.done(true);
        assert_eq!(all(&mut queue, &["good"]).len(), 1);
    }

    #[test]
    fn the_calls_of_one_plugin_that_wait_are_bounded() {
        let mut queue = FairQueue::new(2);
        push(&mut queue, "a", WAITING_MAX as u32);
        assert!(queue.push(&"a".into(), ("a", 0)).is_err());
        assert!(queue.push(&"b".into(), ("b", 0)).is_ok());
    }
}
