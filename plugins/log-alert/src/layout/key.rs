//! Names under which a level stands in `key=value`, `key: value` and JSON, and how its value is read.
//! Keys are compared without case and punctuation: `log.level`, `log_level`, `LogLevel` and `@logLevel` are one.

use super::bytes::{after_blank, number, run};
use crate::level::Level;

/// How the value of a key is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// A name, a letter, syslog's or bunyan's number.
    Level,
    /// Python's `levelno`.
    Python,
    /// OpenTelemetry's `SeverityNumber`.
    OpenTelemetry,
    /// MongoDB's `s`: one letter, perhaps with a digit (`D1`).
    Letter,
    /// Names alone: a key that has other uses as well.
    Name,
}

const KEYS: [(&str, Scale); 23] = [
    ("level", Scale::Level),
    ("severity", Scale::Level),
    ("lvl", Scale::Level),
    ("loglevel", Scale::Level),
    ("levelname", Scale::Level),
    ("severitytext", Scale::Level),
    ("severitylabel", Scale::Level),
    ("severityname", Scale::Level),
    ("leveltext", Scale::Level),
    ("leveldisplayname", Scale::Level),
    ("logseverity", Scale::Level),
    ("logpriority", Scale::Level),
    ("priority", Scale::Level),
    ("prio", Scale::Level),
    ("sev", Scale::Level),
    ("pri", Scale::Level),
    ("syslogseverity", Scale::Level),
    ("errorseverity", Scale::Level),
    ("l", Scale::Name),
    ("at", Scale::Name),
    ("levelno", Scale::Python),
    ("severitynumber", Scale::OpenTelemetry),
    ("s", Scale::Letter),
];

/// Keys of the message, the best first.
#[rustfmt::skip]
pub(crate) const MESSAGE: [&str; 12] = [
    "message", "msg", "shortmessage", "m", "body", "textpayload", "event", "log", "mt", "text", "desc", "description",
];
/// Keys under which a collector puts a line that it has not looked into.
pub(crate) const WRAPPED: [&str; 3] = ["log", "message", "msg"];
/// Keys of the logger's name.
#[rustfmt::skip]
pub(crate) const LOGGER: [&str; 8] = [
    "logger", "loggername", "loglogger", "logname", "name", "component", "target", "sourcecontext",
];

/// Whether a key is `plain` but for case and punctuation. `plain` is lower case letters.
pub(crate) fn is(key: &[u8], plain: &str) -> bool {
    let mut letters = key.iter().filter(|byte| !matches!(byte, b'_' | b'-' | b'.' | b'@' | b' '));
    plain
        .bytes()
        .all(|wanted| letters.next().is_some_and(|byte| byte.to_ascii_lowercase() == wanted))
        && letters.next().is_none()
}

/// The scale of a key that holds a level.
pub(crate) fn scale(key: &[u8]) -> Option<Scale> {
    // The letters with which the keys begin: most words are none of them.
    let first = key.iter().find(|byte| byte.is_ascii_alphabetic())?.to_ascii_lowercase();
    if key.len() > 24 || !matches!(first, b'a' | b'e' | b'l' | b'p' | b's') {
        return None;
    }
    KEYS.iter().find(|(plain, _)| is(key, plain)).map(|(_, scale)| *scale)
}

/// Whether the value of this key is free text, in which nothing is a field.
pub(crate) fn is_text(key: &[u8]) -> bool {
    MESSAGE.iter().chain(&["err", "error", "reason", "desc", "query"]).any(|plain| is(key, plain))
}

/// The level that a key's value names. The value is bare: without its quotes.
pub(crate) fn value(scale: Scale, value: &[u8]) -> Option<Level> {
    let value = bare(value);
    if value.first().is_some_and(u8::is_ascii_digit) {
        let digits = run(value, 0, |byte| byte.is_ascii_digit());
        return if digits == value.len() { numbered(scale, number(value)?) } else { None };
    }
    match (scale, value) {
        (Scale::Letter, [letter]) => Level::lettered(*letter),
        (Scale::Letter, [b'D', _]) => Some(Level::Debug),
        (Scale::Letter, _) => None,
        (Scale::Level, [letter]) => Level::lettered(letter.to_ascii_uppercase()),
        _ => Level::named(value),
    }
}

fn numbered(scale: Scale, number: u32) -> Option<Level> {
    match scale {
        Scale::Level => Level::numbered(number),
        Scale::Python => Level::python(number),
        Scale::OpenTelemetry => Level::open_telemetry(number),
        Scale::Letter | Scale::Name => None,
    }
}

/// Without blanks, brackets and colours around it; colours also as JSON writes them (winston does).
fn bare(value: &[u8]) -> &[u8] {
    const COLOUR: &[u8] = b"\\u001b[";
    let mut value = value.get(after_blank(value, 0)..).unwrap_or_default();
    if value.len() > COLOUR.len()
        && value.get(..COLOUR.len()).is_some_and(|head| head.eq_ignore_ascii_case(COLOUR))
    {
        let code = run(value, 0, |byte| byte != b'm') + 1;
        value = value.get(code..).unwrap_or_default();
    }
    let is_end = |byte: u8| matches!(byte, b'\\' | 0x1b);
    let value = value.get(..run(value, 0, |byte| !is_end(byte))).unwrap_or_default().trim_ascii();
    let value = value.strip_prefix(b"[").unwrap_or(value);
    value.strip_suffix(b"]").unwrap_or(value).trim_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_compared_without_case_and_punctuation() {
        for key in [
            "level",
            "LEVEL",
            "log.level",
            "log_level",
            "logLevel",
            "@level",
            "severity_text",
            "PRIORITY",
        ] {
            assert!(scale(key.as_bytes()).is_some(), "{key}");
        }
        for key in ["levels", "sublevel", "error", "status", "", "severityx"] {
            assert!(scale(key.as_bytes()).is_none(), "{key}");
        }
    }

    #[test]
    fn values_are_names_letters_and_numbers() {
        for (scale, text, level) in [
            (Scale::Level, "error", Some(Level::Error)),
            (Scale::Level, " [ERROR] ", Some(Level::Error)),
            (Scale::Level, "\\u001b[31merror\\u001b[39m", Some(Level::Error)),
            (Scale::Level, "50", Some(Level::Error)),
            (Scale::Level, "3", Some(Level::Error)),
            (Scale::Level, "40000", None),
            (Scale::Level, "e", Some(Level::Error)),
            (Scale::Level, "3rd", None),
            (Scale::Letter, "E", Some(Level::Error)),
            (Scale::Letter, "Error", None),
            (Scale::Python, "40", Some(Level::Error)),
            (Scale::OpenTelemetry, "17", Some(Level::Error)),
            (Scale::Level, "DEFAULT", None),
            (Scale::Level, "", None),
        ] {
            assert_eq!(value(scale, text.as_bytes()), level, "{text}");
        }
    }
}
