//! The transform's batch as data and offsets, and the actions, replacements and alerts that come back.

use std::{collections::BTreeMap, ops::Range};

use super::{error_answer, records, wit_len};
use crate::{
    plugin::{
        bindings::transform::exports::klamm::plugin::transform::{
            Alert, Batch, Output, Replacements, Severity,
        },
        convert::Needs,
        failure::{CallFailure, REASON_BYTES_MAX, cut},
        hook::{RaisedAlert, RecordAction, Replacement, ReplacementHeader, TransformInput},
        limits::STATE_BYTES_MAX,
        sha256::sha256,
    },
    wire::record_batch::{DecodedBatch, RecordView},
};

/// Longest fingerprint kept as it is; a longer one is shortened by a hash, so that equal ones stay equal.
const FINGERPRINT_BYTES_MAX: usize = 256;

/// Labels of an alert.
const LABELS_MAX: usize = 64;

/// Bytes of a label's name and of its value.
const LABEL_BYTES_MAX: usize = 1024;

/// What a transform made of one call's records.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::plugin) struct Processed {
    /// One for each record of the call; empty keeps all.
    pub(in crate::plugin) actions: Vec<RecordAction>,
    /// Indexes are those of the call.
    pub(in crate::plugin) alerts: Vec<RaisedAlert>,
    pub(in crate::plugin) state: Vec<u8>,
}

impl Processed {
    /// Bytes that it holds, roughly.
    pub(in crate::plugin) fn size_bytes(&self) -> usize {
        let actions = self.actions.iter().map(|it| match it {
            RecordAction::Replace(new) => replacement_bytes(new),
            RecordAction::Reject(reason) => reason.len(),
            RecordAction::Keep | RecordAction::Drop => 0,
        });
        actions.chain(self.alerts.iter().map(alert_bytes)).sum()
    }
}

fn replacement_bytes(new: &Replacement) -> usize {
    let field = |it: &Option<Vec<u8>>| it.as_ref().map_or(0, Vec::len);
    let headers = new.headers.iter().flatten().map(|(name, value)| name.len() + field(value));
    field(&new.key) + field(&new.value) + headers.sum::<usize>()
}

fn alert_bytes(alert: &RaisedAlert) -> usize {
    let labels = alert.labels.iter().map(|(name, value)| name.len() + value.len());
    size_of::<RaisedAlert>() + alert.title.len() + alert.fingerprint.len() + labels.sum::<usize>()
}

/// One call's index into the batch's own bytes, which are not copied.
#[derive(Debug)]
pub(in crate::plugin) struct ProcessColumns<'a> {
    data: &'a [u8],
    index: Vec<i32>,
    headers: Vec<i32>,
    header_counts: Vec<i32>,
}

impl<'a> ProcessColumns<'a> {
    pub(in crate::plugin) fn new(
        batch: &'a DecodedBatch,
        range: &Range<usize>,
        needs: Needs,
    ) -> Self {
        let bytes = span(batch, range);
        let data = batch.data.get(bytes.start as usize..bytes.end as usize).unwrap_or_default();
        let mut columns = Self {
            data,
            index: Vec::with_capacity(5 * range.len()),
            headers: Vec::new(),
            header_counts: Vec::new(),
        };
        for record in records(batch, range) {
            push_field(&mut columns.index, record.key_range(), bytes.start);
            push_field(&mut columns.index, record.value_range(), bytes.start);
            columns.index.push(clamp(record.timestamp_delta()));
            if needs.headers {
                columns.push_headers(record);
            }
        }
        columns
    }

    fn push_headers(&mut self, record: RecordView<'_>) {
        let before = self.headers.len();
        for header in record.headers() {
            self.push_header_field(Some(header.name));
            self.push_header_field(header.value);
        }
        self.header_counts.push(wit_len((self.headers.len() - before) / 4));
    }

