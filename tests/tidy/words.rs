//! What every file begins with, and what none may hold.

use super::{
    assert_none,
    source::{Source, code, rust},
};

/// What code may not hold, and why.
const BANNED: &[(&str, &str)] = &[
    ("dbg!", "left from debugging"),
    ("todo!(", "not written yet"),
    ("unimplemented!(", "not written yet"),
    ("#[allow(", "say `#[expect(…, reason = \"…\")]`, which ends when its reason does"),
    ("#![allow(", "say `#![expect(…, reason = \"…\")]`, which ends when its reason does"),
    ("#[ignore", "a test that does not run protects nothing"),
    ("unbounded_channel", "every queue has a limit"),
];

/// These files hold the words that they look for.
fn is_this(source: &Source) -> bool {
    source.path.starts_with("tests/tidy")
}

/// Written by a tool: `cargo xtask bindings`.
fn is_generated(source: &Source) -> bool {
    source.path.contains("/bindings/")
}

fn judged() -> impl Iterator<Item = Source> {
    rust().into_iter().filter(|it| !is_generated(it))
}

#[test]
fn every_file_begins_with_what_it_is_about() {
    let silent = judged().filter(|it| !it.text.starts_with("//!"));
    assert_none(&silent.map(|it| format!("{}: begin with `//!`", it.path)).collect::<Vec<_>>());
}

#[test]
fn no_file_holds_a_banned_word() {
    let complaints = judged().filter(|it| !is_this(it)).flat_map(|it| banned(&it));
    assert_none(&complaints.collect::<Vec<_>>());
}

fn banned(source: &Source) -> Vec<String> {
    let code = code(&source.text);
    let words = BANNED.iter().filter(|(word, _)| code.contains(word));
    let mut complaints: Vec<_> =
        words.map(|(word, why)| format!("{}: `{word}`: {why}", source.path)).collect();
    for (number, line) in source.text.lines().enumerate().filter(|(_, line)| is_bare_note(line)) {
        complaints.push(format!(
            "{}:{}: `TODO(#123)`, with an issue: {line}",
            source.path,
            number + 1
        ));
    }
    complaints
}

/// A note to self without an issue.
fn is_bare_note(line: &str) -> bool {
    let Some((_, comment)) = line.split_once("//") else { return false };
    let bare = comment.match_indices("TODO").any(|(at, _)| !comment[at..].starts_with("TODO(#"));
    bare || comment.contains("FIXME")
}

#[test]
fn notes_name_an_issue() {
    assert!(is_bare_note("x(); // TODO: later"));
    assert!(is_bare_note("// FIXME"));
    assert!(!is_bare_note("// TODO(#12): once `tail` is built"));
    assert!(!is_bare_note("let todo = 1;"));
}

#[test]
fn words_in_strings_are_not_code() {
    let source = |text: &str| Source { path: "a.rs".into(), text: text.into() };
    assert!(banned(&source("let a = \"dbg!\"; // dbg! is banned")).is_empty());
    assert_eq!(banned(&source("dbg!(a); todo!()")).len(), 2);
}
