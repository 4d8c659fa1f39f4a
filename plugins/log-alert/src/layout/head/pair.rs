//! `key=value` and `key: value` in the head of a line. Once a pair has been read the line is taken for a list of
//! pairs: its level may stand anywhere in it, but under a key.

use super::{Head, Last, Step, found};
use crate::layout::Body;
use crate::layout::bytes::{after_blank, between, byte, run};
use crate::layout::key::{self, Scale};

impl<'a> Head<'a> {
    /// `key=value` and `key: value`.
    pub(super) fn keyed(&mut self, word: &[u8]) -> Option<Step> {
        let length = run(word, 0, |byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'@')
        });
        let key = between(word, 0, length);
        match byte(word, length) {
            b'=' if length > 0 => Some(self.pair(key, self.at + length + 1)),
            b':' | 0 if !self.loose => self.labelled(key, self.at + length),
            _ => None,
        }
    }

    fn pair(&mut self, key: &[u8], start: usize) -> Step {
        let (value, end) = self.value(start);
        if let Some(level) = key::scale(key).and_then(|scale| key::value(scale, value)) {
            return found(level, Body::Pairs);
        }
        let is_bare = byte(self.line, start) != b'"';
        self.loose |= is_bare && key::is_text(key);
        self.pairs = true;
        self.last = Last::Pair;
        self.names = self.names.max(1);
        self.at = end;
        Step::Next
    }

    /// `level: error`, `Severity : ERROR`. Only for keys that mean a level, so that prose is left alone.
    fn labelled(&self, key: &[u8], end: usize) -> Option<Step> {
        let colon = after_blank(self.line, end);
        if byte(self.line, colon) != b':' || self.tagged || key::scale(key)? != Scale::Level {
            return None;
        }
        let (value, end) = self.value(after_blank(self.line, colon + 1));
        let level = key::value(Scale::Level, value)?;
        Some(found(level, Body::Text(end)))
    }

    /// The value that starts at `start`, quoted or bare, and where it ends.
    fn value(&self, start: usize) -> (&'a [u8], usize) {
        let line = self.line;
        if byte(line, start) != b'"' {
            let length = run(line, start, |byte| {
                !matches!(byte, 0..=b' ' | b',' | b';' | b']' | b'|' | b')' | b'>')
            });
            return (between(line, start, start + length), start + length);
        }
        let mut end = start + 1;
        while end < line.len() && byte(line, end) != b'"' {
            end += if byte(line, end) == b'\\' { 2 } else { 1 };
        }
        (between(line, start + 1, end), (end + 1).min(line.len()))
    }
}
