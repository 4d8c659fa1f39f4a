//! JSON lines, read in place: a log line is looked at once, is often cut off at its end, and must cost no
//! allocation, so this reader skips where a parser would build. What it cannot read ends the line.

use super::bytes::{between, byte, find};
use super::key::{self, Scale};
use crate::level::Level;

/// Values nested deeper than this end the line.
const DEPTH_MAX: u32 = 64;

/// A value of an object, as it stands in the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    /// Between the quotes, escapes and all.
    String(&'a [u8]),
    /// The object from its brace on.
    Object(&'a [u8]),
    /// Numbers, `true`, `null`, and lists, which hold no level.
    Other(&'a [u8]),
}

/// The members of an object, in order, until its end or the first byte that cannot be read.
pub(crate) struct Members<'a> {
    text: &'a [u8],
    at: usize,
}

/// Whether a JSON object starts here: a brace, blanks, and a quote or the closing brace.
pub(crate) fn starts(text: &[u8]) -> bool {
    byte(text, 0) == b'{' && matches!(byte(text, blank(text, 1)), b'"' | b'}')
}

pub(crate) fn members(object: &[u8]) -> Members<'_> {
    Members { text: object, at: 1 }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a [u8], Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let start = blank(self.text, self.at);
        let start =
            if byte(self.text, start) == b',' { blank(self.text, start + 1) } else { start };
        let key_end = string_end(self.text, start)?;
        let colon = blank(self.text, key_end);
        if byte(self.text, colon) != b':' {
            return None;
        }
        let value_start = blank(self.text, colon + 1);
        // A line that was cut inside a value still tells of what it began with.
        let value_end = value_end(self.text, value_start).unwrap_or(self.text.len());
        self.at = value_end;
        let value = between(self.text, value_start, value_end);
        let key = between(self.text, start + 1, key_end - 1);
        Some((key, Value::of(value)?))
    }
}

impl<'a> Value<'a> {
    fn of(text: &'a [u8]) -> Option<Self> {
        Some(match text.first()? {
            b'"' => {
                let inner = text.get(1..)?;
                let closed = string_end(text, 0) == Some(text.len());
                Self::String(if closed {
                    inner.strip_suffix(b"\"").unwrap_or(inner)
                } else {
                    inner
                })
            }
            b'{' => Self::Object(text),
            _ => Self::Other(text),
        })
    }

    const fn scalar(self) -> Option<&'a [u8]> {
        match self {
            Self::String(text) | Self::Other(text) => Some(text),
            Self::Object(_) => None,
        }
    }
}

/// The level of an object: at `path` if one is set and found, else under one of the usual keys.
pub(crate) fn level(object: &[u8], path: Option<&str>) -> Option<Level> {
    path.and_then(|path| level_at(object, path.as_bytes())).or_else(|| level_by_key(object))
}

/// The object's own keys come first, whatever their order.
fn level_by_key(object: &[u8]) -> Option<Level> {
    let own = members(object).find_map(|(key, value)| member_level(key, value));
    own.or_else(|| {
        inner(object)
            .find_map(|inner| members(inner).find_map(|(key, value)| member_level(key, value)))
    })
}

/// Objects in which collectors and loggers put a record's fields.
fn inner(object: &[u8]) -> impl Iterator<Item = &[u8]> {
    const CONTAINERS: [&[u8]; 7] =
        [b"log", b"syslog", b"record", b"attributes", b"fields", b"data", b"event"];
    members(object).filter_map(|(key, value)| match value {
        Value::Object(inner) if CONTAINERS.contains(&key) => Some(inner),
        _ => None,
    })
}

fn member_level(key: &[u8], value: Value<'_>) -> Option<Level> {
    let scale = key::scale(key)?;
    match value {
        Value::String(text) | Value::Other(text) => key::value(scale, text),
        // loguru's `"level": {"name": "ERROR", "no": 40}`
        Value::Object(level) => members(level)
            .find(|(key, _)| *key == b"name")
            .and_then(|(_, name)| key::value(scale, name.scalar()?)),
    }
}

