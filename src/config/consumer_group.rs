//! Settings of groups of the consumer protocol (KIP-848): `group.consumer.*` and which protocols groups may speak.

use super::{GroupConfig, topic::ConfigType, value::Value};
use crate::base::PluginName;

/// `group.consumer.*`
#[derive(Clone, Debug)]
pub struct ConsumerGroupConfig {
    pub session_timeout_ms: i32,
    pub min_session_timeout_ms: i32,
    pub max_session_timeout_ms: i32,
    pub heartbeat_interval_ms: i32,
    pub min_heartbeat_interval_ms: i32,
    pub max_heartbeat_interval_ms: i32,
    /// Members that a group may have.
    pub max_size: usize,
    /// Built in, or plugins; the first is for groups whose members name none.
    pub assignors: Vec<PluginName>,
    pub migration_policy: MigrationPolicy,
    /// How long a regular expression is not matched again though topics may have changed unseen.
    pub regex_refresh_interval_ms: i32,
}

impl Default for ConsumerGroupConfig {
    fn default() -> Self {
        Self {
            session_timeout_ms: 45_000,
            min_session_timeout_ms: 45_000,
            max_session_timeout_ms: 60_000,
            heartbeat_interval_ms: 5_000,
            min_heartbeat_interval_ms: 5_000,
            max_heartbeat_interval_ms: 15_000,
            max_size: 10_000,
            assignors: ["uniform", "range"].map(PluginName::from).into(),
            migration_policy: MigrationPolicy::Disabled,
            regex_refresh_interval_ms: 600_000,
        }
    }
}

/// Settings that are good alone and not together, as Kafka has it; each with the key that it is told under.
pub(super) fn contradictions(config: &GroupConfig) -> Vec<(&'static str, String)> {
    let it = &config.consumer;
    let mut found = Vec::new();
    found.extend(
        out_of_range(
            it.session_timeout_ms,
            (it.min_session_timeout_ms, "group.consumer.min.session.timeout.ms"),
            (it.max_session_timeout_ms, "group.consumer.max.session.timeout.ms"),
        )
        .map(|it| ("group.consumer.session.timeout.ms", it)),
    );
    found.extend(
        out_of_range(
            it.heartbeat_interval_ms,
            (it.min_heartbeat_interval_ms, "group.consumer.min.heartbeat.interval.ms"),
            (it.max_heartbeat_interval_ms, "group.consumer.max.heartbeat.interval.ms"),
        )
        .map(|it| ("group.consumer.heartbeat.interval.ms", it)),
    );
    let (interval, timeout) = (it.heartbeat_interval_ms, it.session_timeout_ms);
    if interval >= timeout {
        let reason =
            format!("{interval} is not below group.consumer.session.timeout.ms ({timeout})");
        found.push(("group.consumer.heartbeat.interval.ms", reason));
    }
    if it.assignors.is_empty() {
        found.push(("group.consumer.assignors", "needs an assignor".into()));
    }
    if !config.serves(RebalanceProtocol::Classic) {
        let reason = "must name classic: it cannot be turned off";
        found.push(("group.coordinator.rebalance.protocols", reason.into()));
    }
    found
}

fn out_of_range(
    value: i32,
    (min, min_key): (i32, &str),
    (max, max_key): (i32, &str),
) -> Option<String> {
    if min > max {
        return Some(format!("{min_key} ({min}) is above {max_key} ({max})"));
    }
    if value < min {
        return Some(format!("{value} is below {min_key} ({min})"));
    }
    (value > max).then(|| format!("{value} is above {max_key} ({max})"))
}

/// Which groups with members change to the other protocol when a member comes that speaks it: none yet, and to accept another
/// policy would promise that they do. Those without members always change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MigrationPolicy {
    Disabled,
}

/// A protocol of groups that is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RebalanceProtocol {
    Classic,
    Consumer,
}

impl RebalanceProtocol {
    const ALL: [Self; 2] = [Self::Classic, Self::Consumer];

    fn name(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::Consumer => "consumer",
        }
    }
}

impl Value for MigrationPolicy {
    const KIND: ConfigType = ConfigType::String;

    fn read(text: &str) -> Result<Self, String> {
        match text.trim().to_ascii_lowercase().as_str() {
            "disabled" => Ok(Self::Disabled),
            policy @ ("downgrade" | "upgrade" | "bidirectional") => Err(format!(
                "`{policy}` is not served yet: a group with members keeps its protocol, as by `disabled`"
            )),
            _ => Err(format!("`{text}` is not `disabled`")),
        }
    }

    fn show(&self) -> String {
        "\"disabled\"".to_owned()
    }
}

impl Value for RebalanceProtocol {
    const KIND: ConfigType = ConfigType::String;

    fn read(text: &str) -> Result<Self, String> {
        if let Some(known) = Self::ALL.into_iter().find(|it| it.name() == text) {
            return Ok(known);
        }
        Err(match text {
            "share" | "streams" => format!("groups of the {text} protocol are not served yet"),
            _ => format!("`{text}` is none of {}", Self::ALL.map(Self::name).join(", ")),
        })
    }

    fn show(&self) -> String {
        format!("\"{}\"", self.name())
    }
}

/// What Kafka calls by its class, which there is the only way to name an assignor of one's own.
const CLASSES: [(&str, &str); 2] = [
    ("org.apache.kafka.coordinator.group.assignor.UniformAssignor", "uniform"),
    ("org.apache.kafka.coordinator.group.assignor.RangeAssignor", "range"),
];

/// An assignor's name.
impl Value for PluginName {
    const KIND: ConfigType = ConfigType::String;

    fn read(text: &str) -> Result<Self, String> {
        if let Some((_, name)) = CLASSES.iter().find(|(class, _)| *class == text) {
            return Ok((*name).into());
        }
        if text.contains('.') {
            return Err(format!(
                "`{text}` is a class: uniform, range or a plugin's name is needed"
            ));
        }
        Ok(text.into())
    }

    fn show(&self) -> String {
        self.as_str().to_owned().show()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_that_is_not_served_is_refused() {
        assert_eq!(MigrationPolicy::read("DISABLED"), Ok(MigrationPolicy::Disabled));
        for text in ["Upgrade", "downgrade", "bidirectional"] {
            assert!(
                MigrationPolicy::read(text).unwrap_err().contains("is not served yet"),
                "{text}"
            );
        }
        assert_eq!(MigrationPolicy::read("both").unwrap_err(), "`both` is not `disabled`");
    }

    #[test]
    fn a_protocol_that_is_not_served_is_refused() {
        let read = Vec::<RebalanceProtocol>::read;
        let both = [RebalanceProtocol::Classic, RebalanceProtocol::Consumer];
        assert_eq!(read("classic, consumer").unwrap(), both);
        let wrong = read("classic,consumer,streams").unwrap_err();
        assert_eq!(wrong, "groups of the streams protocol are not served yet");
        assert_eq!(read("Classic").unwrap_err(), "`Classic` is none of classic, consumer");
    }

    #[test]
    fn an_assignor_of_kafka_is_also_known_by_its_class() {
        let read = |text| Vec::<PluginName>::read(text).map(|it| it.show());
        let classes = format!("{},{}", CLASSES[1].0, CLASSES[0].0);
        assert_eq!(read(&classes).unwrap(), "[\"range\", \"uniform\"]");
        assert_eq!(read("sticky").unwrap(), "[\"sticky\"]");
        assert!(read("com.example.Mine").unwrap_err().contains("is a class"));
    }
}
