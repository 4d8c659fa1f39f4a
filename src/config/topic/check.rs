//! Checks of config values, with the messages of Kafka's `ConfigDef`.

use super::{DEFINITIONS, Definition, TopicConfigs, definition};
use crate::config::nearest;

/// Type of a config's value, as `DescribeConfigs` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigType {
    Boolean,
    String,
    Int,
    Long,
    Double,
    /// Separated by commas.
    List,
}

/// What a value must be, besides of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    Any,
    AtLeast(i64),
    /// Both inclusive.
    Between(i64, i64),
    /// A compression level: in a range, or one number that stands for the codec's default.
    Level(i64, i64, i64),
    OneOf(&'static [&'static str]),
    /// Every item is one of these, and there is at least one.
    ListOf(&'static [&'static str]),
    /// The default and no other value, for this reason.
    Only(&'static str),
    /// One of `built`; for `planned` the answer says what would do today.
    Built {
        built: &'static [&'static str],
        planned: &'static [&'static str],
    },
    /// `PARTITION:BROKER` each, or `*` alone.
    Replicas,
    /// The name of a plugin, or empty.
    Plugin,
    /// Names of plugins.
    Plugins,
}

/// Checks a name and a value on their own. Whether a plugin of a name is loaded is not known here.
pub fn validate(name: &str, value: &str) -> Result<(), String> {
    let Some(definition) = definition(name) else {
        let meant = nearest(name, DEFINITIONS.iter().map(|it| it.name));
        let meant = meant.map(|it| format!("; did you mean {it}?")).unwrap_or_default();
        return Err(format!("Unknown topic config name: {name}{meant}"));
    };
    validate_as(definition, name, value)
}

/// Checks the value of a config under `name`, which may be that of a setting.
pub fn validate_as(definition: &Definition, name: &str, value: &str) -> Result<(), String> {
    let value = value.trim();
    check_type(definition.kind, value)
        .and_then(|()| check_value(definition, value))
        .map_err(|reason| format!("Invalid value {value} for configuration {name}: {reason}"))
}

/// Checks configs against each other.
pub fn validate_together(configs: &TopicConfigs) -> Result<(), String> {
    let number = |name: &str| {
        let value = configs.get(name).map_or_else(|| super::default(name), String::as_str);
        value.trim().parse::<i64>().unwrap_or(0)
    };
    let (min, max) = (number("min.compaction.lag.ms"), number("max.compaction.lag.ms"));
    if min > max {
        return Err(format!(
            "conflict topic config setting min.compaction.lag.ms ({min}) > max.compaction.lag.ms ({max})"
        ));
    }
    Ok(())
}

fn check_type(kind: ConfigType, value: &str) -> Result<(), String> {
    let number = |is_good: bool, kind: &str| {
        if is_good { Ok(()) } else { Err(format!("Not a number of type {kind}")) }
    };
    match kind {
        ConfigType::Boolean if !is_boolean(value) => {
            Err("Expected value to be either true or false".into())
        }
        ConfigType::Int => number(value.parse::<i32>().is_ok(), "INT"),
        ConfigType::Long => number(value.parse::<i64>().is_ok(), "LONG"),
        ConfigType::Double => number(value.parse::<f64>().is_ok_and(f64::is_finite), "DOUBLE"),
        ConfigType::Boolean | ConfigType::String | ConfigType::List => Ok(()),
    }
}

fn is_boolean(value: &str) -> bool {
    value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false")
}

