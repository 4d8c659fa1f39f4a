//! What stands in brackets: a whole level (`[ERROR]`, `<Error>`, `(EE)`), one among stamps and modules
//! (`[2024-01-01T00:00:00Z ERROR app]`, `[core:error]`, `[12:00:00 ERR]`), or nothing of interest.

use super::bytes::{between, byte, find, number, run};
use super::key;
use super::word::{Word, classify};
use crate::level::Level;

/// A group that is longer than this is part of a message.
const GROUP_BYTES_MAX: usize = 240;

/// A bracketed part of the line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group<'a> {
    pub open: u8,
    pub content: &'a [u8],
    /// Beyond the closing bracket.
    pub end: usize,
}

/// The group that opens at `at`, with brackets of its own kind nested in it.
pub(crate) fn at(line: &[u8], at: usize) -> Option<Group<'_>> {
    let open = byte(line, at);
    let close = match open {
        b'[' => b']',
        b'(' => b')',
        b'{' => b'}',
        b'<' => b'>',
        _ => return None,
    };
    let mut depth = 0_u32;
    for (offset, byte) in between(line, at, at + GROUP_BYTES_MAX).iter().enumerate() {
        if *byte == open {
            depth += 1;
        } else if *byte == close {
            depth -= 1;
            if depth == 0 {
                return Some(Group {
                    open,
                    content: between(line, at + 1, at + offset),
                    end: at + offset + 1,
                });
            }
        }
    }
    None
}

impl Group<'_> {
    /// The level that this group is or holds.
    pub(crate) fn level(&self) -> Option<Level> {
        let content = self.content.trim_ascii();
        self.whole(content).or_else(|| if self.open == b'[' { compound(content) } else { None })
    }

    fn whole(&self, content: &[u8]) -> Option<Level> {
        let is_capital = content.iter().all(u8::is_ascii_uppercase);
        match (self.open, content) {
            (b'[', [letter]) => Level::lettered(*letter),
            (b'(', b"EE") => Some(Level::Error),
            (b'(', b"WW") => Some(Level::Warning),
            (b'(', b"II") => Some(Level::Info),
            (b'(' | b'{', _) if !is_capital => None,
            _ => Level::named(content).or_else(|| Level::named(content.strip_suffix(b":")?)),
        }
    }

    /// Whether the content begins as a date or a time does.
    pub(crate) fn is_stamp(&self) -> bool {
        let content = self.content.trim_ascii();
        let word =
            content.split(|byte| matches!(byte, b' ' | b',' | b'[')).next().unwrap_or_default();
        let is_uptime =
            !word.is_empty() && word.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
        classify(word) == Word::Stamp || is_uptime || is_calendar(word, content)
    }
}

/// `[Sun Dec 04 04:51:14 2005]`, `[01-Jan-2024 12:00:00 UTC]`.
fn is_calendar(word: &[u8], content: &[u8]) -> bool {
    (classify(word) == Word::Number && content.contains(&b':')) && content.len() > 12
}

/// A level among other things in square brackets.
fn compound(content: &[u8]) -> Option<Level> {
    if let Some(level) = tornado(content).or_else(|| pair(content)).or_else(|| thread(content)) {
        return Some(level);
    }
    let mut start = 0;
    let mut only_numbers = true;
    while start < content.len() {
        let end = start + run(content, start, |byte| !is_mark(byte));
        let part = between(content, start, end);
        if let Some(level) = Level::named(part)
            && (part.iter().all(u8::is_ascii_uppercase)
                || is_lone(content, start, end, only_numbers))
        {
            return Some(level);
        }
        match classify(part) {
            _ if part.is_empty() => {}
            Word::Stamp | Word::Number => {}
            Word::Prose => return None,
            _ => only_numbers = false,
        }
        start = end + 1;
    }
    None
}

/// Whether a lower-case part is a field all the same: behind stamps alone, or `module:level`.
fn is_lone(content: &[u8], start: usize, end: usize, only_numbers: bool) -> bool {
    let is_last = end == content.len();
    let is_module =
        start > 0 && matches!(byte(content, start - 1), b':' | b'#') && !content.contains(&b' ');
    is_last && (is_module || (only_numbers && start > 0))
}

const fn is_mark(byte: u8) -> bool {
    matches!(byte, b' ' | b':' | b'|' | b',' | b';' | b'/' | b'#' | b'\t')
}

/// Minecraft's and celery's `[Server thread/ERROR]`.
fn thread(content: &[u8]) -> Option<Level> {
    let slash = content.iter().rposition(|byte| *byte == b'/')?;
    let last = content.get(slash + 1..)?;
    if last.iter().all(u8::is_ascii_uppercase) { Level::named(last) } else { None }
}

/// Tornado's `[E 240101 12:00:00 web:1064]`.
fn tornado(content: &[u8]) -> Option<Level> {
    let [letter, b' ', rest @ ..] = content else { return None };
    number(rest).and_then(|_| Level::lettered(*letter))
}

/// `[level=error]`, `[severity: error]`.
fn pair(content: &[u8]) -> Option<Level> {
    let mark = find(content, 0, b'=').or_else(|| find(content, 0, b':'))?;
    let value = content.get(mark + 1..)?;
    if value.trim_ascii().first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    key::value(key::scale(between(content, 0, mark))?, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Option<Level>) {
        assert_eq!(at(text.as_bytes(), 0).and_then(|group| group.level()), want, "{text}");
    }

    #[test]
    fn a_group_that_is_a_level_is_one_in_any_case() {
        check("[error]", Some(Level::Error));
        check("[ ERROR ]", Some(Level::Error));
        check("[E]", Some(Level::Error));
        check("<Error>", Some(Level::Error));
        check("(ERROR)", Some(Level::Error));
        check("(EE)", Some(Level::Error));
    }

    #[test]
    fn a_level_may_stand_among_stamps_and_modules() {
        check("[core:error]", Some(Level::Error));
        check("[:error]", Some(Level::Error));
        check("[2024-01-01T00:00:00Z ERROR my_crate::db]", Some(Level::Error));
        check("[12:00:00 ERR]", Some(Level::Error));
        check("[12:00:00 err]", Some(Level::Error));
        check("[2024-01-01 12:00:00,123: ERROR/MainProcess]", Some(Level::Error));
        check("[1234:5678:0101/120000.123456:ERROR:gpu_init.cc(441)]", Some(Level::Error));
        check("[E 240101 12:00:00 web:1064]", Some(Level::Error));
        check("[level=error]", Some(Level::Error));
        check("[Server thread/ERROR]", Some(Level::Error));
        check("[twisted.web#error]", Some(Level::Error));
    }

    #[test]
    fn other_groups_hold_no_level() {
        for text in [
            "[preauth]",
            "[main]",
            "[Error-Handler-1]",
            "[CardDAVPlugin-ERROR]",
            "[error handler]",
            "[lvl=3]",
            "(error)",
            "{error}",
            "[Saw an ERROR here]",
            "[no error]",
            "[",
            "[]",
            "[ERROR",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn nested_brackets_belong_to_the_group() {
        let group = at(b"[QuorumPeer[myid=1]/0:0] x", 0).expect("a group");
        assert_eq!(group.end, 24);
    }
}
