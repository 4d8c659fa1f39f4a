//! The head of a line: stamps, hosts, threads, loggers, and among them the level. One pass over its tokens, from
//! the left; the first token in a field's position that is a level is the line's level. Where prose begins the
//! message begins, and words in a message are no levels.

mod field;
mod name;
mod pair;

use crate::layout::bytes::{after_blank, between, byte, ends_word, find, from, run};
use crate::layout::group::{self, Group};
use crate::layout::word::{Word, classify, is_blank_or_end};
use crate::layout::{Body, Line, Reading, json, letter, syslog};
use crate::level::Level;

/// A head has fewer tokens than this; `key=value` lines may go on to [`PAIRS_BYTES_MAX`].
const TOKENS_MAX: u32 = 200;
/// A level in plain text stands before this.
const HEAD_BYTES_MAX: usize = 512;
/// A level in `key=value` text stands before this.
const PAIRS_BYTES_MAX: usize = 16 * 1024;
/// Names (loggers, threads, racks) that may stand before a level.
const NAMES_MAX: u8 = 6;
/// Plain words (host, program) that may stand before a level.
const PLAIN_MAX: u8 = 2;

/// What separates a token from the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gap {
    Start,
    /// Nothing: `sshd[42]`.
    None,
    Space,
    Column,
    /// A bar, comma, or a dash between blanks.
    Separator,
}

/// What the token before was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    Nothing,
    Stamp,
    Name,
    Group,
    Pair,
}

enum Step {
    Found(Reading),
    Next,
    /// The message begins here.
    Prose,
    Stop,
}

/// The text that precedes the level, as far as it has been read.
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts about the part that has been read"
)]
struct Head<'a> {
    line: &'a [u8],
    at: usize,
    gap: Gap,
    last: Last,
    /// A date or time has been read.
    stamped: bool,
    names: u8,
    plain: u8,
    /// The last name is dotted or ends in a colon: a logger's.
    named: bool,
    /// `name:` directly behind a stamp, as BIND and dovecot write their categories.
    category: bool,
    /// Behind syslog's `program[42]:`. What follows is the program's own text.
    tagged: bool,
    /// `key=value` has been read: from here on only keys name levels.
    pairs: bool,
    loose: bool,
}

/// Reads the level of one line of text.
pub(crate) fn read(line: &[u8]) -> Line {
    if let Some((level, end)) = syslog::priority(line) {
        return Line { stamped: true, reading: Some(Reading { level, body: Body::Syslog(end) }) };
    }
    if let Some((level, end)) = letter::redis(line) {
        return Line { stamped: true, reading: Some(Reading::text(level, end)) };
    }
    let mut head = Head::new(line);
    let reading = head.read();
    Line { stamped: head.stamped, reading }
}

impl<'a> Head<'a> {
    const fn new(line: &'a [u8]) -> Self {
        Self {
            line,
            at: 0,
            gap: Gap::Start,
            last: Last::Nothing,
            stamped: false,
            names: 0,
            plain: 0,
            named: false,
            category: false,
            tagged: false,
            pairs: false,
            loose: false,
        }
    }

    fn read(&mut self) -> Option<Reading> {
        for _ in 0..TOKENS_MAX {
            self.skip_gap();
            let limit = if self.pairs { PAIRS_BYTES_MAX } else { HEAD_BYTES_MAX };
            if self.at >= self.line.len().min(limit) {
                return None;
            }
            let step = match byte(self.line, self.at) {
                b'[' | b'(' | b'<' | b'{' => self.bracket(),
                b'"' => self.quoted(),
                _ => self.word(),
            };
            match step {
                Step::Found(reading) => return Some(reading),
                Step::Next => {}
                Step::Prose if self.pairs => self.loose = true,
                Step::Prose if self.tagged => return None,
                Step::Prose => return self.field_in_prose(),
                Step::Stop => return None,
            }
        }
        None
    }

