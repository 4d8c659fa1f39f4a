//! Lines that guests write to the broker's log: cut, cleaned, marked with the plugin's name, and limited by rate.
//!
//! What a guest says when it panics reaches the operator only here: traps carry no text.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use super::{bindings::Level, failure::cut};
use crate::base::PluginName;

/// Bytes of a line that are kept.
const LINE_BYTES_MAX: usize = 1024;

const WINDOW: Duration = Duration::from_secs(1);

/// A guest's way to the log; all guests of a plugin share its gate.
#[derive(Clone)]
pub(super) struct GuestLog {
    plugin: PluginName,
    gate: Arc<Mutex<LogGate>>,
}

/// Lets so many lines pass in a second and counts the others.
#[derive(Debug)]
pub(super) struct LogGate {
    lines_max: u32,
    window_start: Option<Instant>,
    lines: u32,
    suppressed: u64,
}

/// Whether a line passes, and how many before it did not.
#[derive(Debug, PartialEq, Eq)]
enum Passage {
    Write { suppressed_before: u64 },
    Suppress,
}

impl LogGate {
    pub(super) fn new(lines_max: u32) -> Self {
        Self { lines_max, window_start: None, lines: 0, suppressed: 0 }
    }

    fn pass(&mut self, now: Instant) -> Passage {
        if self.window_start.is_none_or(|start| now.duration_since(start) >= WINDOW) {
            self.window_start = Some(now);
            self.lines = 0;
        }
        if self.lines >= self.lines_max {
            self.suppressed += 1;
            return Passage::Suppress;
        }
        self.lines += 1;
        Passage::Write { suppressed_before: std::mem::take(&mut self.suppressed) }
    }
}

impl GuestLog {
    pub(super) fn new(plugin: PluginName, gate: Arc<Mutex<LogGate>>) -> Self {
        Self { plugin, gate }
    }

    pub(super) fn write(&self, level: Level, text: &str) {
        let Passage::Write { suppressed_before } = self.gate.lock().pass(Instant::now()) else {
            return;
        };
        let plugin = self.plugin.as_str();
        if suppressed_before > 0 {
            tracing::warn!(plugin, lines = suppressed_before, "lines of a plugin's log left out");
        }
        let text = cut(text, LINE_BYTES_MAX);
        match level {
            Level::Debug => tracing::debug!(plugin, "{text}"),
            Level::Info => tracing::info!(plugin, "{text}"),
            Level::Warn => tracing::warn!(plugin, "{text}"),
            Level::Error => tracing::error!(plugin, "{text}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_above_the_rate_are_counted_and_told_of_later() {
        let now = Instant::now();
        let mut gate = LogGate::new(2);
        assert_eq!(gate.pass(now), Passage::Write { suppressed_before: 0 });
        assert_eq!(gate.pass(now), Passage::Write { suppressed_before: 0 });
        assert_eq!(gate.pass(now), Passage::Suppress);
        assert_eq!(gate.pass(now), Passage::Suppress);
        assert_eq!(gate.pass(now + WINDOW), Passage::Write { suppressed_before: 2 });
        assert_eq!(gate.pass(now + WINDOW), Passage::Write { suppressed_before: 0 });
    }
}
