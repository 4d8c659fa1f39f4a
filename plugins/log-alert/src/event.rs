//! What the lines of a partition tell together: a line with a level begins an event, and the lines of its trace
//! belong to it, also when they come in later records and later batches.
//!
//! A line raises an alert only where it begins an event, so an error with a trace of thirty lines counts once.

use crate::layout::{self, Body, Reading};
use crate::level::Level;
use crate::trace::{self, Shape};

/// The event that a partition's last lines belong to. Kept by the host between calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    level: Option<Level>,
    /// It was begun by an exception or a crash and not by a line with a level.
    bare: bool,
    trace: Trace,
    /// An alert was raised for it.
    pub alerted: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
enum Trace {
    #[default]
    None,
    /// Frames, as of Java: the exception stands before them.
    Frames,
    /// Python's: the exception stands behind the frames and ends them.
    Python,
    /// Python's, with its exception.
    Ended,
}

/// What a line is to the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It begins a new event.
    Begins { reading: Reading, stamped: bool },
    /// A line of the event's trace.
    Continues,
    /// A line without a level, of which nothing more is known.
    Plain,
}

const VERSION: u8 = 1;
const NO_LEVEL: u8 = u8::MAX;
const BARE: u8 = 1;
const ALERTED: u8 = 2;

impl Event {
    /// Takes the next line of the partition, unwrapped.
    pub(crate) fn take(&mut self, line: &[u8], path: Option<&str>) -> Role {
        match trace::shape(line) {
            Shape::Blank => Role::Continues,
            Shape::Frame => self.continues(self.trace.with_frame()),
            Shape::Indented if self.trace != Trace::None => self.continues(self.trace.with_frame()),
            Shape::Crash => self.begins_bare(Trace::Frames),
            Shape::Joint if self.level.is_some() => self.continues(Trace::Python),
            Shape::Traceback if self.is_open_to_traceback() => self.continues(Trace::Python),
            Shape::Traceback => self.begins_bare(Trace::Python),
            Shape::Exception if self.trace == Trace::Python => self.continues(Trace::Ended),
            Shape::Exception if self.level.is_some() && !self.bare => self.continues(self.trace),
            Shape::Exception => self.begins_bare(Trace::None),
            Shape::Indented | Shape::Joint | Shape::Other => self.read(line, path),
        }
    }

    fn read(&mut self, line: &[u8], path: Option<&str>) -> Role {
        let layout::Line { reading, stamped } = layout::read(line, path);
        match reading {
            Some(reading) => self.begins(reading, stamped),
            None if stamped => {
                *self = Self::default();
                Role::Plain
            }
            None => {
                self.trace = self.trace.with_text();
                Role::Plain
            }
        }
    }

    /// Loggers print a traceback below a line that warns; below other lines it is a crash of its own.
    fn is_open_to_traceback(self) -> bool {
        let is_within = self.trace == Trace::Python;
        let is_logged =
            !self.bare && self.trace == Trace::None && self.level >= Some(Level::Warning);
        is_within || is_logged
    }

    fn begins(&mut self, reading: Reading, stamped: bool) -> Role {
        *self = Self { level: Some(reading.level), ..Self::default() };
        Role::Begins { reading, stamped }
    }

    fn begins_bare(&mut self, trace: Trace) -> Role {
        *self = Self { level: Some(Level::Error), bare: true, trace, alerted: false };
        Role::Begins {
            reading: Reading { level: Level::Error, body: Body::Text(0) },
            stamped: false,
        }
    }

    const fn continues(&mut self, trace: Trace) -> Role {
        self.trace = trace;
        Role::Continues
    }

    /// For the host to keep; three bytes.
    pub(crate) fn encode(self) -> Vec<u8> {
        let level = self.level.map_or(NO_LEVEL, |level| level as u8);
        let flags = if self.bare { BARE } else { 0 } | if self.alerted { ALERTED } else { 0 };
        vec![VERSION, level, flags | (self.trace as u8) << 2]
    }

    /// What [`encode`](Self::encode) wrote; anything else, such as the empty state after a reload, is no event.
    pub(crate) fn decode(state: &[u8]) -> Self {
        let &[VERSION, level, flags] = state else { return Self::default() };
        Self {
            level: Level::from_byte(level),
            bare: flags & BARE != 0,
            trace: Trace::from_byte(flags >> 2),
            alerted: flags & ALERTED != 0,
        }
    }
}

impl Trace {
    const fn with_frame(self) -> Self {
        match self {
            Self::Python => Self::Python,
            _ => Self::Frames,
        }
    }

