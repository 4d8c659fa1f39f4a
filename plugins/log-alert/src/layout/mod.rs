//! Finds the *level field* of a line in whatever layout it has, and the message behind it.
//!
//! Layouts are not configured and not guessed as a whole: what decides is the position. A level is a token in the
//! head of the line (behind stamps, hosts, threads and loggers, before the message), or the value of a key that
//! means a level, in JSON and `key=value`. The word anywhere else is just a word.

pub(crate) mod bytes;
mod group;
mod head;
pub(crate) mod json;
pub(crate) mod key;
mod letter;
mod message;
mod phrase;
mod syslog;
mod word;
mod wrapper;

#[cfg(test)]
mod tests;

pub(crate) use message::Message;
pub(crate) use wrapper::unwrap;

use crate::level::Level;

/// Where the message of a line is to be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// Behind the level, from this byte on.
    Text(usize),
    /// Behind `<PRI>`, which ends before this byte.
    Syslog(usize),
    /// Under a key of `key=value`.
    Pairs,
    /// Under a key of the JSON object that starts at this byte.
    Object(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub level: Level,
    pub body: Body,
}

impl Reading {
    const fn text(level: Level, end: usize) -> Self {
        Self { level, body: Body::Text(end) }
    }
}

/// What a line says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub reading: Option<Reading>,
    /// It begins with a date or a time, so it is nobody's continuation.
    pub stamped: bool,
}

/// Reads one line, which has been unwrapped. `path` is the level's path in JSON lines.
pub(crate) fn read(line: &[u8], path: Option<&str>) -> Line {
    let start = bytes::after_blank(line, 0);
    let object = bytes::from(line, start);
    if !json::starts(object) {
        return head::read(line);
    }
    let reading =
        json::level(object, path).map(|level| Reading { level, body: Body::Object(start) });
    Line { reading, stamped: true }
}