    /// Header fields are slices of the same bytes: their distance from the start is their offset.
    fn push_header_field(&mut self, field: Option<&[u8]>) {
        let offset = match field {
            Some(bytes) if !bytes.is_empty() => {
                (bytes.as_ptr() as usize).saturating_sub(self.data.as_ptr() as usize)
            }
            _ => 0,
        };
        self.headers.extend([wit_len(offset), field.map_or(-1, |it| wit_len(it.len()))]);
    }

    pub(in crate::plugin) fn batch(
        &'a self,
        input: &'a TransformInput,
        count: usize,
        state: &'a [u8],
    ) -> Batch<'a> {
        Batch {
            topic: input.partition.topic.as_str(),
            partition: u32::try_from(input.partition.partition).unwrap_or(0),
            count: count as u32,
            data: self.data,
            index: &self.index,
            headers: &self.headers,
            header_counts: &self.header_counts,
            base_timestamp: input.batch.header.base_timestamp.0 as f64,
            now_ms: input.now.0 as f64,
            state,
        }
    }
}

/// The bytes from the first to the last field of these records; records lie one after the other.
fn span(batch: &DecodedBatch, range: &Range<usize>) -> Range<u32> {
    let fields = || {
        records(batch, range).flat_map(|record| {
            [record.key_range(), record.value_range(), Some(record.span.headers.clone())]
                .into_iter()
                .flatten()
                .filter(|field| !field.is_empty())
        })
    };
    let start = fields().map(|it| it.start).min().unwrap_or(0);
    start..fields().map(|it| it.end).max().unwrap_or(start)
}

fn push_field(words: &mut Vec<i32>, range: Option<Range<u32>>, from: u32) {
    words.extend(match range {
        None => [0, -1],
        Some(it) if it.is_empty() => [0, 0],
        Some(it) => [(it.start - from) as i32, wit_len(it.len())],
    });
}

fn clamp(delta: i64) -> i32 {
    delta.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

/// Checks an answer for `count` records.
pub(in crate::plugin) fn processed(
    answer: Result<Output, String>,
    count: usize,
) -> Result<Processed, CallFailure> {
    let output = answer.map_err(error_answer)?;
    if output.state.len() > STATE_BYTES_MAX {
        return Err(CallFailure::malformed(format!(
            "returned {} bytes of state, at most {STATE_BYTES_MAX} are kept",
            output.state.len()
        )));
    }
    Ok(Processed {
        actions: actions(&output.actions, &output.replaced, output.reasons, count)?,
        alerts: alerts(output.alerts, count)?,
        state: output.state,
    })
}

fn actions(
    codes: &[u8],
    replaced: &Replacements,
    reasons: Vec<String>,
    count: usize,
) -> Result<Vec<RecordAction>, CallFailure> {
    if !codes.is_empty() && codes.len() != count {
        return Err(CallFailure::malformed(format!(
            "returned {} actions for {count} records",
            codes.len()
        )));
    }
    let mut replacements = ReplacementReader::new(replaced);
    let mut reasons = reasons.into_iter();
    let actions = codes
        .iter()
        .map(|code| match code {
            0 => Ok(RecordAction::Keep),
            1 => Ok(RecordAction::Drop),
            2 => replacements.next().map(Box::new).map(RecordAction::Replace),
            3 => reasons
                .next()
                .map(|reason| RecordAction::Reject(cut(&reason, REASON_BYTES_MAX)))
                .ok_or_else(|| {
                    CallFailure::malformed("returned fewer reasons than rejected records")
                }),
            other => Err(CallFailure::malformed(format!("returned the unknown action {other}"))),
        })
        .collect::<Result<Vec<_>, _>>()?;
    replacements.finish()?;
    match reasons.next() {
        Some(_) => Err(CallFailure::malformed("returned more reasons than rejected records")),
        None => Ok(actions),
    }
}

/// Reads replaced records from their columns, in order.
struct ReplacementReader<'a> {
    data: &'a [u8],
    lens: &'a [i32],
    header_lens: &'a [i32],
}

