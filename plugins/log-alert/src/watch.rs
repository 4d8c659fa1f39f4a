//! A record's way from its bytes to an alert: unwrap it, let each of its lines join the partition's event, and
//! tell of the worst line that begins one.
//!
//! A record raises at most one alert. One that raises none costs no allocation.

use crate::alert::Finding;
use crate::event::{Event, Role};
use crate::layout::{self, Message, Reading, bytes, json};
use crate::level::Level;
use crate::pattern::Pattern;
use crate::settings::Settings;
use crate::trace;
use klamm_plugin::transform::Severity;
use regex::bytes::Captures;

/// Lines of a record beyond this are not looked at for levels. Patterns see the whole record.
const LINES_MAX: usize = 500;

/// The settings, and room for what collectors have escaped.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    settings: Settings,
    scratch: Vec<u8>,
}

/// The line of a record that begins an event, the worst of them.
#[derive(Clone, Copy, Debug)]
struct Head<'a> {
    line: &'a [u8],
    reading: Reading,
}

/// What the lines of a record came to.
#[derive(Clone, Copy, Debug, Default)]
struct Lines<'a> {
    head: Option<Head<'a>>,
    /// Each of them belongs to a trace that began before the record.
    continues: bool,
}

impl Watch {
    pub(crate) fn new(settings: Settings) -> Self {
        Self { settings, scratch: Vec::new() }
    }

    pub(crate) const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What a record's value raises, given the event that its partition's last record left open.
    pub(crate) fn inspect(&mut self, event: &mut Event, value: &[u8]) -> Option<Finding> {
        let Self { settings, scratch } = self;
        let path = settings.level_path.as_deref();
        let text = layout::unwrap(value, path, scratch);
        let lines = Lines::read(event, text, path);
        let level = lines.head.map(|head| head.reading.level);
        let is_level = level.is_some_and(|level| settings.levels.contains(level));
        let matched = if lines.continues && event.alerted { None } else { settings.matching(text) };
        if !is_level && matched.is_none() {
            return None;
        }
        event.alerted = true;
        Some(finding(text, lines.head, matched))
    }
}

impl Settings {
    fn matching<'a, 't>(&'a self, text: &'t [u8]) -> Option<(&'a Pattern, Captures<'t>)> {
        self.patterns.iter().find_map(|pattern| Some((pattern, pattern.captures(text)?)))
    }
}

impl<'a> Lines<'a> {
    fn read(event: &mut Event, text: &'a [u8], path: Option<&str>) -> Self {
        let mut lines = Self { head: None, continues: true };
        if json::starts(text) && is_spread(text) {
            lines.take(event, text, path);
            return lines;
        }
        for line in text.split(|byte| *byte == b'\n').take(LINES_MAX) {
            lines.take(event, line, path);
        }
        lines
    }

    fn take(&mut self, event: &mut Event, line: &'a [u8], path: Option<&str>) {
        match event.take(line, path) {
            Role::Begins { reading, stamped } => {
                self.continues = false;
                self.begin(Head { line, reading }, stamped);
            }
            Role::Plain => self.continues = false,
            Role::Continues => {}
        }
    }

    /// A later line without a stamp is text of the event before, whatever it says.
    fn begin(&mut self, head: Head<'a>, stamped: bool) {
        let is_worse = |found: Head<'_>| stamped && head.reading.level > found.reading.level;
        if self.head.is_none_or(is_worse) {
            self.head = Some(head);
        }
    }
}

/// Whether a JSON object is printed over many lines.
fn is_spread(text: &[u8]) -> bool {
    let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    !first.trim_ascii_end().ends_with(b"}")
}

fn finding(
    text: &[u8],
    head: Option<Head<'_>>,
    matched: Option<(&Pattern, Captures<'_>)>,
) -> Finding {
    let level = head.map(|head| head.reading.level);
    let message = match (head, &matched) {
        (Some(head), _) => Message::read(head.line, head.reading.body),
        (None, Some((_, captures))) => Message::whole(line_of(text, captures)),
        (None, None) => Message::whole(text),
    };
    let exception = exception(text);
    let message = crash(head, exception, text).unwrap_or(message);
    let exception = exception
        .and_then(trace::exception)
        .map(|class| String::from_utf8_lossy(class).into_owned());
    let Some((pattern, captures)) = matched else {
        let severity = level.map_or(Severity::Error, Level::severity);
        return Finding { level, severity, message, exception, pattern: None, labels: Vec::new() };
    };
    // A pattern is there to be told of: at least a warning.
    let by_level = level.map_or(Severity::Warning, Level::severity).max(Severity::Warning);
    let labels = [pattern.labels.clone(), pattern.named(&captures)].concat();
    let severity = pattern.severity.unwrap_or(by_level);
    Finding { level, severity, message, exception, pattern: pattern.name.clone(), labels }
}

/// The last exception line at the left edge of the record: Python's cause, Java's first exception.
fn exception(text: &[u8]) -> Option<&[u8]> {
    let lines = text.split(|byte| *byte == b'\n').take(LINES_MAX);
    lines.filter(|line| trace::shape(line) == trace::Shape::Exception).last()
}

/// A traceback that came whole is told by its exception, not by its first line.
fn crash(head: Option<Head<'_>>, exception: Option<&[u8]>, text: &[u8]) -> Option<Message> {
    let is_traceback = trace::shape(head?.line) == trace::Shape::Traceback;
    let line = exception?;
    (is_traceback && line.len() < text.len()).then(|| Message::whole(line))
}

/// The line in which a match begins.
fn line_of<'t>(text: &'t [u8], captures: &Captures<'_>) -> &'t [u8] {
    let at = captures.get(0).map_or(0, |whole| whole.start());
    let start = text.iter().take(at).rposition(|byte| *byte == b'\n').map_or(0, |found| found + 1);
    let end = bytes::find(text, at, b'\n').unwrap_or(text.len());
    bytes::between(text, start, end)
}

#[cfg(test)]
#[path = "watch/tests.rs"]
mod tests;
