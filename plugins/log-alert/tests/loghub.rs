//! Real lines of many systems: alerts count exactly the lines whose level field asks for one. The wanted numbers
//! come from the position of the level in each system's own layout (`awk '{print $3}'` and the like).
//!
//! The files are not part of the repository. `LOGHUB` names their folder; without them the tests say so and pass.

mod run;

use run::count;
use std::path::PathBuf;

fn lines(system: &str) -> Option<Vec<Vec<u8>>> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/loghub");
    let folder = std::env::var_os("LOGHUB").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    let path = folder.join(format!("{system}_2k.log"));
    let Ok(text) = std::fs::read(&path) else {
        eprintln!(
            "skipped: there is no {}; set LOGHUB to the folder of the loghub samples",
            path.display()
        );
        return None;
    };
    let mut lines: Vec<Vec<u8>> = text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    lines.retain(|line| !line.is_empty());
    assert_eq!(lines.len(), 2000, "{system}");
    Some(lines)
}

#[track_caller]
fn check(system: &str, settings: &str, want: usize) {
    if let Some(lines) = lines(system) {
        assert_eq!(count(settings, &lines), want, "{system} with {settings}");
    }
}

#[test]
fn lines_at_error_or_worse() {
    let systems = [
        ("Apache", 595),
        ("Hadoop", 152),
        ("Zookeeper", 13),
        ("HDFS", 0),
        ("Spark", 0),
        ("OpenStack", 0),
        ("OpenSSH", 0),
    ];
    for (system, want) in systems {
        check(system, "{}", want);
    }
}

#[test]
fn lines_at_warning_or_worse() {
    let systems = [
        ("Apache", 595),
        ("Hadoop", 152 + 808),
        ("Zookeeper", 13 + 1318),
        ("HDFS", 80),
        ("Spark", 0),
        ("OpenStack", 31),
        ("OpenSSH", 0),
    ];
    for (system, want) in systems {
        check(system, r#"{"levels":"WARN"}"#, want);
    }
}

/// The other nine systems of the collection; the numbers are those of its own `*_structured.csv` files, and
/// none where they know no level.
#[test]
fn systems_beyond_the_seven() {
    for (system, errors, warnings) in [
        ("Android", 3, 170),
        ("BGL", 41 + 347 + 7, 8),
        ("Windows", 0, 0),
        ("HPC", 0, 0),
        ("HealthApp", 0, 0),
        ("Linux", 0, 0),
        ("Proxifier", 0, 0),
        ("Thunderbird", 0, 0),
    ] {
        check(system, "{}", errors);
        check(system, r#"{"levels":"WARN"}"#, errors + warnings);
    }
}

#[test]
fn single_levels() {
    for (system, level, want) in [
        ("Apache", "notice", 1405),
        ("Hadoop", "FATAL", 2),
        ("Hadoop", "ERROR", 150),
        ("Hadoop", "INFO", 1040),
        ("Zookeeper", "INFO", 669),
        ("HDFS", "INFO", 1920),
        ("Spark", "INFO", 2000),
        ("OpenStack", "INFO", 1969),
    ] {
        check(system, &format!(r#"{{"levels":["{level}"]}}"#), want);
    }
}
