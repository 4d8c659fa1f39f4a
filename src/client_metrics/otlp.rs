//! What of OpenTelemetry's metrics protocol Kafka's clients send, gauges and sums, flattened into numbers with names. Numbers of
//! fields are those of its `metrics.proto`.

use super::{
    protobuf::{Value, each, each_field},
    series::TEXT_BYTES_MAX,
};

/// A number of a client's.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) name: String,
    /// `key=value`, as they came, with commas between.
    pub(super) attributes: String,
    pub(super) value: f64,
    /// It is to be added to what was told before.
    pub(super) is_delta: bool,
}

/// `AGGREGATION_TEMPORALITY_DELTA`
const DELTA: u64 = 1;

/// Calls with everything numeric in a `MetricsData`; `None` for bytes that are no such message, of which a part may have been told.
pub(super) fn each_point(payload: &[u8], act: &mut impl FnMut(Point)) -> Option<()> {
    each(payload, 1, |resource_metrics| {
        each(resource_metrics, 2, |scope_metrics| {
            each(scope_metrics, 2, |metric| points_of(metric, act))
        })
    })
}

fn points_of(metric: &[u8], act: &mut impl FnMut(Point)) -> Option<()> {
    let mut name = "";
    each(metric, 1, |it| {
        name = std::str::from_utf8(it).ok()?;
        Some(())
    })?;
    // It is not kept in any case: one tells of it, and a long name is not copied for each number.
    let mut left = if name.len() > TEXT_BYTES_MAX { 1 } else { usize::MAX };
    let mut tell = |point: &[u8], is_delta| {
        let (attributes, value) = number(point)?;
        if let Some(value) = value
            && left > 0
        {
            left -= 1;
            act(Point { name: name.to_owned(), attributes, value, is_delta });
        }
        Some(())
    };
    each(metric, 5, |gauge| each(gauge, 1, |it| tell(it, false)))?;
    each(metric, 7, |sum| {
        let mut temporality = 0;
        each_field(sum, |tag, value| {
            if let (2, Value::Varint(it)) = (tag, value) {
                temporality = it;
            }
            Some(())
        })?;
        each(sum, 1, |it| tell(it, temporality == DELTA))
    })
}

/// The attributes of a `NumberDataPoint` and its number, if it has one.
fn number(point: &[u8]) -> Option<(String, Option<f64>)> {
    let (mut attributes, mut number) = (String::new(), None);
    each_field(point, |tag, value| {
        match (tag, value) {
            (4, Value::Fixed64(bits)) => number = Some(f64::from_bits(bits)),
            (6, Value::Fixed64(bits)) => number = Some(bits as i64 as f64),
            (7, Value::Bytes(it)) => add_attribute(&mut attributes, it)?,
            _ => {}
        }
        Some(())
    })?;
    Some((attributes, number))
}

/// A `KeyValue`.
fn add_attribute(attributes: &mut String, key_value: &[u8]) -> Option<()> {
    let (mut key, mut text) = ("", String::new());
    each_field(key_value, |tag, value| {
        match (tag, value) {
            (1, Value::Bytes(it)) => key = std::str::from_utf8(it).ok()?,
            (2, Value::Bytes(it)) => text = any_value(it)?,
            _ => {}
        }
        Some(())
    })?;
    // What is too long is not kept: it need not grow.
    if attributes.len() > TEXT_BYTES_MAX {
        return Some(());
    }
    if !attributes.is_empty() {
        attributes.push(',');
    }
    attributes.push_str(key);
    attributes.push('=');
    attributes.push_str(&text);
    Some(())
}

fn any_value(message: &[u8]) -> Option<String> {
    let mut text = String::new();
    each_field(message, |tag, value| {
        match (tag, value) {
            (1, Value::Bytes(it)) => std::str::from_utf8(it).ok()?.clone_into(&mut text),
            (2, Value::Varint(it)) => text = (it != 0).to_string(),
            (3, Value::Varint(it)) => text = (it as i64).to_string(),
            (4, Value::Fixed64(it)) => text = f64::from_bits(it).to_string(),
            _ => {}
        }
        Some(())
    })?;
    Some(text)
}
