//! Subscriptions to metrics that clients push (KIP-714): configs of a resource of type client-metrics, with Kafka's names, checks
//! and words.

use regex::{Regex, RegexBuilder};

use super::{
    TopicConfigs,
    topic::{ConfigType, list},
};

pub const METRICS: &str = "metrics";
pub const INTERVAL_MS: &str = "interval.ms";
pub const MATCH: &str = "match";

/// Five minutes.
pub const DEFAULT_INTERVAL_MS: i32 = 300_000;

/// A compiled pattern is no larger; whoever may set one may not take the node's memory by it.
const PATTERN_BYTES_MAX: usize = 64 * 1024;

/// One config: its name, type, default and meaning.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    pub name: &'static str,
    pub kind: ConfigType,
    pub default: &'static str,
    pub doc: &'static str,
}

pub const DEFINITIONS: [Definition; 3] = [
    Definition {
        name: INTERVAL_MS,
        kind: ConfigType::Int,
        default: "300000",
        doc: "Milliseconds between two pushes of a client, from 100 to 3600000.",
    },
    Definition {
        name: MATCH,
        kind: ConfigType::List,
        default: "",
        doc: "Which clients: NAME=PATTERN, a regular expression each; all must match. Empty: every client.",
    },
    Definition {
        name: METRICS,
        kind: ConfigType::List,
        default: "",
        doc: "Prefixes of the metrics to push; `*` for all.",
    },
];

/// A type of value that `APPEND` and `SUBTRACT` apply to.
pub fn is_list(name: &str) -> bool {
    DEFINITIONS.iter().any(|it| it.name == name && it.kind == ConfigType::List)
}

/// Why configs are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// Kafka answers INVALID_REQUEST.
    Request(String),
    /// Kafka answers INVALID_CONFIG.
    Config(String),
}

/// What is known of a client that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClientAttribute {
    InstanceId,
    Id,
    SoftwareName,
    SoftwareVersion,
    SourceAddress,
    SourcePort,
}

/// A subscription, ready for use.
#[derive(Clone, Debug)]
pub struct Subscription {
    /// Prefixes; `*` for all.
    pub metrics: Vec<String>,
    pub interval_ms: i32,
    /// All must match.
    pub matches: Vec<(ClientAttribute, Regex)>,
}

impl Subscription {
    /// Reads the configs of a resource.
    ///
    /// # Errors
    ///
    /// What is wrong, in Kafka's words.
    pub fn read(configs: &TopicConfigs) -> Result<Self, Invalid> {
        let known = |name: &str| DEFINITIONS.iter().any(|it| it.name == name);
        if let Some(name) = configs.keys().find(|it| !known(it)) {
            let reason = format!("Unknown client metrics configuration: {name}");
            return Err(Invalid::Request(reason));
        }
        let items = |name: &str| list(configs.get(name).map_or("", String::as_str));
        Ok(Self {
            metrics: items(METRICS).map(String::from).collect(),
            interval_ms: configs
                .get(INTERVAL_MS)
                .map_or(Ok(DEFAULT_INTERVAL_MS), |it| interval(it))?,
            matches: items(MATCH).map(client_match).collect::<Result<_, _>>()?,
        })
    }

    /// Whether it is meant for a client.
    pub fn is_for<'a>(&self, attribute: impl Fn(ClientAttribute) -> &'a str) -> bool {
        self.matches.iter().all(|(name, pattern)| pattern.is_match(attribute(*name)))
    }
}

fn interval(value: &str) -> Result<i32, Invalid> {
    let interval: i32 = value.trim().parse().map_err(|_| {
        let reason = "Not a number of type INT";
        Invalid::Config(format!("Invalid value {value} for configuration {INTERVAL_MS}: {reason}"))
    })?;
    if (100..=3_600_000).contains(&interval) {
        return Ok(interval);
    }
    Err(Invalid::Request(format!(
        "Invalid value {interval} for {INTERVAL_MS}, interval must be between 100 and 3600000 (1 hour)"
    )))
}

/// `NAME=PATTERN`; the pattern stands for the whole text, as in Kafka.
fn client_match(text: &str) -> Result<(ClientAttribute, Regex), Invalid> {
    let illegal = || Invalid::Config(format!("Illegal client matching pattern: {text}"));
    let (name, pattern) = text.split_once('=').ok_or_else(illegal)?;
    let attribute = attribute(name.trim()).ok_or_else(illegal)?;
    let pattern = pattern.trim();
    if pattern.is_empty() || pattern.contains('=') {
        return Err(illegal());
    }
    let whole =
        RegexBuilder::new(&format!("^(?:{pattern})$")).size_limit(PATTERN_BYTES_MAX).build();
    Ok((attribute, whole.map_err(|_| illegal())?))
}

fn attribute(name: &str) -> Option<ClientAttribute> {
    Some(match name {
        "client_instance_id" => ClientAttribute::InstanceId,
        "client_id" => ClientAttribute::Id,
        "client_software_name" => ClientAttribute::SoftwareName,
        "client_software_version" => ClientAttribute::SoftwareVersion,
        "client_source_address" => ClientAttribute::SourceAddress,
        "client_source_port" => ClientAttribute::SourcePort,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Subscription, Invalid> {
        let pairs = pairs.iter().map(|&(name, value)| (name.into(), value.into()));
        Subscription::read(&pairs.collect())
    }

    #[test]
    fn what_is_not_said_is_kafkas_default() {
        let subscription = read(&[("metrics", "org.apache.kafka.producer., b")]).unwrap();
        assert_eq!(subscription.metrics, ["org.apache.kafka.producer.", "b"]);
        assert_eq!(subscription.interval_ms, DEFAULT_INTERVAL_MS);
        assert!(subscription.is_for(|_| ""));
    }

    #[test]
    fn all_patterns_match_whole_attributes() {
        let matches = "client_software_name=apache-kafka-java, client_software_version=4\\.1.*";
        let subscription = read(&[("match", matches)]).unwrap();
        let client = |name: &'static str, version: &'static str| {
            move |it| if it == ClientAttribute::SoftwareName { name } else { version }
        };
        assert!(subscription.is_for(client("apache-kafka-java", "4.1.2")));
        assert!(!subscription.is_for(client("apache-kafka-java", "14.1")));
        assert!(!subscription.is_for(client("my-apache-kafka-java", "4.1")));
    }

    #[test]
    fn what_is_wrong_is_told_in_kafkas_words() {
        let told = |name, value| match read(&[(name, value)]).unwrap_err() {
            Invalid::Request(it) => format!("request: {it}"),
            Invalid::Config(it) => format!("config: {it}"),
        };
        assert_eq!(told("metric", "a"), "request: Unknown client metrics configuration: metric");
        assert!(told("interval.ms", "99").starts_with("request: Invalid value 99 for interval.ms"));
        assert!(told("interval.ms", "soon").starts_with("config: Invalid value soon"));
        for pattern in
            ["a", "a=b", "client_id=", "client_id=(", "client_id=a=b", "client_id=a{9999999}"]
        {
            let want = format!("config: Illegal client matching pattern: {pattern}");
            assert_eq!(told("match", pattern), want);
        }
    }

    #[test]
    fn the_table_has_the_defaults_that_are_read() {
        let defaults = DEFINITIONS.map(|it| (it.name, it.default));
        let read = read(&defaults).unwrap();
        assert_eq!(read.interval_ms, DEFAULT_INTERVAL_MS);
        assert!(read.metrics.is_empty() && read.matches.is_empty());
    }
}
