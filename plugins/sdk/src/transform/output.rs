//! A transform's answer, gathered record by record and flattened at the end.

use super::Record;
use std::collections::BTreeMap;

/// What becomes of a batch's records, who is to be told, and what to remember.
///
/// Records that nothing is said of are kept. The last word on a record counts.
#[derive(Debug, Default)]
pub struct Output {
    changes: BTreeMap<u32, Change>,
    alerts: Vec<Alert>,
    state: Vec<u8>,
}

#[derive(Debug)]
enum Change {
    Drop,
    Replace(Replacement),
    Reject(String),
}

/// Name and value of a new header; a value of `None` is null.
pub type OwnedHeader = (Vec<u8>, Option<Vec<u8>>);

/// The new contents of a record. Its timestamp stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replacement {
    /// `None` is null.
    pub key: Option<Vec<u8>>,
    pub value: Option<Vec<u8>>,
    /// `None` keeps the record's own headers.
    pub headers: Option<Vec<OwnedHeader>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Info,
    Warning,
    Error,
    Critical,
}

/// Something that a person should know of. The broker counts, folds and delivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    /// The record that matched, by its position in this call.
    pub record: u32,
    pub severity: Severity,
    /// One line.
    pub title: String,
    /// Alerts of one plugin and topic with equal fingerprints are one alert, counted.
    pub fingerprint: String,
    pub labels: Vec<(String, String)>,
}

impl Replacement {
    /// The record with another value, its key and headers kept.
    pub fn of_value(record: &Record<'_>, value: Vec<u8>) -> Self {
        Self { key: record.key.map(<[u8]>::to_vec), value: Some(value), headers: None }
    }
}

impl Output {
    /// Keeps every record.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps a record unchanged, whatever was said of it before.
    pub fn keep(&mut self, record: u32) {
        self.changes.remove(&record);
    }

    /// Leaves a record out of the log.
    pub fn drop(&mut self, record: u32) {
        self.changes.insert(record, Change::Drop);
    }

    /// Stores a record with other contents.
    pub fn replace(&mut self, record: u32, replacement: Replacement) {
        self.changes.insert(record, Change::Replace(replacement));
    }

    /// Refuses the record's whole batch to the producer, with the reason (`INVALID_RECORD`, KIP-467).
    pub fn reject(&mut self, record: u32, reason: impl Into<String>) {
        self.changes.insert(record, Change::Reject(reason.into()));
    }

    /// Raises an alert because of a record. Alerts with equal fingerprints are one alert, counted.
    pub fn alert(
        &mut self,
        record: u32,
        severity: Severity,
        title: impl Into<String>,
        fingerprint: impl Into<String>,
        labels: Vec<(String, String)>,
    ) {
        let (title, fingerprint) = (title.into(), fingerprint.into());
        self.alerts.push(Alert { record, severity, title, fingerprint, labels });
    }

    /// Hands `state` to the next call for this plugin and partition; at most 64 KiB. Without it the
    /// next call finds none.
    pub fn set_state(&mut self, state: Vec<u8>) {
        self.state = state;
    }

    /// The columns that the broker reads; an error if a record is named that the batch does not have.
    pub fn flatten(self, count: u32) -> Result<FlatOutput, String> {
        self.check(count)?;
        let mut flat =
            FlatOutput { alerts: self.alerts, state: self.state, ..FlatOutput::default() };
        if !self.changes.is_empty() {
            flat.actions = vec![KEEP; count as usize];
        }
        for (record, change) in self.changes {
            flat.push(record as usize, change)?;
        }
        Ok(flat)
    }

    fn check(&self, count: u32) -> Result<(), String> {
        let last_changed = self.changes.last_key_value().map(|(record, _)| *record);
        let last_alerting = self.alerts.iter().map(|alert| alert.record).max();
        match last_changed.max(last_alerting) {
            Some(record) if record >= count => {
                Err(format!("an answer for record {record} of a call with {count} records"))
            }
            _ => Ok(()),
        }
    }
}

const KEEP: u8 = 0;
const DROP: u8 = 1;
const REPLACE: u8 = 2;
const REJECT: u8 = 3;

