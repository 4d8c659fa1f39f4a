//! Each API has a file, a line in the table, and tests of its own name.

use std::fs;

use super::{
    assert_none,
    source::{Source, files, root},
};

/// An API's file has its versions in it.
fn apis() -> Vec<Source> {
    let all = files("src/api", "rs").into_iter();
    all.filter(|it| it.text.contains("\npub const VERSIONS: RangeInclusive<i16>")).collect()
}

fn name(source: &Source) -> &str {
    let file = source.path.rsplit('/').next().unwrap_or_default();
    file.strip_suffix(".rs").unwrap_or(file)
}

#[test]
fn each_api_stands_in_the_table() {
    let table = fs::read_to_string(root().join("src/api/mod.rs")).unwrap();
    let missing = apis().into_iter().filter(|it| {
        let name = name(it);
        !table.contains(&format!("=> {name},")) && !table.contains(&format!("{name}::VERSIONS }}"))
    });
    assert_none(&missing.map(|it| format!("{}: not in `api::TABLE`", it.path)).collect::<Vec<_>>());
    assert!(!apis().is_empty());
}

#[test]
fn each_api_tells_its_key_and_versions_first() {
    let silent = apis().into_iter().filter(|it| {
        let first = it.text.lines().next().unwrap_or_default();
        !(first.contains("(key ") && first.contains(", version"))
    });
    let complaints = silent.map(|it| format!("{}: begin with key and versions", it.path));
    assert_none(&complaints.collect::<Vec<_>>());
}

/// In its file, beside it, or in a module of the integration tests.
#[test]
fn each_api_is_tested_under_its_name() {
    let integration = files("tests/it", "rs");
    let untested = apis().into_iter().filter(|it| {
        let name = name(it);
        let own = it.text.contains("#[cfg(test)]\nmod tests");
        let module = format!("tests/it/{name}");
        !own && !integration.iter().any(|test| test.path.starts_with(&module) || calls(test, name))
    });
    assert_none(
        &untested.map(|it| format!("{}: no test of its name", it.path)).collect::<Vec<_>>(),
    );
}

/// Whether a test builds this API's request.
fn calls(test: &Source, name: &str) -> bool {
    test.text.contains(&format!("{}Request", camel(name)))
}

fn camel(name: &str) -> String {
    let upper = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('_').map(upper).collect()
}

#[test]
fn names_become_the_protocols() {
    assert_eq!(camel("list_offsets"), "ListOffsets");
}
