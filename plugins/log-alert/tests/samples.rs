//! The sample logs of `examples/log-collection/logs` raise as many alerts as their `expected.json` says.

mod run;

use run::{alerts, count};
use serde_json::Value;
use std::path::Path;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/log-collection/logs")
}

fn lines(name: &str) -> Vec<Vec<u8>> {
    let text = std::fs::read_to_string(folder().join(name)).unwrap();
    text.lines().map(|line| line.as_bytes().to_vec()).collect()
}

#[test]
fn every_sample_raises_what_its_manifest_says() {
    let manifest = std::fs::read_to_string(folder().join("expected.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let samples = manifest.as_object().unwrap().iter().filter(|(_, expected)| expected.is_object());
    let mut checked = 0;
    for (name, expected) in samples {
        let lines = lines(name);
        assert_eq!(lines.len() as u64, expected["lines"], "{name}");
        assert_eq!(count("{}", &lines) as u64, expected["error"], "{name}");
        assert_eq!(
            count(r#"{"levels":"WARN"}"#, &lines) as u64,
            expected["warn"],
            "{name} from WARN up"
        );
        checked += 1;
    }
    assert_eq!(checked, 4);
}

#[test]
fn occurrences_of_one_error_have_one_fingerprint() {
    let alerts = alerts("{}", &lines("logfmt.log"));
    assert_eq!(alerts[0].title, "cannot open /data/17/index");
    assert_eq!(alerts[1].title, "cannot open /data/18/index");
    assert_eq!(alerts[0].fingerprint, alerts[1].fingerprint);
    assert_ne!(alerts[0].fingerprint, alerts[2].fingerprint);
}

#[test]
fn an_alert_tells_its_level_and_logger() {
    let alerts = alerts(r#"{"labels":{"team":"orders"}}"#, &lines("java-stack-trace.log"));
    let label = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(alerts[0].title, "Order 10071 could not be stored");
    let wanted = [
        label("level", "ERROR"),
        label("logger", "c.example.orders.OrderService"),
        label("team", "orders"),
    ];
    assert_eq!(alerts[0].labels, wanted);
}
