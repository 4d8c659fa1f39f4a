//! Retries are recognised, also after a restart.

use super::*;
use crate::log::ProducerCheck;

#[test]
fn a_retry_of_the_newest_five_gets_its_first_answer_also_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let mut log = open(&path, LogSettings { segment_bytes: 300, ..settings() });
    for at in 0..8 {
        append(&log, &Sent::records(2).by(1, 0, at * 2)).unwrap();
    }
    for restart in ["none", "kill", "clean"] {
        match restart {
            "kill" => log = open(&path, settings()),
            "clean" => {
                log.close().unwrap();
                log = open_clean(&path, settings());
            }
            _ => {}
        }
        for at in 3..8 {
            let again = append(&log, &Sent::records(2).by(1, 0, at * 2)).unwrap();
            assert!(again.duplicate, "{restart} {at}");
            assert_eq!(again.base_offset, Offset(i64::from(at) * 2));
        }
        let too_old = append(&log, &Sent::records(2).by(1, 0, 4)).unwrap_err();
        assert!(matches!(too_old, LogError::OutOfOrderSequence { last: 15, got: 4, .. }));
        assert_eq!(log.log_end_offset(), Offset(16), "{restart}");
    }
}

#[test]
fn several_batches_of_one_append_must_follow_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(&dir.path().join("t-0"), settings());
    let batch = |sequence| Sent::records(2).by(1, 0, sequence).batch();
    let error = log.append(vec![batch(0), batch(4)], context()).unwrap_err();
    assert!(matches!(error, LogError::OutOfOrderSequence { last: 1, got: 4, .. }));
    assert_eq!(log.check_producer(&batch(7).header).unwrap(), ProducerCheck::New, "nothing stuck");
    log.append(vec![batch(0), batch(2)], context()).unwrap();
    assert_eq!(log.log_end_offset(), Offset(4));
}

#[test]
fn a_producer_is_forgotten_after_its_time_and_not_before() {
    let dir = tempfile::tempdir().unwrap();
    let log =
        open(&dir.path().join("t-0"), LogSettings { producer_id_expiration_ms: 100, ..settings() });
    // Its records' own timestamps do not count.
    append(&log, &Sent::records(1).by(1, 0, 0).at(&[5])).unwrap();
    log.retain(TimestampMs(NOW.0 + 99)).unwrap();
    assert!(append(&log, &Sent::records(1).by(1, 0, 0)).unwrap().duplicate);
    log.retain(TimestampMs(NOW.0 + 100)).unwrap();
    assert!(!append(&log, &Sent::records(1).by(1, 0, 77)).unwrap().duplicate);
}

#[test]
fn a_snapshot_beyond_a_cut_is_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let log = open(&path, settings());
    append(&log, &Sent::records(1).by(1, 0, 0)).unwrap();
    let kept = log.size_bytes();
    append(&log, &Sent::records(1).by(1, 0, 1)).unwrap();
    log.close().unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(path.join("00000000000000000000.log"));
    file.unwrap().set_len(kept + 20).unwrap();

    let log = open(&path, settings());

    let again = append(&log, &Sent::records(1).by(1, 0, 1)).unwrap();
    assert!(!again.duplicate);
    assert_eq!(again.base_offset, Offset(2), "offset 1 was another record's");
}

#[test]
fn clean_stops_leave_one_snapshot_and_not_one_each() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    for at in 0..5 {
        let log = open_clean(&path, settings());
        append(&log, &Sent::records(1).by(1, 0, at)).unwrap();
        log.close().unwrap();
    }
    open_clean(&path, settings());
    let names = std::fs::read_dir(&path).unwrap().map(|it| it.unwrap().file_name());
    let snapshots: Vec<_> = names.filter(|it| it.to_str().unwrap().ends_with("snapshot")).collect();
    assert_eq!(snapshots, ["00000000000000000005.snapshot"]);
}
