//! The repository's files, and code without what is not code.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Folders whose Rust is ours.
const FOLDERS: [&str; 6] = ["src", "tests", "xtask/src", "plugins", "examples", "benches"];

/// Not ours, or made by a tool.
const SKIPPED: [&str; 5] = ["target", "node_modules", ".git", ".venv", "data"];

/// A file, named from the root with `/`.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    /// Whether all of it is test code.
    pub(crate) fn is_test(&self) -> bool {
        let mut parts = self.path.split('/');
        parts.any(|part| part == "tests" || part == "tests.rs" || part == "faulty.rs")
    }

    /// The part before `mod tests {`, without comments and the insides of literals.
    pub(crate) fn code(&self) -> String {
        code(without_tests(&self.text))
    }

    /// The first folder, or file, below `src`: `wire`, `machine`.
    pub(crate) fn room(&self) -> Option<&str> {
        let below = self.path.strip_prefix("src/")?;
        let name = below.split('/').next()?;
        Some(name.strip_suffix(".rs").unwrap_or(name))
    }
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file of ours, sorted.
pub(crate) fn rust() -> Vec<Source> {
    FOLDERS.iter().flat_map(|folder| files(folder, "rs")).collect()
}

/// The files of a folder and those below it whose name ends so, sorted. `.` is the root.
pub(crate) fn files(folder: &str, extension: &str) -> Vec<Source> {
    let mut found = Vec::new();
    collect(&root().join(folder), extension, &mut found);
    found.sort();
    found.into_iter().map(|path| read(&path)).collect()
}

fn collect(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("a folder of the repository can be listed").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !path.is_symlink() {
            if !SKIPPED.contains(&name.as_str()) {
                collect(&path, extension, found);
            }
        } else if path.extension().is_some_and(|it| it == extension) {
            found.push(path);
        }
    }
}

fn read(path: &Path) -> Source {
    let name = path.strip_prefix(root()).expect("it was found below the root");
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", name.display()));
    Source { path: name.to_string_lossy().replace('\\', "/"), text }
}

/// What stands before the file's test module, if it has one in itself.
pub(crate) fn without_tests(text: &str) -> &str {
    let begin = text.find("#[cfg(test)]\nmod tests {");
    begin.map_or(text, |begin| &text[..begin])
}

/// Blanks comments and the insides of string literals; keeps lines where they are. Raw strings too, lifetimes and `'"'` stay.
pub(crate) fn code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let skipped = skipped(rest);
        if skipped > 0 {
            out.extend(rest[..skipped].chars().filter(|&it| it == '\n'));
            rest = &rest[skipped..];
        } else {
            let kept = kept(rest).unwrap_or(next.len_utf8());
            out.push_str(&rest[..kept]);
            rest = &rest[kept..];
        }
    }
    out
}

/// Bytes of the comment or string that begins here; 0 for none.
fn skipped(rest: &str) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with('"') {
        return string_end(rest);
    }
    if let Some(raw) = rest.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let inside = 1 + hashes + 1;
            return rest[inside..].find(&end).map_or(rest.len(), |at| inside + at + end.len());
        }
    }
    0
}

fn string_end(rest: &str) -> usize {
    let mut escaped = false;
    for (at, it) in rest.char_indices().skip(1) {
        match it {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Bytes that belong together though they hold a quote or end in `r`: a character literal, a word.
fn kept(rest: &str) -> Option<usize> {
    for literal in ["'\"'", "'\\\"'", "b'\"'"] {
        if rest.starts_with(literal) {
            return Some(literal.len());
        }
    }
    let word = rest.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(rest.len());
    // Of `br"…"` the prefix `b` alone is a word.
    let raw = rest[..word].ends_with('r') && rest[word..].starts_with(['"', '#']);
    Some(if raw { word - 1 } else { word }).filter(|&it| it > 0)
}

#[test]
fn comments_and_strings_are_no_code() {
    let text = "let a = \"crate::api // \\\" \"; // crate::net\nlet b = '\"'; /// no\nlet c = r#\"a\"b\"#;";
    assert_eq!(code(text), "let a = ; \nlet b = '\"'; \nlet c = ;");
}

#[test]
fn lines_stay_where_they_are() {
    let text = "let a = \"one\n two\";\nb();";
    assert_eq!(code(text).lines().count(), text.lines().count());
}

#[test]
fn words_that_end_in_r_are_no_raw_strings() {
    assert_eq!(code("for_each!(error\"x\", br\"y\", 'r')"), "for_each!(erro, b, 'r')");
}

#[test]
fn what_follows_the_test_module_is_left_out() {
    assert_eq!(without_tests("fn a() {}\n#[cfg(test)]\nmod tests {\n}\n"), "fn a() {}\n");
    assert_eq!(
        without_tests("#[cfg(test)]\nmod tests;\nfn a() {}\n"),
        "#[cfg(test)]\nmod tests;\nfn a() {}\n"
    );
}
