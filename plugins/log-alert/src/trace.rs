//! Lines of stack traces, by their shape: what belongs to the line before, and what begins a trace when no logger
//! has written a line with a level above it.

use crate::layout::bytes::{find, run};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Blank,
    /// A frame, a cause, a note: it never begins anything.
    Frame,
    /// Indented, which is a frame inside a trace and says nothing outside.
    Indented,
    /// An uncaught exception or a panic, as the runtime itself prints it.
    Crash,
    /// Python's `Traceback (most recent call last):`, which loggers print as well.
    Traceback,
    /// Between two Python traces of one event.
    Joint,
    /// `java.lang.Foo: text`, `ValueError: text`, `TypeError: text`.
    Exception,
    Other,
}

const CRASHES: [&[u8]; 9] = [
    b"Exception in thread \"",
    b"panic: ",
    b"fatal error: ",
    b"Unhandled exception",
    b"Unhandled Exception",
    b"Uncaught Exception",
    b"Uncaught exception",
    b"*** Terminating app due to uncaught exception",
    b"terminate called after throwing",
];
const FRAMES: [&[u8]; 16] = [
    b"at ",
    b"Caused by: ",
    b"Suppressed: ",
    b"Wrapped by: ",
    b"... ",
    b"File \"",
    b"goroutine ",
    b"created by ",
    b"[signal ",
    b"exit status ",
    b"stack backtrace:",
    b"note: run with `RUST_BACKTRACE",
    b"note: Some details are omitted",
    b"--- End of ",
    b"---> ",
    b"[CIRCULAR REFERENCE",
];
const JOINTS: [&[u8]; 2] =
    [b"During handling of the above exception", b"The above exception was the direct cause"];

pub(crate) fn shape(line: &[u8]) -> Shape {
    let indent = run(line, 0, |byte| matches!(byte, b' ' | b'\t'));
    let text = line.get(indent..).unwrap_or_default();
    let Some(first) = text.first() else { return Shape::Blank };
    if matches!(first, b'\r' | b'\n') {
        return Shape::Blank;
    }
    // Most lines begin with a stamp, and nothing here does.
    if indent == 0 && (first.is_ascii_digit() || matches!(first, b'{' | b'<')) {
        return Shape::Other;
    }
    let begins_with = |phrases: &[&[u8]]| phrases.iter().any(|phrase| text.starts_with(phrase));
    if begins_with(&FRAMES) {
        return if is_frame(text, indent) { Shape::Frame } else { Shape::Other };
    }
    if line.starts_with(b"\t") || indent > 1 {
        return Shape::Indented;
    }
    match first {
        b'T' if text.starts_with(b"Traceback (most recent call last)") => Shape::Traceback,
        b'D' | b'T' if begins_with(&JOINTS) => Shape::Joint,
        b't' if text.starts_with(b"thread '") && is_panic(text) => Shape::Crash,
        _ if begins_with(&CRASHES) => Shape::Crash,
        _ if exception(text).is_some() => Shape::Exception,
        _ => Shape::Other,
    }
}

/// Words like `at` and `goroutine` begin sentences, too: unless they are indented, more is asked for.
fn is_frame(text: &[u8], indent: usize) -> bool {
    match text {
        [b'.', b'.', b'.', b' ', rest @ ..] => rest.first().is_some_and(u8::is_ascii_digit),
        [b'a', b't', b' ', ..] | [b'F', b'i', b'l', b'e', ..] => indent > 0,
        [b'g', b'o', b'r', ..] => text.trim_ascii_end().ends_with(b"]:"),
        _ => true,
    }
}

/// Rust: `thread 'main' panicked at src/main.rs:2:5:`, `thread 'main' (123) panicked at …`.
fn is_panic(text: &[u8]) -> bool {
    const PANICKED: &[u8] = b" panicked at ";
    text.get(..160).unwrap_or(text).windows(PANICKED.len()).any(|part| part == PANICKED)
}

/// The class of a line that begins with an exception: a name in `…Error` or `…Exception`, then a colon or nothing.
pub(crate) fn exception(line: &[u8]) -> Option<&[u8]> {
    let line = line.trim_ascii_end();
    let length =
        run(line, 0, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'$'));
    let class = line.get(..length)?;
    let simple = class.rsplit(|byte| matches!(byte, b'.' | b'$')).next()?;
    let is_class = simple.first()?.is_ascii_uppercase()
        && (simple.ends_with(b"Error")
            || simple.ends_with(b"Exception")
            || simple.ends_with(b"Throwable"));
    let rest = line.get(length..)?;
    // A bare word is only a class when it is qualified: `Error` alone may be anything.
    let is_alone = rest.is_empty() && find(class, 0, b'.').is_some();
    (is_class && (is_alone || rest.starts_with(b": "))).then_some(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_many_languages() {
        for (line, want) in [
            ("", Shape::Blank),
            (" \r", Shape::Blank),
            ("\tat org.foo.Bar.baz(Bar.java:12)", Shape::Frame),
            ("    at fn (/app/x.js:1:2)", Shape::Frame),
            ("   at Foo.Bar() in /app/Foo.cs:line 1", Shape::Frame),
            ("Caused by: java.io.IOException: x", Shape::Frame),
            ("\t... 12 more", Shape::Frame),
            ("... 12 more", Shape::Frame),
            ("  File \"x.py\", line 1, in <module>", Shape::Frame),
            ("goroutine 1 [running]:", Shape::Frame),
            ("goroutine 1 has left", Shape::Other),
            ("at noon", Shape::Other),
            ("... and so on", Shape::Other),
            ("    raise ValueError", Shape::Indented),
            ("\tmain.go:12 +0x1d", Shape::Indented),
            ("Traceback (most recent call last):", Shape::Traceback),
            ("During handling of the above exception, another exception occurred:", Shape::Joint),
            ("Exception in thread \"main\" java.lang.Error: x", Shape::Crash),
            ("panic: runtime error: index out of range", Shape::Crash),
            ("thread 'main' panicked at src/main.rs:2:5:", Shape::Crash),
            ("thread 'main' (42) panicked at src/main.rs:2:5:", Shape::Crash),
            ("thread 'main' started", Shape::Other),
            ("java.lang.IllegalStateException: x", Shape::Exception),
            ("java.lang.NullPointerException", Shape::Exception),
            ("ValueError: x", Shape::Exception),
            ("TypeError: x is not a function\r", Shape::Exception),
            ("Error", Shape::Other),
            ("error: x", Shape::Other),
            ("ERROR: x", Shape::Other),
            ("NoError is good", Shape::Other),
        ] {
            assert_eq!(shape(line.as_bytes()), want, "{line}");
        }
    }
}