/// The level at a dotted path; a key may itself hold dots.
fn level_at(object: &[u8], path: &[u8]) -> Option<Level> {
    members(object).find_map(|(key, value)| match (path.strip_prefix(key)?, value) {
        ([], value) => key::value(Scale::Level, value.scalar()?),
        ([b'.', rest @ ..], Value::Object(inner)) => level_at(inner, rest),
        _ => None,
    })
}

/// The line that a collector has wrapped in an object without a level of its own.
pub(crate) fn wrapped(object: &[u8]) -> Option<&[u8]> {
    first_of(object, &key::WRAPPED)
}

/// The message of a log record.
pub(crate) fn message(object: &[u8]) -> Option<&[u8]> {
    first_of(object, &key::MESSAGE)
}

pub(crate) fn logger(object: &[u8]) -> Option<&[u8]> {
    let own = first_of(object, &key::LOGGER);
    own.or_else(|| inner(object).find_map(|inner| first_of(inner, &key::LOGGER)))
}

/// The string under the earliest of the names that the object has.
fn first_of<'a>(object: &'a [u8], names: &[&str]) -> Option<&'a [u8]> {
    let mut best = None;
    for (key, value) in members(object) {
        let (Some(rank), Value::String(text)) =
            (names.iter().position(|name| key::is(key, name)), value)
        else {
            continue;
        };
        if best.is_none_or(|(found, _)| rank < found) {
            best = Some((rank, text));
        }
        if rank == 0 {
            break;
        }
    }
    best.map(|(_, text)| text)
}

/// Appends a string's text without its escapes. What is no valid escape stays as it is.
pub(crate) fn unescape(raw: &[u8], into: &mut Vec<u8>) {
    let mut at = 0;
    while let Some(slash) = find(raw, at, b'\\') {
        into.extend_from_slice(between(raw, at, slash));
        at = slash + 2;
        match byte(raw, slash + 1) {
            b'n' => into.push(b'\n'),
            b't' => into.push(b'\t'),
            b'r' => into.push(b'\r'),
            b'b' | b'f' => into.push(b' '),
            b'u' => at = unescape_unit(raw, slash, into),
            0 => {}
            other => into.push(other),
        }
    }
    into.extend_from_slice(between(raw, at, raw.len()));
}

/// Appends the character of the `\u` and four digits (or of a surrogate pair) at `slash`, and tells where to go on.
fn unescape_unit(raw: &[u8], slash: usize, into: &mut Vec<u8>) -> usize {
    let Some(first) = unit(raw, slash) else {
        into.push(b'u');
        return slash + 2;
    };
    let second = unit(raw, slash + 6);
    let pair = char::decode_utf16([Some(first), second].into_iter().flatten()).next();
    let character = pair.and_then(Result::ok).unwrap_or(char::REPLACEMENT_CHARACTER);
    into.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    slash + if character.len_utf16() == 2 { 12 } else { 6 }
}

