//! The message of a line and the name of its logger. Read for lines that raise an alert and no others, so this
//! may allocate.

use super::bytes::{after_blank, between, byte, from, run};
use super::word::{Word, classify};
use super::{Body, group, json, key, syslog};

/// More of a message than this is not looked at.
const MESSAGE_BYTES_MAX: usize = 8 * 1024;

/// What a line says, apart from its level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub text: String,
    pub logger: Option<String>,
}

impl Message {
    /// The message of a line whose level has been found.
    pub(crate) fn read(line: &[u8], body: Body) -> Self {
        match body {
            Body::Text(at) => Self::behind(from(line, at)),
            Body::Syslog(at) => Self::of_syslog(from(line, at)),
            Body::Pairs => Self::of_pairs(line),
            Body::Object(at) => Self::of_object(from(line, at)),
        }
        .or_whole(line)
    }

    /// The message of a line without a level: all of it.
    pub(crate) fn whole(line: &[u8]) -> Self {
        Self { text: lossy(line), logger: None }
    }

    fn new(text: &[u8], logger: Option<&[u8]>) -> Self {
        Self { text: lossy(text), logger: logger.map(lossy).filter(|name| !name.is_empty()) }
    }

    fn or_whole(self, line: &[u8]) -> Self {
        if self.text.is_empty() { Self { text: lossy(line), ..self } } else { self }
    }

    fn behind(rest: &[u8]) -> Self {
        let text = from(rest, after_fields(rest));
        let text = from(text, after_place(text));
        let (logger, start) = logger(text);
        Self::new(from(text, start), logger)
    }

    fn of_syslog(rest: &[u8]) -> Self {
        let (program, text) = syslog::split(rest);
        Self::new(text, program)
    }

    fn of_object(object: &[u8]) -> Self {
        let unescaped = |raw: &[u8]| {
            let mut text = Vec::new();
            json::unescape(raw.get(..MESSAGE_BYTES_MAX).unwrap_or(raw), &mut text);
            text
        };
        let text = json::message(object).map(unescaped).unwrap_or_default();
        Self::new(&text, json::logger(object).map(unescaped).as_deref())
    }

    fn of_pairs(line: &[u8]) -> Self {
        let find = |names: &[&str]| names.iter().find_map(|name| pair(line, name));
        Self::new(find(&key::MESSAGE).unwrap_or_default(), find(&key::LOGGER))
    }
}

/// The value of a key in `key=value` text, without its quotes.
fn pair<'a>(line: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let mut at = 0;
    while at < line.len() {
        let start = after_blank(line, at);
        let key_end = start + run(line, start, |byte| !matches!(byte, 0..=b' ' | b'=' | b'"'));
        if byte(line, key_end) != b'=' {
            at = key_end.max(start) + 1;
            continue;
        }
        let quoted = byte(line, key_end + 1) == b'"';
        let value_start = key_end + 1 + usize::from(quoted);
        let mut value_end = value_start;
        while value_end < line.len() && !ends_value(byte(line, value_end), quoted) {
            value_end += if quoted && byte(line, value_end) == b'\\' { 2 } else { 1 };
        }
        if key::is(between(line, start, key_end), name) {
            return Some(between(line, value_start, value_end));
        }
        at = value_end + usize::from(quoted);
    }
    None
}

const fn ends_value(byte: u8, quoted: bool) -> bool {
    if quoted { byte == b'"' } else { byte <= b' ' }
}

/// Beyond marks, stamps and numbers that follow a level.
fn after_fields(rest: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let marks = run(rest, at, |byte| {
            matches!(
                byte,
                b' ' | b'\t' | b'\r' | b':' | b'-' | b'|' | b',' | b';' | b']' | b')' | b'>' | b'!'
            )
        });
        at = after_blank(rest, at + marks);
        let length = run(rest, at, |byte| !matches!(byte, 0..=b' ' | b']' | b',' | b'|'));
        let word = between(rest, at, at + length);
        let is_field = matches!(classify(word), Word::Stamp | Word::Number)
            && word.iter().any(u8::is_ascii_digit);
        if length == 0 || !is_field || is_blank(from(rest, at + length)) {
            return at;
        }
        at += length;
    }
}