fn check_value(definition: &Definition, value: &str) -> Result<(), String> {
    // The type is checked: what is a number parses.
    let number = value.parse::<f64>().unwrap_or(f64::NAN);
    let items = || super::list(value);
    match definition.check {
        Check::AtLeast(least) | Check::Between(least, _) if number < least as f64 => {
            Err(format!("Value must be at least {least}"))
        }
        Check::Between(_, most) if number > most as f64 => {
            Err(format!("Value must be no more than {most}"))
        }
        Check::Level(least, most, default)
            if !value.parse().is_ok_and(|it| (least..=most).contains(&it) || it == default) =>
        {
            Err(format!("Value must be between {least} and {most} or equal to {default}"))
        }
        Check::OneOf(known) if !known.contains(&value) => {
            Err(format!("String must be one of: {}", known.join(", ")))
        }
        Check::ListOf(known)
            if items().next().is_none() || items().any(|it| !known.contains(&it)) =>
        {
            Err(format!("String must be one of: {}", known.join(", ")))
        }
        Check::Only(reason) if value != definition.default => {
            Err(format!("{reason}; only {} is accepted", definition.default))
        }
        Check::Built { built, planned } if planned.contains(&value) => {
            Err(format!("{value} is not built yet; what is: {}", built.join(", ")))
        }
        Check::Built { built, .. } if !built.contains(&value) => {
            Err(format!("String must be one of: {}", built.join(", ")))
        }
        Check::Replicas if value != "*" && !items().all(is_replica) => Err(format!(
            "{} must be the literal '*' or a list of replicas in the following format: [partitionId]:[brokerId],[partitionId]:[brokerId],...",
            definition.name
        )),
        Check::Plugins if has_twice(items()) => Err("a plugin is named twice".into()),
        _ => Ok(()),
    }
}

fn is_replica(item: &str) -> bool {
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    item.split_once(':')
        .is_some_and(|(partition, broker)| is_number(partition) && is_number(broker))
}

fn has_twice<'a>(items: impl Iterator<Item = &'a str>) -> bool {
    let mut seen = std::collections::BTreeSet::new();
    let mut items = items;
    items.any(|it| !seen.insert(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(name: &str, value: &str, reason: &str) {
        let error = validate(name, value).unwrap_err();
        assert_eq!(error, format!("Invalid value {value} for configuration {name}: {reason}"));
    }

    #[test]
    fn values_are_refused_in_kafkas_words() {
        refused("retention.ms", "abc", "Not a number of type LONG");
        refused("retention.ms", "-2", "Value must be at least -1");
        refused("segment.bytes", "99999999999", "Not a number of type INT");
        refused("segment.bytes", "1024", "Value must be at least 1048576");
        refused("flush.messages", "0", "Value must be at least 1");
        refused("klamm.flush.mode", "fsync", "String must be one of: os, ack");
        refused("preallocate", "yes", "Expected value to be either true or false");
        refused("min.cleanable.dirty.ratio", "1.5", "Value must be no more than 1");
        refused("min.cleanable.dirty.ratio", "NaN", "Not a number of type DOUBLE");
        refused("cleanup.policy", "compact,burn", "String must be one of: compact, delete");
        refused("cleanup.policy", "", "String must be one of: compact, delete");
        refused(
            "message.timestamp.type",
            "createtime",
            "String must be one of: CreateTime, LogAppendTime",
        );
        refused("compression.gzip.level", "0", "Value must be between 1 and 9 or equal to -1");
    }

    #[test]
    fn what_is_not_built_is_refused_with_what_would_do() {
        refused("klamm.transforms.mode", "tail", "tail is not built yet; what is: inline");
        assert!(validate("klamm.transforms.output", "x").unwrap_err().contains("not built yet"));
        assert!(validate("remote.storage.enable", "true").unwrap_err().contains("tiered storage"));
    }

    #[test]
    fn good_values_pass() {
        for (name, value) in [
            ("retention.ms", "-1"),
            ("retention.ms", " 5 "),
            ("cleanup.policy", "compact, delete"),
            ("compression.type", "uncompressed"),
            ("preallocate", "TRUE"),
            ("min.cleanable.dirty.ratio", "0.25"),
            ("klamm.transforms", "a,b"),
            ("klamm.partitioner.mode", "guard"),
        ] {
            assert_eq!(validate(name, value), Ok(()), "{name}={value}");
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        assert_eq!(
            validate("retention.sm", "1").unwrap_err(),
            "Unknown topic config name: retention.sm; did you mean retention.ms?"
        );
        assert_eq!(validate("zzzzzz", "1").unwrap_err(), "Unknown topic config name: zzzzzz");
    }

    #[test]
    fn a_compaction_lag_must_have_room() {
        let configs = [("min.compaction.lag.ms", "5"), ("max.compaction.lag.ms", "4")];
        let configs = configs.map(|(name, value)| (name.into(), value.into())).into();
        assert!(validate_together(&configs).unwrap_err().contains("conflict topic config"));
    }
}
