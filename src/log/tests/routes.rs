//! Control batches of Klamm's own count like the data that they stand for, and routes outlive a restart and, for as long
//! as they are unfinished, retention.

use super::*;
use crate::{
    base::ProducerId,
    wire::record_batch::{ControlType, control_batch},
};

/// A route record of three sequences, as stored in the place of a batch.
fn route(sequence: i32) -> Batch {
    let sent = Sent::records(3).by(7, 2, sequence).batch();
    control_batch(&sent.header, ControlType::Route, ROUTE)
}

const ROUTE: &[u8] = b"to 4, to 5, stays";
const PRODUCER: ProducerId = ProducerId(7);
const HOUR_MS: i64 = 60 * 60 * 1_000;

#[test]
fn a_route_counts_in_the_sequence_and_is_perhaps_unfinished_until_it_is_finished() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let log = open(&path, settings());
    let stored = log.append(vec![route(0)], context()).unwrap();
    assert_eq!((stored.base_offset, stored.last_offset), (Offset(0), Offset(2)));
    assert!(append(&log, &Sent::records(3).by(7, 2, 0)).unwrap().duplicate, "a retry");
    check_unfinished(&log);
    drop(log);
    let log = open(&path, settings());
    check_unfinished(&log);
    log.close().unwrap();
    let log = open_clean(&path, settings());
    check_unfinished(&log);

    log.finish_route(PRODUCER, Offset(0));
    assert!(log.unfinished_routes().is_empty());
    log.close().unwrap();
    assert!(
        open_clean(&path, settings()).unfinished_routes().is_empty(),
        "known from the snapshot"
    );
}

#[test]
fn only_a_producers_newest_batch_is_an_unfinished_route() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(&dir.path().join("t-0"), settings());
    log.append(vec![route(0)], context()).unwrap();
    log.append(vec![route(3)], context()).unwrap();
    assert_eq!(log.unfinished_route(PRODUCER).unwrap().base_offset, Offset(3));
    log.finish_route(PRODUCER, Offset(0));
    assert!(!log.unfinished_routes().is_empty(), "that was another one");
    let empty = control_batch(&route(6).header, ControlType::Empty, b"");
    log.append(vec![empty], context()).unwrap();
    assert!(log.unfinished_routes().is_empty());
}

#[test]
fn retention_waits_for_an_unfinished_route_but_not_for_ever() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(&dir.path().join("t-0"), LogSettings { retention_ms: 0, ..settings() });
    log.append(vec![route(0)], context()).unwrap();
    log.retain(TimestampMs(NOW.0 + HOUR_MS - 1)).unwrap();
    check_unfinished(&log);
    log.retain(TimestampMs(NOW.0 + HOUR_MS)).unwrap();
    assert_eq!(log.size_bytes(), 0);
    assert!(
        !log.unfinished_routes().is_empty(),
        "whoever sends it again is not told that it is stored"
    );
    let gone = log.route_record(Offset(0)).unwrap_err();
    assert!(matches!(gone, LogError::OffsetOutOfRange { .. }), "{gone}");
}

#[test]
fn retention_takes_what_lies_before_an_unfinished_route_and_all_once_it_is_finished() {
    let dir = tempfile::tempdir().unwrap();
    let settings = LogSettings { retention_ms: 0, segment_bytes: 100, ..settings() };
    let log = open(&dir.path().join("t-0"), settings);
    append(&log, &Sent::records(1)).unwrap();
    log.append(vec![route(0)], context()).unwrap();
    append(&log, &Sent::records(1)).unwrap();
    let now = TimestampMs(NOW.0 + 10);
    log.retain(now).unwrap();
    assert_eq!(log.log_start_offset(), Offset(1));
    check_record(&log, Offset(1));
    log.finish_route(PRODUCER, Offset(1));
    log.retain(now).unwrap();
    assert_eq!(log.log_start_offset(), Offset(5));
}

fn check_unfinished(log: &Log) {
    let routes = log.unfinished_routes();
    assert_eq!(routes.len(), 1);
    assert_eq!(log.unfinished_route(PRODUCER).as_ref(), routes.first());
    assert_eq!((routes[0].producer_id, routes[0].producer_epoch.0), (PRODUCER, 2));
    check_record(log, routes[0].base_offset);
}

fn check_record(log: &Log, base_offset: Offset) {
    let record = log.route_record(base_offset).unwrap();
    assert_eq!(record.header.base_sequence, 0);
    assert_eq!(record.control(), Some((ControlType::Route, bytes::Bytes::from_static(ROUTE))));
}
