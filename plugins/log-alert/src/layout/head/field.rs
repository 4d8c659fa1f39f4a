//! Whether a word in the head of a line is the level: it must be spelled as one, be delimited, and stand where a
//! field stands. Capitals are trusted further than other words, which any text may hold.

use super::{Gap, Head, Last};
use crate::layout::bytes::{after_blank, between, byte, ends_word, from, run};
use crate::layout::letter::{self, Place};
use crate::layout::word::{After, after, is_blank_or_end};
use crate::layout::{Reading, phrase, syslog};
use crate::level::Level;

/// Where prose has begun, a level stands before this.
const PROSE_BYTES_MAX: usize = 256;

impl Head<'_> {
    /// The level that this word is or holds, if its place is a field's.
    pub(super) fn level(&self, word: &[u8]) -> Option<Reading> {
        if self.loose {
            return None;
        }
        if let Some((level, length)) = phrase::level(from(self.line, self.at)) {
            return Some(Reading::text(level, self.at + length));
        }
        let letters = run(word, 0, |byte| byte.is_ascii_alphabetic());
        let end = self.at + letters;
        let behind = from(self.line, self.at + word.len());
        if let [letter @ b'A'..=b'Z', ..] = word
            && letters == 1
            && let Some(level) = self.letter(*letter, word, behind)
        {
            return Some(Reading::text(level, end));
        }
        if letters >= 3
            && let Some(reading) = self.spelled(between(word, 0, letters), end)
        {
            return Some(reading);
        }
        let whole = self.at + word.len();
        if let Some(level) = self.decorated(word) {
            return Some(Reading::text(level, whole));
        }
        if let Some(level) = letter::glib(word, behind) {
            return Some(Reading::text(level, whole + letter::GLIB_MARK.len()));
        }
        let marked = syslog::cisco(word).or_else(|| {
            if self.stamped || self.gap == Gap::Start { syslog::facility(word) } else { None }
        });
        marked.or_else(|| self.segment(word)).map(|level| Reading::text(level, whole))
    }

    fn letter(&self, letter: u8, word: &[u8], behind: &[u8]) -> Option<Level> {
        let is_clear = self.names == 0 && self.plain == 0;
        if let Some(level) = letter::glog(word, behind) {
            return Some(level);
        }
        let is_placed = self.gap == Gap::Start || (self.last == Last::Stamp && is_clear);
        if is_placed && let Some(level) = letter::logcat(word, behind, self.stamped) {
            return Some(level);
        }
        let place = Place {
            first: self.gap == Gap::Start,
            behind_stamp: self.stamped && self.last == Last::Stamp,
            column: self.stamped && self.gap == Gap::Column && self.plain == 0,
            named: self.stamped && self.plain == 0 && self.names <= 2,
            before_number: matches!(
                from(self.line, self.at + 1),
                [b' ', b'0'..=b'9', ..] | [b' ', b'(', b'0'..=b'9', ..]
            ),
        };
        letter::lone(letter, after(self.line, self.at + 1), place)
    }

    /// A level that is spelled out, at the start of a word.
    fn spelled(&self, letters: &[u8], end: usize) -> Option<Reading> {
        let is_capital = letters.iter().all(u8::is_ascii_uppercase);
        let named = Level::named(letters);
        if named.is_none() && byte(self.line, end) != b':' {
            return None;
        }
        let next = after(self.line, end);
        if next == After::Glued {
            return None;
        }
        let level = named.or_else(|| self.one_use(letters, is_capital, next))?;
        // Words that also begin a program's own sentences: `logrotate: ALERT exited abnormally`.
        let is_common =
            matches!(level, Level::Alert | Level::Failure | Level::Panic) && next == After::Space;
        if is_common && self.tagged {
            return None;
        }
        let is_field =
            if is_capital { self.takes_capitals(next) } else { self.takes_words(letters, next) };
        is_field.then_some(Reading::text(level, end))
    }

    /// `*ERROR*`, `-ERROR-`, `'ERROR'`: the same marks on both sides, and capitals.
    fn decorated(&self, word: &[u8]) -> Option<Level> {
        let marks = run(word, 0, |byte| {
            matches!(byte, b'*' | b'-' | b'=' | b'!' | b'\'' | b'#' | b'~' | b'_')
        });
        let inner = word.get(marks..word.len().checked_sub(marks)?)?;
        let is_even = marks > 0 && word.get(..marks) == word.get(word.len() - marks..);
        let is_placed =
            is_even && inner.iter().all(u8::is_ascii_uppercase) && self.plain + self.names == 0;
        if is_placed { Level::named(inner) } else { None }
    }

    /// Words that name levels before a colon alone: .NET's `fail:`, PostgreSQL's `LOG:` and the lines that belong to
    /// its errors, PHP's `PHP Fatal error:`.
    fn one_use(&self, letters: &[u8], is_capital: bool, next: After) -> Option<Level> {
        const POSTGRES: [&[u8]; 7] =
            [b"LOG", b"STATEMENT", b"DETAIL", b"HINT", b"CONTEXT", b"QUERY", b"LOCATION"];
        match (next, is_capital) {
            (After::Colon, true) if POSTGRES.contains(&letters) => Some(Level::Info),
            (After::Colon, true) if letters == b"CONFIG" => Some(Level::Info),
            (After::Colon, false) if letters == b"fail" && self.gap == Gap::Start => {
                Some(Level::Error)
            }
            _ => None,
        }
    }

    /// Whether a word in capitals is a field here.
    fn takes_capitals(&self, next: After) -> bool {
        let before = self.names + self.plain;
        let is_strong = matches!(
            next,
            After::Colon | After::Separator | After::Column | After::Open | After::Bang
        );
        let is_name = self.tagged || self.named;
        if next == After::Slash || (before > 0 && next == After::End) {
            return false;
        }
        self.stamped
            || before == 0
            || (before == 1 && (is_strong || is_name || self.last == Last::Pair))
    }

    /// Whether a lower-case or capitalised word is a field here: it needs hard edges, as any text holds `error`.
    fn takes_words(&self, letters: &[u8], next: After) -> bool {
        let is_clear = self.names == 0 && self.plain == 0;
        let is_own_line = is_clear || (self.category && self.names + self.plain == 1);
        if self.tagged || letters.iter().skip(1).any(u8::is_ascii_uppercase) {
            return false;
        }
        let is_edge = matches!(self.gap, Gap::Start | Gap::Separator | Gap::Column);
        match next {
            After::Colon => is_own_line || (self.stamped && self.gap == Gap::Column),
            After::Space => {
                self.last == Last::Stamp && is_clear && self.names_process(letters.len())
            }
            After::Slash => {
                self.last == Last::Stamp && is_clear && self.names_component(letters.len())
            }
            After::Separator | After::Column => is_edge || (self.last == Last::Stamp && is_clear),
            After::Comma => {
                is_edge && !is_blank_or_end(byte(self.line, self.at + letters.len() + 1))
            }
            _ => false,
        }
    }

    /// Behind the level stands `[context]` or `vpxd[1234]`, as VMware's programs write.
    fn names_process(&self, letters: usize) -> bool {
        let start = self.at + letters + 1;
        byte(self.line, start + run(self.line, start, |byte| !ends_word(byte))) == b'['
    }

    /// Icinga's `critical/ApiListener: text`.
    fn names_component(&self, letters: usize) -> bool {
        let start = self.at + letters + 1;
        let length = run(self.line, start, |byte| byte.is_ascii_alphabetic());
        length > 0 && byte(self.line, start + length) == b':'
    }

    /// A level between colons or behind a channel's dot: `123:ERROR:text`, `root:ERROR:text`, `app.ERROR:`.
    fn segment(&self, word: &[u8]) -> Option<Level> {
        let colons = word.iter().take(96).filter(|byte| **byte == b':').count();
        if colons == 0 || word.starts_with(b"http") {
            return None;
        }
        let is_capital = |part: &&[u8]| part.len() > 2 && part.iter().all(u8::is_ascii_uppercase);
        let mut parts = word.split(|byte| *byte == b':').take(colons.min(8));
        let is_clear = self.plain == 0 && !self.pairs;
        parts.find_map(|part| {
            let last = part.rsplit(|byte| *byte == b'.').next().filter(|_| is_clear)?;
            Level::named(Some(last).filter(is_capital)?)
        })
    }

    /// Prose may still be a field, as in `Payment Service | ERROR | text`: here a level must fill a field.
    pub(super) fn field_in_prose(&self) -> Option<Reading> {
        if !self.stamped {
            return None;
        }
        let end = self.line.len().min(PROSE_BYTES_MAX);
        let mut at = self.at;
        while at < end {
            let (start, capitals_only) = match from(self.line, at) {
                [b'|' | b'\t', ..] => (at + 1, false),
                [b' ', b'-', b' ', ..] => (at + 3, true),
                _ => {
                    at += 1;
                    continue;
                }
            };
            let start = after_blank(self.line, start);
            let letters = run(self.line, start, |byte| byte.is_ascii_alphabetic());
            let field = between(self.line, start, start + letters);
            let next = after(self.line, start + letters);
            let fills = matches!(next, After::Separator | After::Column);
            if let Some(level) = Level::named(field)
                && fills
                && (!capitals_only || field.iter().all(u8::is_ascii_uppercase))
            {
                return Some(Reading::text(level, start + letters));
            }
            at = start;
        }
        None
    }
}
