//! How long files and functions are. Beyond the first limit is worth a look, and printed; beyond the second needs a sentence of
//! reason in the file: `#[expect(clippy::too_many_lines, reason = …)]` for a function, `Size: …` in the `//!` for a file.

use super::{
    assert_none,
    source::{Source, code, rust, without_tests},
};

const FILE_LINES_LOOK: usize = 400;
const FILE_LINES_MAX: usize = 800;
const FUNCTION_LINES_LOOK: usize = 30;
const FUNCTION_LINES_MAX: usize = 70;
/// Folders below `src/`.
const NESTING_MAX: usize = 3;

fn judged() -> impl Iterator<Item = Source> {
    rust().into_iter().filter(|it| !it.path.contains("/bindings/"))
}

#[test]
fn files_are_short() {
    let mut complaints = Vec::new();
    for source in judged().filter(|it| !it.is_test()) {
        let lines = without_tests(&source.text).lines().count();
        if lines > FILE_LINES_LOOK {
            println!(
                "look again: {} has {lines} lines; is there a second noun in it?",
                source.path
            );
        }
        if lines > FILE_LINES_MAX && !gives_reason(&source.text) {
            complaints.push(format!("{}: {lines} lines, and no reason in its `//!`", source.path));
        }
    }
    assert_none(&complaints);
}

#[test]
fn functions_are_short() {
    let mut complaints = Vec::new();
    for source in judged() {
        for (name, lines, excused) in functions(&source.text) {
            if lines > FUNCTION_LINES_LOOK && !source.is_test() {
                println!("look again: {}: `{name}` has {lines} lines", source.path);
            }
            if lines > FUNCTION_LINES_MAX && !excused {
                complaints.push(format!("{}: `{name}` has {lines} lines", source.path));
            }
        }
    }
    assert_none(&complaints);
}

#[test]
fn folders_are_flat() {
    let deep = judged().filter(|it| {
        it.path.strip_prefix("src/").is_some_and(|below| below.matches('/').count() > NESTING_MAX)
    });
    assert_none(&deep.map(|it| format!("{}: too deep", it.path)).collect::<Vec<_>>());
}

fn gives_reason(text: &str) -> bool {
    text.lines()
        .take_while(|line| line.starts_with("//!"))
        .any(|line| line.starts_with("//! Size: "))
}

/// Name, lines, and whether it is excused, of each function whose body ends at the indent at which it began (rustfmt's form).
fn functions(text: &str) -> Vec<(String, usize, bool)> {
    let code = code(text);
    let lines: Vec<&str> = code.lines().collect();
    let mut found = Vec::new();
    for (begin, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        if !has_body(&lines[begin..]) {
            continue;
        }
        let end = format!("{}}}", " ".repeat(line.len() - line.trim_start().len()));
        let body = lines[begin..].iter().position(|it| it.trim_end() == end);
        if let Some(length) = body {
            let before = text.lines().take(begin).collect::<Vec<_>>();
            let excused =
                before.iter().rev().take(6).any(|it| it.contains("clippy::too_many_lines"));
            found.push((name.to_owned(), length + 1, excused));
        }
    }
    found
}

/// A signature ends in a brace; one without a body, of a trait, in a semicolon.
fn has_body(lines: &[&str]) -> bool {
    let end = lines.iter().map(|it| it.trim_end()).find(|it| it.ends_with(['{', ';', '}']));
    end.is_some_and(|it| it.ends_with('{'))
}

fn function_name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let at = if line.starts_with("fn ") { Some(0) } else { line.find(" fn ").map(|at| at + 1) }?;
    let declares = line[..at].split_whitespace().all(|word| {
        matches!(word, "pub" | "const" | "async" | "unsafe" | "extern") || word.starts_with("pub(")
    });
    let name = &line[at + 3..];
    let end = name.find(|it: char| !it.is_alphanumeric() && it != '_')?;
    // One that ends on its own line is short.
    (declares && !line.ends_with('}') && !line.ends_with(';')).then_some(&name[..end])
}

#[test]
fn a_function_is_measured_from_its_name_to_its_brace() {
    let text = "impl A {\n    pub(super) async fn long(\n        &self,\n    ) {\n        if a {\n        }\n    }\n\n    fn one(&self) {}\n}\n";
    assert_eq!(functions(text), [("long".to_owned(), 6, false)]);
}

#[test]
fn a_signature_without_a_body_is_not_measured() {
    let text = "trait A {\n    fn a(\n        &self,\n    );\n\n    fn b(&self);\n}\nimpl B {\n    fn c() {\n    }\n}\n";
    assert_eq!(functions(text), [("c".to_owned(), 2, false)]);
}

#[test]
fn a_long_table_is_excused_by_its_reason() {
    let text =
        "#[expect(clippy::too_many_lines, reason = \"a table\")]\nfn table() {\n    a();\n}\n";
    assert_eq!(functions(text), [("table".to_owned(), 3, true)]);
}

#[test]
fn a_long_file_gives_its_reason_at_the_top() {
    assert!(gives_reason("//! A table.\n//! Size: one line for each of Kafka's codes.\nuse a;"));
    assert!(!gives_reason("//! A table.\n\n// Size: no."));
}
