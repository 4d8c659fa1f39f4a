//! Configs of groups: Klamm's assignor, and Kafka's of the consumer protocol (KIP-848) with its checks and words.
//!
//! Rule: a config without an effect is refused, since to accept it would promise one: those of share and streams groups are.

use super::{ConsumerGroupConfig, GroupConfig, Patterns, TopicConfigs, nearest, topic::ConfigType};

/// Who answers SyncGroup for the group's leader.
pub const ASSIGNOR: &str = "klamm.assignor";
pub const HEARTBEAT_INTERVAL_MS: &str = "consumer.heartbeat.interval.ms";
pub const SESSION_TIMEOUT_MS: &str = "consumer.session.timeout.ms";

const NOT_SERVED: [&str; 8] = [
    "share.auto.offset.reset",
    "share.heartbeat.interval.ms",
    "share.isolation.level",
    "share.record.lock.duration.ms",
    "share.session.timeout.ms",
    "streams.heartbeat.interval.ms",
    "streams.num.standby.replicas",
    "streams.session.timeout.ms",
];

/// One config of a group.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    pub name: &'static str,
    pub kind: ConfigType,
    /// What a group goes by that has none of its own.
    pub default: fn(&GroupConfig) -> String,
    pub doc: &'static str,
}

/// All of them, by name.
pub const DEFINITIONS: [Definition; 3] = [
    Definition {
        name: HEARTBEAT_INTERVAL_MS,
        kind: ConfigType::Int,
        default: |node| node.consumer.heartbeat_interval_ms.to_string(),
        doc: "How often members of the group, if it is one of the consumer protocol, are told to send heartbeats.",
    },
    Definition {
        name: SESSION_TIMEOUT_MS,
        kind: ConfigType::Int,
        default: |node| node.consumer.session_timeout_ms.to_string(),
        doc: "A member of the group, if it is one of the consumer protocol, that is not heard of for so long is out.",
    },
    Definition {
        name: ASSIGNOR,
        kind: ConfigType::String,
        default: |_| String::new(),
        doc: "The assignor plugin that assigns the group's partitions, instead of the group's leader. Empty: the leader does.",
    },
];

/// Why a config is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// There is none of this name, or none that is served.
    Name(String),
    Value(String),
}

impl Invalid {
    pub fn reason(self) -> String {
        match self {
            Self::Name(reason) | Self::Value(reason) => reason,
        }
    }
}

/// Checks a config by itself; whether an assignor is loaded only a running node can tell.
pub fn validate(name: &str, value: &str) -> Result<(), Invalid> {
    if NOT_SERVED.contains(&name) {
        let kind = name.split('.').next().unwrap_or_default();
        let reason = format!("{name} has no effect: {kind} groups are not served yet");
        return Err(Invalid::Name(reason));
    }
    match DEFINITIONS.iter().find(|it| it.name == name).map(|it| it.kind) {
        Some(ConfigType::Int) => check_number(name, value).map(drop).map_err(Invalid::Value),
        Some(_) => Ok(()),
        None => Err(Invalid::Name(unknown(name))),
    }
}

fn unknown(name: &str) -> String {
    let known = DEFINITIONS.iter().map(|it| it.name).chain(NOT_SERVED);
    let meant = nearest(name, known).unwrap_or(ASSIGNOR);
    format!("Unknown group config name: {name}; did you mean {meant}?")
}

/// As Kafka's `ConfigDef` for an INT of at least 1.
fn check_number(name: &str, value: &str) -> Result<i32, String> {
    let told = |reason| Err(format!("Invalid value {value} for configuration {name}: {reason}"));
    match value.trim().parse::<i32>() {
        Ok(number) if number >= 1 => Ok(number),
        Ok(_) => told("Value must be at least 1"),
        Err(_) => told("Not a number of type INT"),
    }
}

/// Checks all that a group has together, and against what the node allows (Kafka's `GroupConfig.validateValues`).
///
/// # Errors
///
/// What is wrong, in Kafka's words.
pub fn validate_together(configs: &TopicConfigs, node: &ConsumerGroupConfig) -> Result<(), String> {
    let it = ConsumerTimes::of(&[Some(configs)], node);
    let (min, max) = (node.min_heartbeat_interval_ms, node.max_heartbeat_interval_ms);
    check_range(HEARTBEAT_INTERVAL_MS, it.heartbeat_interval_ms, min, max)?;
    let (min, max) = (node.min_session_timeout_ms, node.max_session_timeout_ms);
    check_range(SESSION_TIMEOUT_MS, it.session_timeout_ms, min, max)?;
    if it.session_timeout_ms > it.heartbeat_interval_ms {
        return Ok(());
    }
    Err(format!("{SESSION_TIMEOUT_MS} must be greater than {HEARTBEAT_INTERVAL_MS}"))
}

fn check_range(name: &str, value: i32, min: i32, max: i32) -> Result<(), String> {
    let limit = |which| name.replace("consumer.", &format!("group.consumer.{which}."));
    if value < min {
        return Err(format!("{name} must be greater than or equal to {}", limit("min")));
    }
    if value > max {
        return Err(format!("{name} must be less than or equal to {}", limit("max")));
    }
    Ok(())
}