fn unit(raw: &[u8], slash: usize) -> Option<u16> {
    let digits = raw.get(slash..slash + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(core::str::from_utf8(digits).ok()?, 16).ok()
}

fn blank(text: &[u8], mut at: usize) -> usize {
    while matches!(byte(text, at), b' ' | b'\t' | b'\r' | b'\n') {
        at += 1;
    }
    at
}

/// Beyond the closing quote of the string that starts at `at`.
fn string_end(text: &[u8], at: usize) -> Option<usize> {
    if byte(text, at) != b'"' {
        return None;
    }
    let mut next = at + 1;
    loop {
        match text.get(next)? {
            b'"' => return Some(next + 1),
            b'\\' => next += 2,
            _ => next += 1,
        }
    }
}

/// Beyond the value that starts at `at`; `None` when it does not end.
fn value_end(text: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0;
    let mut next = at;
    loop {
        match text.get(next)? {
            b'"' => next = string_end(text, next)?,
            b'{' | b'[' if depth < DEPTH_MAX => (depth, next) = (depth + 1, next + 1),
            b'{' | b'[' => return None,
            b'}' | b']' if depth > 0 => (depth, next) = (depth - 1, next + 1),
            b'}' | b']' | b',' if depth == 0 => return Some(next),
            _ if depth > 0 => next += 1,
            _ => {
                next += 1;
                continue;
            }
        }
        if depth == 0 {
            return Some(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, want: Option<Level>) {
        assert_eq!(level(line.as_bytes(), None), want, "{line}");
    }

    #[test]
    fn levels_stand_under_many_keys() {
        check(r#"{"level":"error","msg":"x"}"#, Some(Level::Error));
        check(r#"{"time":"…","severity":"CRITICAL","message":"x"}"#, Some(Level::Critical));
        check(r#"{"level":50,"time":1531171074631,"msg":"x","pid":657}"#, Some(Level::Error));
        check(r#"{"t":{"$date":"2024"},"s":"E","c":"NETWORK","id":22}"#, Some(Level::Error));
        check(r#"{"@timestamp":"2024","log.level":"ERROR","message":"x"}"#, Some(Level::Error));
        check(r#"{"@timestamp":"2024","log":{"logger":"a","level":"ERROR"}}"#, Some(Level::Error));
        check(r#"{ "PRIORITY" : "3", "MESSAGE" : "x" }"#, Some(Level::Error));
        check(r#"{"version":"1.1","short_message":"x","level":3}"#, Some(Level::Error));
        check(r#"{"msg":"x","syslog":{"severity":3}}"#, Some(Level::Error));
        check(
            r#"{"text":"x","record":{"level":{"icon":"x","name":"ERROR","no":40}}}"#,
            Some(Level::Error),
        );
        check(r#"{"data":{"level":"error"},"level":"info"}"#, Some(Level::Info));
        check(r#"{"levelno": 40, "msg": "x"}"#, Some(Level::Error));
        check(r#"{"SeverityNumber":17,"Body":"x"}"#, Some(Level::Error));
        check(r#"{"@t":"2024","@l":"Fatal","@mt":"x"}"#, Some(Level::Fatal));
    }

    #[test]
    fn words_elsewhere_are_no_levels() {
        check(r#"{"level":"info","msg":"level=error \"level\":\"error\""}"#, Some(Level::Info));
        check(r#"{"msg":"ERROR"}"#, None);
        check(r#"{"event":"ERROR","text":"ERROR: x"}"#, None);
        check(r#"{"error":{"level":"error"},"status":"error"}"#, None);
        check(r#"{"tags":["level","error"],"level":"debug"}"#, Some(Level::Debug));
        check("{}", None);
    }

    #[test]
    fn a_line_that_was_cut_tells_what_it_has() {
        check(r#"{"level":"error","msg":"the start of a long li"#, Some(Level::Error));
        check(r#"{"msg":"the start of a long li"#, None);
        check(r#"{"level""#, None);
        check(r#"{"a":[[[{"#, None);
    }

    #[test]
    fn deep_nesting_ends_the_line_and_not_the_process() {
        let deep = format!(r#"{{"a":{}1,"level":"error"}}"#, "[".repeat(100_000));
        check(&deep, None);
    }

    #[test]
    fn a_path_names_the_level_and_the_usual_keys_stay_a_fallback() {
        let line = br#"{"level":"info","app":{"x.sev":"error"}}"#;
        assert_eq!(level(line, Some("app.x.sev")), Some(Level::Error));
        assert_eq!(level(line, Some("app.y")), Some(Level::Info));
    }

    #[test]
    fn escapes_are_undone() {
        let mut text = Vec::new();
        unescape(br#"a\tb\"c\\d\u00e9\ud83d\ude00\u12"#, &mut text);
        assert_eq!(String::from_utf8_lossy(&text), "a\tb\"c\\d\u{e9}\u{1f600}u12");
    }

    #[test]
    fn the_message_is_taken_by_rank_and_not_by_order() {
        let line = br#"{"event":"e","msg":"m","log":{"logger":"a.b"}}"#;
        assert_eq!(message(line), Some(&b"m"[..]));
        assert_eq!(logger(line), Some(&b"a.b"[..]));
    }
}