fn is_blank(rest: &[u8]) -> bool {
    rest.trim_ascii().is_empty()
}

/// Beyond glog's `file.go:12] `.
fn after_place(text: &[u8]) -> usize {
    let length = run(text, 0, |byte| !matches!(byte, 0..=b' ' | b']' | b'['));
    let is_place = byte(text, length) == b']' && between(text, 0, length).contains(&b':');
    if is_place { after_blank(text, length + 1) } else { 0 }
}

/// A logger's name at the start of the text, behind thread names in brackets: `[main] org.foo.Bar: `, `org.foo - `.
/// Gives the name and where the message begins.
fn logger(text: &[u8]) -> (Option<&[u8]>, usize) {
    let (start, is_marked) = after_groups(text);
    let length = run(text, start, is_name);
    let name = between(text, start, start + length);
    let end = start + length;
    let end =
        group::at(text, end).filter(|group| group.open == b'[').map_or(end, |group| group.end);
    let found = match name.strip_suffix(b":") {
        Some(stem) => Some((stem, end)),
        None => mark_end(text, end).map(|end| (name, end)),
    };
    let named =
        found.filter(|(name, _)| name.len() > 1 && name.iter().any(u8::is_ascii_alphabetic));
    let named = named.map(|(name, end)| (Some(name), after_blank(text, end)));
    let unnamed = (None, if is_marked { start } else { 0 });
    named.filter(|(_, start)| *start < text.len()).unwrap_or(unnamed)
}

/// Beyond groups in brackets at the start, and whether a dash ends them.
fn after_groups(text: &[u8]) -> (usize, bool) {
    let (mut at, mut is_marked) = (0, false);
    while let Some(group) = group::at(text, at) {
        let marks = run(text, group.end, |byte| matches!(byte, b' ' | b'-' | b'|'));
        let mark = between(text, group.end, group.end + marks);
        is_marked = mark.windows(2).any(|pair| matches!(pair, b"- " | b"| "));
        at = group.end + marks;
    }
    (at, is_marked && at < text.len())
}

/// Beyond the ` - `, ` : ` or ` | ` behind a logger's name.
fn mark_end(text: &[u8], at: usize) -> Option<usize> {
    let mark = after_blank(text, at);
    let length = run(text, mark, |byte| matches!(byte, b'-' | b':' | b'|'));
    (length > 0 && (mark > at || byte(text, mark) != b'-')).then_some(mark + length)
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'.' | b'_' | b'-' | b'$' | b'/' | b'@' | b':' | b'#')
}

fn lossy(text: &[u8]) -> String {
    let text = text.get(..MESSAGE_BYTES_MAX).unwrap_or(text);
    String::from_utf8_lossy(text).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rest: &str, logger: Option<&str>, text: &str) {
        let found = Message::behind(rest.as_bytes());
        assert_eq!((found.logger.as_deref(), found.text.as_str()), (logger, text), "{rest}");
    }

    #[test]
    fn loggers_stand_before_a_mark() {
        check(" [main] org.foo.Bar: it broke", Some("org.foo.Bar"), "it broke");
        check("  org.foo.Bar - it broke", Some("org.foo.Bar"), "it broke");
        check(" 12345 --- [main] c.e.App  : it broke", Some("c.e.App"), "it broke");
        check(":root:it broke", None, "root:it broke");
        check("] it broke", None, "it broke");
        check("0102 15:04:05.000000 123 file.go:12] it broke", None, "it broke");
        check(" [SendWorker:1:Quorum@679] - it broke", None, "it broke");
    }

    #[test]
    fn brackets_without_a_logger_stay_in_the_message() {
        check(" [KafkaServer id=0] Fatal error", None, "[KafkaServer id=0] Fatal error");
    }

    #[test]
    fn pairs_name_their_message() {
        let line = br#"time="2024" level=error msg="it \"broke\"" logger=db"#;
        let message = Message::read(line, Body::Pairs);
        assert_eq!(message.text, r#"it \"broke\""#);
        assert_eq!(message.logger.as_deref(), Some("db"));
    }
}
