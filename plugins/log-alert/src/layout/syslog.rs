//! Syslog's own level fields: the number in `<PRI>` (RFC 3164 and 5424), `facility.severity` as rsyslog and
//! busybox write it, and Cisco's `%FACILITY-3-MNEMONIC`.

use super::bytes::{after_blank, byte, find, from, number, run};
use crate::level::Level;

/// 23 facilities of 8 severities.
const PRI_MAX: u32 = 191;

#[rustfmt::skip]
const FACILITIES: [&[u8]; 13] = [
    b"kern", b"user", b"mail", b"daemon", b"auth", b"syslog", b"lpr", b"news", b"uucp", b"cron", b"authpriv", b"ftp",
    b"ntp",
];

/// The level of `<PRI>` at the start of a line, and where the rest begins.
pub(crate) fn priority(line: &[u8]) -> Option<(Level, usize)> {
    let digits = line.strip_prefix(b"<")?;
    let count = run(digits, 0, |byte| byte.is_ascii_digit());
    let priority = number(digits)?;
    if count > 3 || priority > PRI_MAX || byte(digits, count) != b'>' {
        return None;
    }
    Some((Level::syslog(priority), count + 2))
}

/// The level of a word like `daemon.err` or `local0.warning`.
pub(crate) fn facility(word: &[u8]) -> Option<Level> {
    let dot = find(word, 0, b'.')?;
    let (facility, severity) = (word.get(..dot)?, word.get(dot + 1..)?);
    let is_local = facility.len() == 6 && facility.starts_with(b"local");
    if !is_local && !FACILITIES.contains(&facility) {
        return None;
    }
    Level::named(severity)
}

/// The level of a word like `%LINK-3-UPDOWN:`.
pub(crate) fn cisco(word: &[u8]) -> Option<Level> {
    let rest = word.strip_prefix(b"%")?;
    let facility =
        run(rest, 0, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    match from(rest, facility) {
        [b'-', severity @ b'0'..=b'7', b'-', ..] if facility > 1 => {
            Some(Level::syslog(u32::from(severity - b'0')))
        }
        _ => None,
    }
}

/// The program's name and the message behind `<PRI>`: `Jan  1 12:00:00 host app[1]: text`, or RFC 5424's
/// `1 STAMP host app procid msgid [data] text`.
pub(crate) fn split(rest: &[u8]) -> (Option<&[u8]>, &[u8]) {
    match rest.strip_prefix(b"1 ") {
        Some(fields) => split_5424(fields),
        None => split_3164(rest),
    }
}

fn split_5424(fields: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let mut parts = fields.splitn(6, |byte| *byte == b' ');
    let app = parts.nth(2);
    let mut rest = parts.nth(2).unwrap_or_default();
    if let Some(text) = rest.strip_prefix(b"-") {
        rest = text;
    } else {
        while byte(rest, 0) == b'[' {
            rest = from(rest, data_end(rest));
        }
    }
    let rest = rest.trim_ascii_start();
    (app.filter(|name| *name != b"-"), rest.strip_prefix(b"\xef\xbb\xbf").unwrap_or(rest))
}

/// Beyond one element of structured data, whose quoted values may hold brackets.
fn data_end(rest: &[u8]) -> usize {
    let mut quoted = false;
    let mut at = 0;
    while at < rest.len() {
        match byte(rest, at) {
            b'\\' => at += 1,
            b'"' => quoted = !quoted,
            b']' if !quoted => return at + 1,
            _ => {}
        }
        at += 1;
    }
    rest.len()
}

/// The tag is the first word with a colon that is no time of day.
fn split_3164(rest: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let mut at = 0;
    for _ in 0..8 {
        let start = after_blank(rest, at);
        at = start + run(rest, start, |byte| byte != b' ');
        let word = rest.get(start..at).unwrap_or_default();
        if let Some(tag) = word.strip_suffix(b":").filter(|tag| !tag.is_empty()) {
            let name = run(tag, 0, |byte| byte != b'[');
            return (tag.get(..name), from(rest, after_blank(rest, at)));
        }
    }
    (None, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pri_holds_the_severity_in_its_last_three_bits() {
        assert_eq!(priority(b"<11>Jan 1 12:00:00 h a: x"), Some((Level::Error, 4)));
        assert_eq!(priority(b"<165>1 2003"), Some((Level::Notice, 5)));
        assert_eq!(priority(b"<0>x"), Some((Level::Emergency, 3)));
        for line in ["<192>x", "<>x", "<1234>x", "<1x", "11>", "<a>"] {
            assert_eq!(priority(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn facility_and_severity_are_one_word() {
        assert_eq!(facility(b"daemon.err"), Some(Level::Error));
        assert_eq!(facility(b"local7.warning"), Some(Level::Warning));
        assert_eq!(facility(b"app.err"), None);
        assert_eq!(facility(b"kern.log"), None);
    }

    #[test]
    fn cisco_names_its_severity_by_number() {
        assert_eq!(cisco(b"%LINK-3-UPDOWN:"), Some(Level::Error));
        assert_eq!(cisco(b"%ASA-6-302013:"), Some(Level::Info));
        assert_eq!(cisco(b"%d-3-x"), None);
        assert_eq!(cisco(b"%LINK-9-UPDOWN:"), None);
    }

    #[test]
    fn program_and_message_are_told_apart() {
        let check = |rest: &str, app: Option<&str>, message: &str| {
            let (found, text) = split(rest.as_bytes());
            assert_eq!(found, app.map(str::as_bytes), "{rest}");
            assert_eq!(text, message.as_bytes(), "{rest}");
        };
        check("Jan  1 12:00:00 host app[42]: it broke", Some("app"), "it broke");
        check("1 2003-10-11T22:14:15.003Z host su - ID47 - it broke", Some("su"), "it broke");
        check(
            "1 2003-10-11T22:14:15.003Z host su 1 - [a@1 b=\"x]\"][c] it broke",
            Some("su"),
            "it broke",
        );
        check("no tag here", None, "no tag here");
    }
}
