//! What stands in the head beside the level: stamps, hosts, programs, threads, loggers. They are counted, and the
//! word that is none of them begins the message.

use super::{Gap, Head, Last, NAMES_MAX, PLAIN_MAX, Step};
use crate::layout::bytes::byte;
use crate::layout::word::{After, Word, after, classify};

impl Head<'_> {
    /// A word that ends in a colon names who speaks.
    pub(super) fn colon(&mut self, word: &[u8]) -> Option<Step> {
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

    pub(super) fn name(&mut self, word: &[u8]) -> Step {
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
    pub(super) fn stamp(&mut self) {
        self.stamped = true;
        self.last = Last::Stamp;
        self.tagged = false;
        self.category = false;
        self.plain = 0;
    }
}

/// `***`, `>>>`, `##` and the like, before a bracket or between words.
fn is_decoration(word: &[u8]) -> bool {
    word.iter().all(u8::is_ascii_punctuation)
}
