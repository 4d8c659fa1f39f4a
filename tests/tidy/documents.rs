//! Documents: their links lead somewhere, and none names a machine.

use super::{
    assert_none,
    source::{Source, files, root},
};

/// Documents that a newcomer is promised.
const EXPECTED: &[&str] = &[
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE",
    "docs/README.md",
    "docs/compatibility.md",
    "docs/configuration.md",
    "docs/operations.md",
    "docs/plugins.md",
    "docs/storage-format.md",
    "docs/testing.md",
    "docs/glossary.md",
];

#[test]
fn the_documents_are_there() {
    let missing = EXPECTED.iter().filter(|path| !root().join(path).is_file());
    assert_none(&missing.map(|path| format!("{path} is missing")).collect::<Vec<_>>());
}

#[test]
fn relative_links_lead_somewhere() {
    let mut complaints = Vec::new();
    for document in files(".", "md") {
        let folder = root().join(&document.path);
        let folder = folder.parent().unwrap_or(root());
        for link in relative_links(&document.text) {
            if !folder.join(link).exists() {
                complaints.push(format!("{}: nothing at {link}", document.path));
            }
        }
    }
    assert_none(&complaints);
}

#[test]
fn every_room_has_a_paragraph_in_the_architecture() {
    let architecture = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let library = std::fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let rooms = library.lines().filter_map(|it| it.strip_prefix("pub mod ")?.strip_suffix(';'));
    let missing = rooms.filter(|room| !architecture.contains(&format!("**`{room}`**")));
    assert_none(
        &missing.map(|room| format!("ARCHITECTURE.md: nothing of `{room}`")).collect::<Vec<_>>(),
    );
}

#[test]
fn operations_explains_every_line_at_error() {
    let operations = std::fs::read_to_string(root().join("docs/operations.md")).unwrap();
    let sources = files("src", "rs").into_iter().filter(|it| !it.is_test());
    let lines = sources
        .flat_map(|it| error_lines(&it.text).into_iter().map(move |line| (it.path.clone(), line)));
    let unexplained = lines.filter(|(_, line)| !operations.contains(line.as_str()));
    assert_none(
        &unexplained
            .map(|(path, line)| format!("{path}: docs/operations.md lacks `{line}`"))
            .collect::<Vec<_>>(),
    );
}

/// What each `error!` says, up to the first value in it. One that is a value alone says what somebody else wrote.
fn error_lines(text: &str) -> Vec<String> {
    let calls = text.split("error!(").skip(1).map(|it| it.split(");").next().unwrap_or_default());
    let said = calls.filter_map(|call| call.rsplit('"').nth(1));
    let fixed = said.map(|it| it.split('{').next().unwrap_or_default());
    fixed.map(|it| it.trim_end_matches([' ', ':']).to_owned()).filter(|it| !it.is_empty()).collect()
}

#[test]
fn what_an_error_says_ends_at_its_first_value() {
    let text = "error!(%host, \"closed: {end}\");\ntracing::error!(\n    dir = \"x\", \"gone\"\n);\nerror!(\"{error:#}\");";
    assert_eq!(error_lines(text), ["closed", "gone"]);
}

#[test]
fn no_file_names_a_machine() {
    let text = ["rs", "md", "toml", "py", "js", "java", "json", "xml", "txt"];
    let all = text.iter().flat_map(|extension| files(".", extension));
    // This file holds what it looks for.
    let ours = all.filter(|it| !it.path.starts_with("tests/tidy/"));
    let complaints = ours.filter_map(|it| {
        let named = machine(&it)?;
        Some(format!("{}: `{named}` is a path of one machine", it.path))
    });
    assert_none(&complaints.collect::<Vec<_>>());
}

fn machine(source: &Source) -> Option<&'static str> {
    ["/work/", "/home/", "/root/", "/Users/"].into_iter().find(|path| source.text.contains(path))
}

/// Targets of `[text](target)` that are paths, without their anchors. Code blocks hold no links.
fn relative_links(text: &str) -> Vec<&str> {
    let mut in_code = false;
    let mut links = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code && !line.starts_with("    ") {
            links.extend(line.split("](").skip(1).filter_map(|rest| rest.split(')').next()));
        }
    }
    links.retain(|it| !it.contains("://") && !it.starts_with(['#', '<']) && !it.contains(' '));
    links
        .iter()
        .map(|it| it.split('#').next().unwrap_or_default())
        .filter(|it| !it.is_empty())
        .collect()
}

#[test]
fn only_relative_links_are_followed() {
    let text =
        "[a](docs/a.md#top), [b](https://example.org/b) and [c](#c)\n```\n[d](d)\n```\n[e](../e)";
    assert_eq!(relative_links(text), ["docs/a.md", "../e"]);
}