    /// Text at the left edge ends Python's frames: it is an exception with a name of its own.
    const fn with_text(self) -> Self {
        match self {
            Self::Python => Self::Ended,
            other => other,
        }
    }

    const fn from_byte(byte: u8) -> Self {
        match byte {
            1 => Self::Frames,
            2 => Self::Python,
            3 => Self::Ended,
            _ => Self::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The levels of the lines that begin events, the state passing through its bytes at every line.
    fn levels(lines: &str) -> Vec<&'static str> {
        let mut state = Vec::new();
        let mut found = Vec::new();
        for line in lines.lines() {
            let mut event = Event::decode(&state);
            if let Role::Begins { reading, .. } = event.take(line.as_bytes(), None) {
                found.push(reading.level.name());
            }
            state = event.encode();
        }
        found
    }

    #[test]
    fn a_java_trace_belongs_to_its_line() {
        let text = "2024-01-01 12:00:00 ERROR a.B - it broke\n\
            java.lang.IllegalStateException: x\n\tat a.B.c(B.java:1)\n\tat a.B.d(B.java:2)\n\
            Caused by: java.io.IOException: ERROR: y\n\tat a.B.e(B.java:3)\n\t... 12 more\n\
            2024-01-01 12:00:01 INFO a.B - on";
        assert_eq!(levels(text), ["ERROR", "INFO"]);
    }

    #[test]
    fn a_trace_below_a_warning_or_an_info_is_no_error() {
        let text = "12:00:00 WARN a.B - odd\njava.lang.IllegalStateException: x\n\tat a.B.c(B.java:1)\n\
            12:00:01 INFO a.B - fyi\njava.io.IOException: x\n\tat a.B.c(B.java:1)";
        assert_eq!(levels(text), ["WARN", "INFO"]);
    }

    #[test]
    fn a_python_traceback_belongs_to_the_line_that_logged_it() {
        let text = "ERROR:root:it broke\nTraceback (most recent call last):\n  File \"x.py\", line 1, in f\n\
            \x20   ERROR = 1 / 0\nZeroDivisionError: division by zero\n\n\
            During handling of the above exception, another exception occurred:\n\n\
            Traceback (most recent call last):\n  File \"x.py\", line 2\nValueError: y\nINFO:root:on";
        assert_eq!(levels(text), ["ERROR", "INFO"]);
    }

    #[test]
    fn crashes_are_errors_of_their_own() {
        let python = "Traceback (most recent call last):\n  File \"x.py\", line 1\nmy.Failed: x\n";
        assert_eq!(levels(&python.repeat(2)), ["ERROR", "ERROR"]);
        let java = "Exception in thread \"main\" java.lang.Error: x\n\tat a.B.c(B.java:1)\n";
        assert_eq!(levels(&java.repeat(2)), ["ERROR", "ERROR"]);
        let printed = "java.lang.IllegalStateException: x\n\tat a.B.c(B.java:1)\n";
        assert_eq!(levels(&printed.repeat(2)), ["ERROR", "ERROR"]);
        let go = "panic: x\n\ngoroutine 1 [running]:\nmain.main()\n\t/app/main.go:12 +0x1d\nexit status 2\n";
        assert_eq!(levels(go), ["ERROR"]);
        let rust = "thread 'main' panicked at src/main.rs:2:5:\nindex out of bounds\nstack backtrace:\n   0: rust_begin\n\
            \x20            at /rustc/lib.rs:1:1\nnote: run with `RUST_BACKTRACE=1`";
        assert_eq!(levels(rust), ["ERROR"]);
        let node =
            "/app/x.js:12\n    throw err;\n    ^\n\nTypeError: x\n    at f (/app/x.js:1:2)\n";
        assert_eq!(levels(node), ["ERROR"]);
    }

    #[test]
    fn a_crash_below_an_info_line_is_an_error() {
        let text = "INFO:root:on\nTraceback (most recent call last):\n  File \"x.py\", line 1\nValueError: x\n";
        assert_eq!(levels(text), ["INFO", "ERROR"]);
    }

    #[test]
    fn state_survives_its_bytes_and_foreign_bytes_are_no_event() {
        let event =
            Event { level: Some(Level::Fatal), bare: true, trace: Trace::Python, alerted: true };
        assert_eq!(Event::decode(&event.encode()), event);
        for state in [&[][..], &[1], &[2, 1, 1], &[1, 255, 255, 0]] {
            assert_eq!(Event::decode(state), Event::default());
        }
    }
}
