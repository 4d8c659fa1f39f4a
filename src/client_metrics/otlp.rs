//! The few messages of OpenTelemetry's metrics protocol that Kafka's clients send, flattened into numbers with names.

use prost::{Message, Oneof};

use super::series::TEXT_BYTES_MAX;

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

/// Everything numeric in a payload, one by one; `None` for bytes that are no such message.
pub(super) fn points(payload: &[u8]) -> Option<impl Iterator<Item = Point> + use<>> {
    let data = MetricsData::decode(payload).ok()?;
    let metrics = data.resource_metrics.into_iter().flat_map(|it| it.scope_metrics);
    Some(metrics.flat_map(|it| it.metrics).flat_map(of_metric))
}

fn of_metric(metric: Metric) -> impl Iterator<Item = Point> {
    let (mut points, is_delta) = match metric.data {
        Some(Data::Gauge(it)) => (it.data_points, false),
        Some(Data::Sum(it)) => (it.data_points, it.aggregation_temporality == DELTA),
        None => (Vec::new(), false),
    };
    if metric.name.len() > TEXT_BYTES_MAX {
        // Not kept in any case: one tells of it, and a long name is not copied for each number.
        points.truncate(1);
    }
    let of_point = move |it: NumberDataPoint| {
        let value = match it.value? {
            Number::Double(it) => it,
            Number::Int(it) => it as f64,
        };
        let attributes = it.attributes.into_iter().map(KeyValue::show).collect::<Vec<_>>();
        Some(Point { name: metric.name.clone(), attributes: attributes.join(","), value, is_delta })
    };
    points.into_iter().filter_map(of_point)
}

/// `AGGREGATION_TEMPORALITY_DELTA`
const DELTA: i32 = 1;

#[derive(Clone, PartialEq, Message)]
pub(super) struct MetricsData {
    #[prost(message, repeated, tag = "1")]
    pub(super) resource_metrics: Vec<ResourceMetrics>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ResourceMetrics {
    #[prost(message, repeated, tag = "2")]
    pub(super) scope_metrics: Vec<ScopeMetrics>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ScopeMetrics {
    #[prost(message, repeated, tag = "2")]
    pub(super) metrics: Vec<Metric>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Metric {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(oneof = "Data", tags = "5, 7")]
    pub(super) data: Option<Data>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(super) enum Data {
    #[prost(message, tag = "5")]
    Gauge(Gauge),
    #[prost(message, tag = "7")]
    Sum(Sum),
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Gauge {
    #[prost(message, repeated, tag = "1")]
    pub(super) data_points: Vec<NumberDataPoint>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Sum {
    #[prost(message, repeated, tag = "1")]
    pub(super) data_points: Vec<NumberDataPoint>,
    #[prost(int32, tag = "2")]
    pub(super) aggregation_temporality: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct NumberDataPoint {
    #[prost(message, repeated, tag = "7")]
    pub(super) attributes: Vec<KeyValue>,
    #[prost(oneof = "Number", tags = "4, 6")]
    pub(super) value: Option<Number>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(super) enum Number {
    #[prost(double, tag = "4")]
    Double(f64),
    #[prost(sfixed64, tag = "6")]
    Int(i64),
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct KeyValue {
    #[prost(string, tag = "1")]
    pub(super) key: String,
    #[prost(message, optional, tag = "2")]
    pub(super) value: Option<AnyValue>,
}

impl KeyValue {
    fn show(self) -> String {
        let value = match self.value.and_then(|it| it.value) {
            Some(Any::Text(it)) => it,
            Some(Any::Flag(it)) => it.to_string(),
            Some(Any::Int(it)) => it.to_string(),
            Some(Any::Double(it)) => it.to_string(),
            None => String::new(),
        };
        format!("{}={value}", self.key)
    }
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct AnyValue {
    #[prost(oneof = "Any", tags = "1, 2, 3, 4")]
    pub(super) value: Option<Any>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(super) enum Any {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(bool, tag = "2")]
    Flag(bool),
    #[prost(int64, tag = "3")]
    Int(i64),
    #[prost(double, tag = "4")]
    Double(f64),
}