/// What members of a group of the consumer protocol go by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConsumerTimes {
    pub session_timeout_ms: i32,
    pub heartbeat_interval_ms: i32,
}

impl ConsumerTimes {
    /// A group's own configs win over those of the file's patterns, and both over the node's settings. A value that is bad all
    /// the same, since another version stored it, is passed over.
    pub fn of_group(
        group_id: &str,
        own: Option<&TopicConfigs>,
        patterns: &Patterns,
        node: &ConsumerGroupConfig,
    ) -> Self {
        Self::of(&[own, patterns.find(group_id)], node)
    }

    /// By configs, the strongest first.
    fn of(configs: &[Option<&TopicConfigs>], node: &ConsumerGroupConfig) -> Self {
        let find = |name| {
            let mut values = configs.iter().flatten().filter_map(|it| it.get(name));
            values.find_map(|it| check_number(name, it).ok())
        };
        Self {
            session_timeout_ms: find(SESSION_TIMEOUT_MS).unwrap_or(node.session_timeout_ms),
            heartbeat_interval_ms: find(HEARTBEAT_INTERVAL_MS)
                .unwrap_or(node.heartbeat_interval_ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Pattern;

    fn configs(pairs: &[(&str, &str)]) -> TopicConfigs {
        pairs.iter().map(|&(name, value)| (name.into(), value.into())).collect()
    }

    #[test]
    fn only_configs_with_an_effect_are_accepted() {
        assert_eq!(validate("klamm.assignor", "sticky"), Ok(()));
        assert_eq!(validate("consumer.session.timeout.ms", " 46000 "), Ok(()));
        let told = |name| validate(name, "1").unwrap_err();
        let not_served = "share.session.timeout.ms has no effect: share groups are not served yet";
        assert_eq!(told("share.session.timeout.ms"), Invalid::Name(not_served.into()));
        let unknown = "Unknown group config name: klamm.asignor; did you mean klamm.assignor?";
        assert_eq!(told("klamm.asignor"), Invalid::Name(unknown.into()));
    }

    #[test]
    fn a_bad_number_is_told_in_kafkas_words() {
        for (value, reason) in [
            ("soon", "Not a number of type INT"),
            ("", "Not a number of type INT"),
            ("0", "Value must be at least 1"),
        ] {
            let told = validate(SESSION_TIMEOUT_MS, value).unwrap_err().reason();
            let want = format!("Invalid value {value} for configuration {SESSION_TIMEOUT_MS}");
            assert_eq!(told, format!("{want}: {reason}"));
        }
    }

    #[test]
    fn what_a_group_has_lies_in_what_the_node_allows() {
        let node = ConsumerGroupConfig::default();
        let check = |name, value| validate_together(&configs(&[(name, value)]), &node);
        for (name, value) in [
            (SESSION_TIMEOUT_MS, "45000"),
            (SESSION_TIMEOUT_MS, "60000"),
            (HEARTBEAT_INTERVAL_MS, "5000"),
            (HEARTBEAT_INTERVAL_MS, "15000"),
        ] {
            assert_eq!(check(name, value), Ok(()));
        }
        for (name, value, reason) in [
            (
                SESSION_TIMEOUT_MS,
                "44999",
                "greater than or equal to group.consumer.min.session.timeout.ms",
            ),
            (
                SESSION_TIMEOUT_MS,
                "60001",
                "less than or equal to group.consumer.max.session.timeout.ms",
            ),
            (
                HEARTBEAT_INTERVAL_MS,
                "1",
                "greater than or equal to group.consumer.min.heartbeat.interval.ms",
            ),
            (
                HEARTBEAT_INTERVAL_MS,
                "15001",
                "less than or equal to group.consumer.max.heartbeat.interval.ms",
            ),
        ] {
            assert_eq!(check(name, value).unwrap_err(), format!("{name} must be {reason}"));
        }
        let node = ConsumerGroupConfig { min_session_timeout_ms: 1, ..node };
        let told = validate_together(&configs(&[(SESSION_TIMEOUT_MS, "5000")]), &node);
        let want =
            "consumer.session.timeout.ms must be greater than consumer.heartbeat.interval.ms";
        assert_eq!(told.unwrap_err(), want);
    }

    #[test]
    fn a_groups_own_configs_win_over_patterns_and_these_over_the_nodes() {
        let node = ConsumerGroupConfig::default();
        let settings = configs(&[(SESSION_TIMEOUT_MS, "50000"), (HEARTBEAT_INTERVAL_MS, "6000")]);
        let patterns = Patterns(vec![Pattern { pattern: "g*".into(), settings }]);
        let times = |group_id, own: &[(&str, &str)]| {
            let it = ConsumerTimes::of_group(group_id, Some(&configs(own)), &patterns, &node);
            (it.session_timeout_ms, it.heartbeat_interval_ms)
        };
        assert_eq!(times("h", &[]), (45_000, 5_000));
        assert_eq!(times("g", &[]), (50_000, 6_000));
        assert_eq!(times("g", &[(SESSION_TIMEOUT_MS, "55000")]), (55_000, 6_000));
        assert_eq!(times("h", &[(SESSION_TIMEOUT_MS, "soon")]), (45_000, 5_000));
    }
}