    /// Skips blanks, colours, and marks that stand alone.
    fn skip_gap(&mut self) {
        let start = self.at;
        let mut gap = if start == 0 { Gap::Start } else { Gap::None };
        loop {
            let blank = after_blank(self.line, self.at);
            if blank > self.at && gap != Gap::Start && gap != Gap::Separator {
                let is_column = from(self.line, self.at).starts_with(b"  ")
                    || byte(self.line, self.at) == b'\t';
                gap = if is_column { Gap::Column } else { Gap::Space };
            }
            self.at = blank;
            let marks = run(self.line, self.at, is_mark);
            let ends = is_blank_or_end(byte(self.line, self.at + marks));
            let is_bar =
                matches!(byte(self.line, self.at), b'|' | b',' | b';' | b']' | b')' | b'>' | b'}');
            if marks == 0 || !(ends || is_bar) {
                break;
            }
            self.at += if ends { marks } else { 1 };
            gap = if start == 0 && gap == Gap::Start { Gap::Start } else { Gap::Separator };
        }
        // UTF-8 bars, bullets and arrows.
        if matches!(from(self.line, self.at), [0xe2, _, _, b' ', ..]) {
            self.at += 4;
            gap = Gap::Separator;
        }
        self.gap = gap;
    }

    fn bracket(&mut self) -> Step {
        let rest = from(self.line, self.at);
        if json::starts(rest) {
            let level = json::level(rest, None);
            return level.map_or(Step::Stop, |level| found(level, Body::Object(self.at)));
        }
        let Some(group) = group::at(self.line, self.at) else {
            self.at += 1;
            return Step::Next;
        };
        if self.gap == Gap::None && self.last == Last::Name {
            return self.glued(&group);
        }
        // `<error>` at the start of a line is an element of XML.
        let is_element = group.open == b'<'
            && !self.stamped
            && !group.content.iter().all(u8::is_ascii_uppercase);
        let is_field = !self.loose && !is_element;
        if is_field && let Some(level) = group.level() {
            return found(level, Body::Text(group.end));
        }
        if group.is_stamp() {
            self.stamp();
        } else if self.last != Last::Stamp {
            self.last = Last::Group;
        }
        self.at = group.end;
        Step::Next
    }

    /// Brackets that belong to the name before them: `sshd[42]:`.
    fn glued(&mut self, group: &Group<'_>) -> Step {
        self.at = group.end;
        self.named = true;
        if byte(self.line, self.at) == b':' {
            self.tagged = true;
            self.at += 1;
        }
        Step::Next
    }

    /// A quoted field of a CSV line, or the beginning of a message.
    fn quoted(&mut self) -> Step {
        let Some(end) = find(self.line, self.at + 1, b'"') else { return Step::Prose };
        let content = between(self.line, self.at + 1, end).trim_ascii();
        if !matches!(byte(self.line, end + 1), b',' | b';' | b'|' | b'\t') {
            return Step::Prose;
        }
        if let Some(level) = Level::named(content) {
            return found(level, Body::Text(end + 1));
        }
        let word = content.split(|byte| *byte == b' ').next().unwrap_or_default();
        self.at = end + 1;
        if classify(word) == Word::Stamp {
            self.stamp();
        } else {
            self.last = Last::Group;
        }
        Step::Next
    }

    fn word(&mut self) -> Step {
        let length = run(self.line, self.at, |byte| !ends_word(byte)).max(1);
        let word = between(self.line, self.at, self.at + length);
        if let Some(reading) = self.level(word) {
            return Step::Found(reading);
        }
        if let Some(step) = self.keyed(word) {
            return step;
        }
        self.at += length;
        if let Some(step) = self.colon(word) {
            return step;
        }
        self.name(word)
    }
}

const fn found(level: Level, body: Body) -> Step {
    Step::Found(Reading { level, body })
}

/// Marks that separate fields. A dash or star glued to text is part of the text.
const fn is_mark(byte: u8) -> bool {
    matches!(
        byte,
        b'-' | b'|'
            | b':'
            | b','
            | b';'
            | b'='
            | b'>'
            | b'*'
            | b'~'
            | b'!'
            | b'#'
            | b']'
            | b')'
            | b'}'
            | b'.'
    )
}