/// The answer as the broker reads it. The WIT file `wit/transform.wit` tells the lists' contents.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FlatOutput {
    pub actions: Vec<u8>,
    pub data: Vec<u8>,
    pub lens: Vec<i32>,
    pub header_lens: Vec<i32>,
    pub reasons: Vec<String>,
    pub alerts: Vec<Alert>,
    pub state: Vec<u8>,
}

impl FlatOutput {
    fn push(&mut self, record: usize, change: Change) -> Result<(), String> {
        let action = match change {
            Change::Drop => DROP,
            Change::Replace(replacement) => {
                self.push_replacement(&replacement)?;
                REPLACE
            }
            Change::Reject(reason) => {
                self.reasons.push(reason);
                REJECT
            }
        };
        if let Some(slot) = self.actions.get_mut(record) {
            *slot = action;
        }
        Ok(())
    }

    fn push_replacement(&mut self, replacement: &Replacement) -> Result<(), String> {
        let key_len = self.push_bytes(replacement.key.as_deref())?;
        let value_len = self.push_bytes(replacement.value.as_deref())?;
        let header_count =
            replacement.headers.as_ref().map_or(Ok(-1), |headers| len(headers.len()))?;
        self.lens.extend([key_len, value_len, header_count]);
        for (name, value) in replacement.headers.iter().flatten() {
            let name_len = self.push_bytes(Some(name))?;
            let value_len = self.push_bytes(value.as_deref())?;
            self.header_lens.extend([name_len, value_len]);
        }
        Ok(())
    }

    fn push_bytes(&mut self, bytes: Option<&[u8]>) -> Result<i32, String> {
        let Some(bytes) = bytes else { return Ok(-1) };
        self.data.extend_from_slice(bytes);
        len(bytes.len())
    }
}

fn len(len: usize) -> Result<i32, String> {
    i32::try_from(len).map_err(|_| format!("a replacement of {len} bytes or headers"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saying_nothing_keeps_all_and_costs_no_list() {
        assert_eq!(Output::new().flatten(1000).unwrap(), FlatOutput::default());
    }

    #[test]
    fn the_last_word_on_a_record_counts() {
        let mut output = Output::new();
        output.drop(0);
        output.keep(0);
        output.drop(1);
        output.reject(1, "no");
        output.reject(2, "gone");
        output.drop(2);
        let flat = output.flatten(4).unwrap();
        assert_eq!(flat.actions, [KEEP, REJECT, DROP, KEEP]);
        assert_eq!(flat.reasons, ["no"]);
    }

    #[test]
    fn replacements_stand_in_the_order_of_the_records() {
        let with_headers = Replacement {
            key: None,
            value: Some(b"later".to_vec()),
            headers: Some(vec![(b"h".to_vec(), None), (b"i".to_vec(), Some(b"x".to_vec()))]),
        };
        let tombstone = Replacement { key: Some(b"key".to_vec()), value: None, headers: None };
        let mut output = Output::new();
        output.replace(2, with_headers);
        output.replace(0, tombstone);
        let flat = output.flatten(3).unwrap();
        assert_eq!(flat.actions, [REPLACE, KEEP, REPLACE]);
        assert_eq!(flat.data, b"keylaterhix");
        assert_eq!(flat.lens, [3, -1, -1, -1, 5, 2]);
        assert_eq!(flat.header_lens, [1, -1, 1, 1]);
    }

    #[test]
    fn a_record_that_the_batch_does_not_have_is_an_error() {
        let mut dropping = Output::new();
        dropping.drop(3);
        assert!(dropping.flatten(3).is_err());
        let mut alerting = Output::new();
        alerting.alert(3, Severity::Error, "title", "fingerprint", vec![]);
        assert!(alerting.flatten(3).is_err());
    }

    #[test]
    fn alerts_and_state_pass_through() {
        let mut output = Output::new();
        output.alert(1, Severity::Critical, "t", "f", vec![("a".into(), "b".into())]);
        output.set_state(b"state".to_vec());
        let flat = output.flatten(2).unwrap();
        assert_eq!(flat.actions, []);
        assert_eq!((flat.alerts[0].record, flat.alerts[0].severity), (1, Severity::Critical));
        assert_eq!(flat.state, b"state");
    }
}
