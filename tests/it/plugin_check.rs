//! `klamm plugin check FILE`, as a plugin's author runs it.

use std::process::{Command, Output};

use crate::support::guests;

fn check(name: &str, bytes: &[u8], flags: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    std::fs::write(&file, bytes).unwrap();
    // Wall time, of which a busy machine takes a lot.
    let limits = "[limits]\ncall-timeout-ms = 60000\nload-timeout-ms = 120000";
    std::fs::write(file.with_extension("toml"), limits).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_klamm"));
    command.args(["plugin", "check"]).arg(file).args(flags).output().unwrap()
}

#[test]
fn a_good_file_is_described_and_ends_with_status_0() {
    let output = check("digit.wasm", &guests::by_last_digit("1.2.3", false), &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    for want in ["partitioner", "1.2.3", "sha256", "a full batch", "key purity"] {
        assert!(text.contains(want), "{want} is not in {text}");
    }
}

#[test]
fn a_bad_file_is_explained_and_ends_with_status_1() {
    let output = check("text.wasm", b"no component", &[]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("problem:"), "{text}");
}

#[test]
fn the_report_comes_as_json() {
    let output = check("digit.wasm", &guests::by_last_digit("1.2.3", false), &["--json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["hook"], "partitioner");
    assert_eq!(report["version"], "1.2.3");
    assert_eq!(report["problems"], serde_json::json!([]));
}

#[test]
fn a_file_that_a_broker_would_pass_over_for_its_name_is_told() {
    let output = check("My Digit.wasm", &guests::by_last_digit("1.2.3", false), &[]);
    assert_eq!(output.status.code(), Some(1));
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(
        report.contains("would be passed over in a plugin folder: a plugin's name has"),
        "{report}"
    );
}
