//! Parts of documents that come from the code, each between two marks, so that they cannot be stale.
//!
//! `KLAMM_UPDATE_DOCS=1 cargo test --test it documents -- --test-threads=1` writes them anew.

mod compatibility;
mod configuration;
mod kips;

use std::{env, fs, path::Path};

const UPDATE: &str = "KLAMM_UPDATE_DOCS";
const END: &str = "<!-- generated: end -->";

#[test]
fn the_table_of_apis_is_up_to_date() {
    check("docs/compatibility.md", "apis", &compatibility::apis());
}

#[test]
fn the_table_of_kips_is_up_to_date() {
    check("docs/compatibility.md", "kips", &kips::kips());
}

#[test]
fn the_table_of_settings_is_up_to_date() {
    check("docs/configuration.md", "settings", &configuration::settings());
}

#[test]
fn the_table_of_topic_configs_is_up_to_date() {
    check("docs/configuration.md", "topic configs", &configuration::topic_configs());
}

/// Compares what stands between the marks of this name, or puts it there when told to.
#[track_caller]
fn check(document: &str, name: &str, generated: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
    let text = fs::read_to_string(&path).unwrap();
    let fresh = replaced(&text, name, generated);
    if env::var_os(UPDATE).is_some() {
        // Tests of one document must not do this at the same time.
        fs::write(&path, fresh).unwrap();
        return;
    }
    let stale: Vec<_> = fresh.lines().filter(|it| !text.lines().any(|line| line == *it)).collect();
    assert!(
        text == fresh,
        "{document} is stale: {UPDATE}=1 cargo test --test it documents -- --test-threads=1\n{stale:#?}"
    );
}

#[track_caller]
fn replaced(text: &str, name: &str, generated: &str) -> String {
    let begin = format!("<!-- generated: {name} -->\n");
    let (before, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("no mark {begin}"));
    let (_, after) = rest.split_once(END).unwrap_or_else(|| panic!("no mark {END}"));
    format!("{before}{begin}\n{generated}{END}{after}")
}

/// Text that may stand in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[test]
fn only_what_is_between_the_marks_is_replaced() {
    let text = "a\n<!-- generated: x -->\nold\n<!-- generated: end -->\nb\n";
    let fresh = "a\n<!-- generated: x -->\n\nnew\n\n<!-- generated: end -->\nb\n";
    assert_eq!(replaced(text, "x", "new\n\n"), fresh);
    assert_eq!(replaced(fresh, "x", "new\n\n"), fresh);
}
