//! The head of a line: stamps, hosts, threads, loggers, and among them the level. One pass over its tokens, from
//! the left; the first token in a field's position that is a level is the line's level. Where prose begins the
//! message begins, and words in a message are no levels.

use super::bytes::{after_blank, between, byte, ends_word, find, from, run};
use super::group::{self, Group};
use super::json;
use super::key::{self, Scale};
use super::letter::{self, Place};
use super::phrase;
use super::syslog;
use super::word::{After, Word, after, classify, is_blank_or_end};
use super::{Body, Line, Reading};
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
            return level.map_or(Step::Stop, |level| self.found(level, Body::Object(self.at)));
        }
        let Some(group) = group::at(self.line, self.at) else {
            self.at += 1;
            return Step::Next;
        };
        if self.gap == Gap::None && self.last == Last::Name {
            return self.glued(&group);
        }
        // `<error>` at the start of a line is an element of XML.
        let is_field = !self.loose && (group.open != b'<' || self.stamped);
        if is_field && let Some(level) = group.level() {
            return self.found(level, Body::Text(group.end));
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
            return self.found(level, Body::Text(end + 1));
        }
        let word = content.split(|byte| *byte == b' ').next().unwrap_or_default();
        self.at = end + 1;
        if classify(word) == Word::Stamp {
            self.stamp()
        } else {
            self.last = Last::Group
        };
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

    /// The level that this word is or holds, if its place is a field's.
    fn level(&self, word: &[u8]) -> Option<Reading> {
        if self.loose {
            return None;
        }
        if let Some((level, length)) = phrase::level(from(self.line, self.at)) {
            return Some(Reading::text(level, self.at + length));
        }
        let letters = run(word, 0, |byte| byte.is_ascii_alphabetic());
        let end = self.at + letters;
        let behind = from(self.line, self.at + word.len());
        if let [letter @ b'A'..=b'Z', ..] = word {
            if letters == 1
                && let Some(level) = self.letter(*letter, word, behind)
            {
                return Some(Reading::text(level, end));
            }
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
        let marked = syslog::cisco(word)
            .or_else(|| if self.stamped { syslog::facility(word) } else { None });
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

    /// `key=value` and `key: value`.
    fn keyed(&mut self, word: &[u8]) -> Option<Step> {
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
            return self.found(level, Body::Pairs);
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
        Some(self.found(level, Body::Text(end)))
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

    /// A word that ends in a colon names who speaks.
    fn colon(&mut self, word: &[u8]) -> Option<Step> {
        let stem = word.strip_suffix(b":").filter(|stem| !stem.is_empty())?;
        if matches!(classify(stem), Word::Stamp | Word::Number) {
            return None;
        }
        if self.tagged && !stem.contains(&b'.') {
            return Some(Step::Prose);
        }
        let is_first = self.names + self.plain == 0;
        self.category = is_first && self.last == Last::Stamp;
        self.named = true;
        // Behind a host stands syslog's tag.
        self.tagged |= self.stamped && !is_first;
        self.names += 1;
        self.last = Last::Name;
        Some(if self.names > NAMES_MAX { Step::Prose } else { Step::Next })
    }

    fn name(&mut self, word: &[u8]) -> Step {
        let class = classify(word);
        if is_decoration(word) {
            self.last = Last::Group;
            return Step::Next;
        }
        match class {
            Word::Stamp => self.stamp(),
            Word::Number if self.stamped => self.last = Last::Stamp,
            Word::Number => self.last = Last::Group,
            Word::Prose if !self.fills_column() => return Step::Prose,
            Word::Plain => self.plain += 1,
            Word::Capitals | Word::Name | Word::Prose => self.names += 1,
        }
        if matches!(class, Word::Stamp | Word::Number) {
            return Step::Next;
        }
        self.last = Last::Name;
        self.named = word.contains(&b'.');
        let is_foreign = self.tagged && !word.contains(&b'.');
        let is_full = self.names > NAMES_MAX || self.plain > PLAIN_MAX;
        if is_foreign || is_full { Step::Prose } else { Step::Next }
    }

    /// A word that fills a column by itself is a name, whatever it looks like, and so is `named[42]`. The word has
    /// been passed.
    fn fills_column(&self) -> bool {
        if byte(self.line, self.at) == b'[' {
            return true;
        }
        let is_edge = matches!(self.gap, Gap::Column | Gap::Separator) || self.last == Last::Stamp;
        self.stamped
            && is_edge
            && matches!(after(self.line, self.at), After::Column | After::Separator)
    }

    /// A stamp begins a head of its own, also behind a tag: the program's.
    fn stamp(&mut self) {
        self.stamped = true;
        self.last = Last::Stamp;
        self.tagged = false;
        self.category = false;
        self.plain = 0;
    }

    /// Prose may still be a field, as in `Payment Service | ERROR | text`: here a level must fill a field.
    fn field_in_prose(&self) -> Option<Reading> {
        if !self.stamped {
            return None;
        }
        let end = self.line.len().min(HEAD_BYTES_MAX / 2);
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

    const fn found(&self, level: Level, body: Body) -> Step {
        Step::Found(Reading { level, body })
    }
}

/// `***`, `>>>`, `##` and the like, before a bracket or between words.
fn is_decoration(word: &[u8]) -> bool {
    word.iter().all(u8::is_ascii_punctuation)
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
