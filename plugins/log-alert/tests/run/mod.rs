//! Runs the plugin as the broker does: in batches, its state passed from call to call.

use klamm_plugin::transform::{Alert, Batch, Columns, Transform};
use log_alert::LogAlert;

/// Small, so that events span calls.
const RECORDS_PER_CALL: usize = 7;

/// The alerts that lines raise, a record each, in one partition.
pub(crate) fn alerts(settings: &str, lines: &[Vec<u8>]) -> Vec<Alert> {
    let mut plugin = LogAlert::configure(settings).expect("settings");
    let mut state = Vec::new();
    let mut alerts = Vec::new();
    for part in lines.chunks(RECORDS_PER_CALL) {
        let data = part.concat();
        let index = index(part);
        let columns = Columns {
            count: len(part.len()),
            data: &data,
            index: &index,
            state: &state,
            ..Columns::default()
        };
        let output = plugin.process(&Batch::new(columns).expect("a batch")).expect("an answer");
        let flat = output.flatten(len(part.len())).expect("an answer about these records");
        assert!(flat.actions.is_empty(), "no record is changed");
        alerts.extend(flat.alerts);
        state = flat.state;
    }
    alerts
}

pub(crate) fn count(settings: &str, lines: &[Vec<u8>]) -> usize {
    alerts(settings, lines).len()
}

fn len<T: TryFrom<usize>>(len: usize) -> T {
    T::try_from(len).ok().expect("a small batch")
}

/// Null keys, and the values one after the other.
fn index(lines: &[Vec<u8>]) -> Vec<i32> {
    let mut offset = 0;
    let mut index = Vec::new();
    for line in lines {
        index.extend([0, -1, offset, len(line.len()), 0]);
        offset += len::<i32>(line.len());
    }
    index
}
