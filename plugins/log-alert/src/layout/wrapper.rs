//! What collectors put around a line: Docker's JSON, Kubernetes' CRI prefix, docker compose's service name, a byte
//! order mark. The line inside is what the program wrote, and the one to read.

use super::bytes::{after_blank, byte, find, from, run};
use super::json;

/// More of a wrapped line than this is not looked at.
const INNER_BYTES_MAX: usize = 32 * 1024;

/// The text inside the wrappers. Escaped text is written to `scratch`, whose room is reused from line to line.
pub(crate) fn unwrap<'a>(line: &'a [u8], path: Option<&str>, scratch: &'a mut Vec<u8>) -> &'a [u8] {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let line = compose(cri(line));
    let object = from(line, after_blank(line, 0));
    if !json::starts(object) || json::level(object, path).is_some() {
        return line;
    }
    let Some(inner) = json::wrapped(object) else { return line };
    scratch.clear();
    json::unescape(inner.get(..INNER_BYTES_MAX).unwrap_or(inner), scratch);
    scratch
}

/// `2024-01-01T00:00:00.000000000Z stderr F text`
fn cri(line: &[u8]) -> &[u8] {
    let stamp = run(line, 0, |byte| byte != b' ');
    if !byte(line, 0).is_ascii_digit() || stamp < 20 {
        return line;
    }
    let rest = from(line, stamp + 1);
    let stream = rest.strip_prefix(b"stderr ").or_else(|| rest.strip_prefix(b"stdout "));
    match stream {
        Some([b'F' | b'P', b' ', text @ ..]) => text,
        Some([b'F' | b'P']) => &[],
        _ => line,
    }
}

/// `web_1  | text`, or `web-1 | text`
fn compose(line: &[u8]) -> &[u8] {
    if !byte(line, 0).is_ascii_lowercase() {
        return line;
    }
    let Some(bar) = find(line.get(..64).unwrap_or(line), 0, b'|') else { return line };
    let name = line.get(..bar).unwrap_or_default().trim_ascii();
    let is_service =
        name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
            && name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count() > 0
            && name.iter().any(|byte| matches!(byte, b'_' | b'-'));
    if is_service && byte(line, bar + 1) == b' ' { from(line, bar + 2) } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, want: &str) {
        let mut scratch = Vec::new();
        assert_eq!(String::from_utf8_lossy(unwrap(line.as_bytes(), None, &mut scratch)), want);
    }

    #[test]
    fn wrappers_are_taken_off() {
        check(r#"{"log":"a \"b\"\n","stream":"stderr","time":"2024"}"#, "a \"b\"\n");
        check("2016-10-06T00:17:09.669794202Z stderr F \tat a.b(C.java:1)", "\tat a.b(C.java:1)");
        check("2016-10-06T00:17:09.669794202Z stdout P", "");
        check("web_1  | ERROR x", "ERROR x");
        check("\u{feff}ERROR x", "ERROR x");
        check(r#"{"@timestamp":"2024","message":"ERROR x"}"#, "ERROR x");
    }

    #[test]
    fn other_lines_stay_as_they_are() {
        for line in [
            "a | b",
            "2024-01-01 stderr is closed",
            r#"{"level":"info","log":"x"}"#,
            r#"{"a":1}"#,
            "{",
        ] {
            check(line, line);
        }
    }
}