impl<'a> ReplacementReader<'a> {
    fn new(from: &'a Replacements) -> Self {
        Self { data: &from.data, lens: &from.lens, header_lens: &from.header_lens }
    }

    fn next(&mut self) -> Result<Replacement, CallFailure> {
        let Some((&[key, value, headers], rest)) = self.lens.split_first_chunk() else {
            return Err(CallFailure::malformed(
                "returned fewer replacements than replaced records",
            ));
        };
        self.lens = rest;
        Ok(Replacement {
            key: self.take(key)?,
            value: self.take(value)?,
            headers: self.headers(headers)?,
        })
    }

    /// −1: the record's own.
    fn headers(&mut self, count: i32) -> Result<Option<Vec<ReplacementHeader>>, CallFailure> {
        match count {
            -1 => Ok(None),
            0.. => (0..count).map(|_| self.header()).collect::<Result<_, _>>().map(Some),
            _ => Err(CallFailure::malformed("returned a negative number of headers")),
        }
    }

    fn header(&mut self) -> Result<ReplacementHeader, CallFailure> {
        let Some((&[name, value], rest)) = self.header_lens.split_first_chunk() else {
            return Err(CallFailure::malformed("returned fewer header lengths than headers"));
        };
        self.header_lens = rest;
        let name = self.take(name)?;
        let name = name.ok_or_else(|| CallFailure::malformed("returned a header without name"))?;
        Ok((name, self.take(value)?))
    }

    fn take(&mut self, len: i32) -> Result<Option<Vec<u8>>, CallFailure> {
        if len == -1 {
            return Ok(None);
        }
        let len = usize::try_from(len)
            .map_err(|_| CallFailure::malformed(format!("returned the length {len}")))?;
        let (bytes, rest) = self.data.split_at_checked(len).ok_or_else(|| {
            CallFailure::malformed("returned lengths beyond its replacement data")
        })?;
        self.data = rest;
        Ok(Some(bytes.to_vec()))
    }

    fn finish(&self) -> Result<(), CallFailure> {
        if self.data.is_empty() && self.lens.is_empty() && self.header_lens.is_empty() {
            return Ok(());
        }
        Err(CallFailure::malformed("returned more replacement data than its lengths tell of"))
    }
}

fn alerts(alerts: Vec<Alert>, count: usize) -> Result<Vec<RaisedAlert>, CallFailure> {
    alerts
        .into_iter()
        .map(|alert| {
            let record = alert.record as usize;
            if record >= count {
                return Err(CallFailure::malformed(format!(
                    "raised an alert about record {record} of {count}"
                )));
            }
            Ok(raised(record, alert))
        })
        .collect()
}

fn raised(record: usize, alert: Alert) -> RaisedAlert {
    RaisedAlert {
        record,
        severity: match alert.severity {
            Severity::Info => 0,
            Severity::Warning => 1,
            Severity::Error => 2,
            Severity::Critical => 3,
        },
        title: cut(&alert.title, REASON_BYTES_MAX),
        fingerprint: bounded_fingerprint(alert.fingerprint),
        labels: labels(alert.labels),
    }
}

fn labels(labels: Vec<(String, String)>) -> BTreeMap<String, String> {
    labels
        .into_iter()
        .take(LABELS_MAX)
        .map(|(name, value)| (cut(&name, LABEL_BYTES_MAX), cut(&value, LABEL_BYTES_MAX)))
        .collect()
}

fn bounded_fingerprint(fingerprint: String) -> String {
    if fingerprint.len() <= FINGERPRINT_BYTES_MAX {
        return fingerprint;
    }
    let hash = sha256(fingerprint.as_bytes());
    format!("{} {hash}", cut(&fingerprint, FINGERPRINT_BYTES_MAX / 2))
}
