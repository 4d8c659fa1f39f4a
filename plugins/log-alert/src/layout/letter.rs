//! Layouts that write the level as one letter. A letter alone proves nothing, so each needs its own surroundings:
//! glog's date, logcat's tag, Ruby's comma, capnslog's bar, or a stamp right before it. Also the marks of GLib and Redis.

use super::bytes::{byte, find, from, run};
use super::word::{After, is_blank_or_end};
use crate::level::Level;

/// glog, klog and CockroachDB: `E0102 15:04:05.000000`, `E20240102 …`; `word` starts in the head of a line.
pub(crate) fn glog(word: &[u8], behind: &[u8]) -> Option<Level> {
    let digits = run(word, 1, |byte| byte.is_ascii_digit());
    let time = behind.trim_ascii_start();
    let is_dated = matches!(digits, 4 | 6 | 8) && word.len() == digits + 1;
    let is_timed = byte(time, 0).is_ascii_digit() && byte(time, 2) == b':';
    if is_dated && is_timed { Level::lettered(byte(word, 0)) } else { None }
}

/// Android's `E/Tag(123): ` and `E/Tag: `.
pub(crate) fn logcat(word: &[u8], behind: &[u8], stamped: bool) -> Option<Level> {
    let [letter, b'/', tag @ ..] = word else { return None };
    let is_tag = word.ends_with(b":") || behind.trim_ascii_start().starts_with(b"(") || stamped;
    if is_tag && byte(tag, 0).is_ascii_alphabetic() { Level::lettered(*letter) } else { None }
}

/// Where a lone letter stands in the head of a line.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about the surroundings")]
pub(crate) struct Place {
    /// Nothing stands before it.
    pub first: bool,
    /// A stamp or a number stands right before it, in a stamped line.
    pub behind_stamp: bool,
    /// Two spaces or a tab stand before it, in a stamped line.
    pub column: bool,
    /// A stamp and at most two names stand before it.
    pub named: bool,
    /// A number stands behind it, perhaps in parentheses: ESP-IDF's `E (1234) wifi:`.
    pub before_number: bool,
}

/// A lone capital letter: Ruby's `E, [`, apt's `E: `, logcat's and MongoDB's ` E `, capnslog's ` E | `.
pub(crate) fn lone(letter: u8, after: After, place: Place) -> Option<Level> {
    let is_level = match after {
        After::Comma | After::Colon => place.first || place.behind_stamp,
        After::Separator => place.first || place.behind_stamp || place.column,
        After::Space => place.behind_stamp || (place.first && place.before_number),
        After::Column => place.behind_stamp || place.column || place.named,
        _ => false,
    };
    if is_level { Level::lettered(letter) } else { None }
}

pub(crate) const GLIB_MARK: &[u8] = b" **:";

/// GLib's `Gtk-WARNING **: text`, `GLib-ERROR **: text`.
pub(crate) fn glib(word: &[u8], behind: &[u8]) -> Option<Level> {
    if !behind.starts_with(GLIB_MARK) {
        return None;
    }
    Level::named(word.rsplit(|byte| *byte == b'-').next()?)
}

/// Redis marks its levels: `1:M 01 Jan 2024 12:00:00.123 # text`, where `#` is a warning.
pub(crate) fn redis(line: &[u8]) -> Option<(Level, usize)> {
    let pid = run(line, 0, |byte| byte.is_ascii_digit());
    let is_role = matches!(from(line, pid), [b':', b'C' | b'M' | b'S' | b'X' | b'R', b' ', ..]);
    if pid == 0 || !is_role {
        return None;
    }
    let time = find(line, pid + 1, b':')?;
    let end = time + run(line, time, |byte| matches!(byte, b'0'..=b'9' | b':' | b'.'));
    let level = match byte(line, end + 1) {
        b'#' => Level::Warning,
        b'*' => Level::Notice,
        b'-' => Level::Info,
        b'.' => Level::Debug,
        _ => return None,
    };
    if byte(line, end) == b' ' && is_blank_or_end(byte(line, end + 2)) {
        Some((level, end + 2))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glog_needs_its_date_and_time() {
        assert_eq!(glog(b"E0102", b" 15:04:05.000000 123 file.go:12] x"), Some(Level::Error));
        assert_eq!(glog(b"W20240102", b" 15:04:05.1 1 f.cc:1] x"), Some(Level::Warning));
        assert_eq!(glog(b"E0102", b" is a part number"), None);
        assert_eq!(glog(b"E42", b" 15:04:05"), None);
    }

    #[test]
    fn logcat_needs_its_tag() {
        assert_eq!(logcat(b"E/Zygote", b"(  123): x", false), Some(Level::Error));
        assert_eq!(logcat(b"E/Zygote:", b" x", false), Some(Level::Error));
        assert_eq!(logcat(b"I/O", b" error on device", false), None);
        assert_eq!(logcat(b"N/A", b" x", false), None);
    }

    #[test]
    fn redis_marks_are_no_letters() {
        assert_eq!(
            redis(b"1:M 01 Jan 2024 12:00:00.123 # Out of memory").map(|(level, _)| level),
            Some(Level::Warning)
        );
        assert_eq!(
            redis(b"1:M 01 Jan 2024 12:00:00.123 * Ready").map(|(level, _)| level),
            Some(Level::Notice)
        );
        assert_eq!(redis(b"1:M 01 Jan 2024 12:00:00.123 Ready"), None);
        assert_eq!(redis(b"12:00:00 # x"), None);
    }
}
