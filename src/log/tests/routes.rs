//! Control batches of Klamm's own count like the data that they stand for, and routes outlive a restart.

use super::*;
use crate::{
    base::ProducerId,
    wire::record_batch::{ControlType, control_batch},
};

#[test]
fn a_route_counts_in_the_sequence_and_is_kept_over_kill_restart_and_retention() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t-0");
    let log = open(&path, settings());
    let sent = |sequence| Sent::records(3).by(7, 2, sequence).batch();
    let route = control_batch(&sent(0).header, ControlType::Route, b"to 4, to 5, stays");
    let empty = control_batch(&sent(3).header, ControlType::Empty, b"");
    let stored = log.append(vec![route.clone()], context()).unwrap();
    assert_eq!((stored.base_offset, stored.last_offset), (Offset(0), Offset(2)));
    log.append(vec![empty], context()).unwrap();
    log.append(vec![sent(6)], context()).unwrap();
    assert!(log.append(vec![sent(0)], context()).unwrap().duplicate, "a retry of what was routed");

    log.retain(TimestampMs(NOW.0)).unwrap();
    check_routes(&log);
    drop(log);
    let log = open(&path, LogSettings { retention_ms: 0, ..settings() });
    check_routes(&log);
    log.retain(TimestampMs(NOW.0 + 10)).unwrap();
    assert_eq!(log.size_bytes(), 0, "the route record itself is gone");
    log.close().unwrap();
    check_routes(&open_clean(&path, settings()));
}

fn check_routes(log: &Log) {
    assert_eq!(log.producers_with_routes(), [ProducerId(7)]);
    let routes = log.routes(ProducerId(7));
    assert_eq!(routes.len(), 1);
    assert_eq!(routes[0].producer_epoch.0, 2);
    assert_eq!(routes[0].batch.route.as_deref(), Some(&b"to 4, to 5, stays"[..]));
    assert_eq!((routes[0].batch.base_sequence, routes[0].batch.last_sequence), (0, 2));
}
