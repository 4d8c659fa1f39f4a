//! Configs of groups: which there are. Kafka's own are those of KIP-848 and share groups, which are not served yet; to accept
//! them would promise an effect.

use super::nearest;

/// Who answers SyncGroup for the group's leader.
pub const ASSIGNOR: &str = "klamm.assignor";

/// What [`ASSIGNOR`] is for, as `DescribeConfigs` says it.
pub const ASSIGNOR_DOC: &str = "The assignor plugin that assigns the group's partitions, instead of the group's leader. Empty: the leader does.";

const NOT_SERVED: [&str; 7] = [
    "consumer.heartbeat.interval.ms",
    "consumer.session.timeout.ms",
    "share.auto.offset.reset",
    "share.heartbeat.interval.ms",
    "share.isolation.level",
    "share.record.lock.duration.ms",
    "share.session.timeout.ms",
];

/// Checks a group config's name; a value is a plugin's name, which only a running node can check.
pub fn validate(name: &str) -> Result<(), String> {
    if name == ASSIGNOR {
        return Ok(());
    }
    if NOT_SERVED.contains(&name) {
        return Err(format!(
            "{name} has no effect: groups of the consumer protocol (KIP-848) and share groups are not served yet"
        ));
    }
    let meant = nearest(name, [ASSIGNOR].into_iter().chain(NOT_SERVED)).unwrap_or(ASSIGNOR);
    Err(format!("Unknown group config name: {name}; did you mean {meant}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_configs_with_an_effect_are_accepted() {
        assert_eq!(validate("klamm.assignor"), Ok(()));
        assert!(validate("consumer.session.timeout.ms").unwrap_err().contains("not served yet"));
        let unknown = validate("klamm.asignor").unwrap_err();
        assert_eq!(
            unknown,
            "Unknown group config name: klamm.asignor; did you mean klamm.assignor?"
        );
    }
}
