//! A node's settings that are defaults of topic configs, under their own old names and units (`log.retention.hours`).

use std::fmt::Write as _;

use super::{Check, ConfigType, DEFINITIONS, Definition, Synonym, definition, validate};
use crate::config::value::no_number;

/// Reads a node's setting as the topic config that it is the default of: the config's name and its value. `None` for another
/// setting.
pub fn read_broker_default(
    key: &str,
    value: &str,
) -> Option<Result<(&'static str, String), String>> {
    let (definition, synonym) = find(key)?;
    let converted = convert(synonym, value)
        .and_then(|value| validate(definition.name, &value).map(|()| (definition.name, value)));
    Some(
        converted.map_err(|reason| in_words_of_settings(definition, synonym.factor, value, reason)),
    )
}

/// Checks a topic config of the file, in the words of the file's other settings.
pub fn validate_in_file(name: &str, value: &str) -> Result<(), String> {
    validate(name, value).map_err(|reason| match definition(name) {
        Some(definition) => in_words_of_settings(definition, 1, value, reason),
        None => reason,
    })
}

/// What Kafka says of a number is told as for a number of any other setting, in the setting's unit.
fn in_words_of_settings(it: &Definition, factor: i64, value: &str, reason: String) -> String {
    let most = match it.kind {
        ConfigType::Int => i64::from(i32::MAX),
        ConfigType::Long => i64::MAX,
        _ => return reason,
    };
    match it.check {
        Check::Any => no_number(value, -most - 1, most / factor),
        // A negative number stands for itself, whatever the unit.
        Check::AtLeast(least) => no_number(value, least, most / factor),
        Check::Between(least, most) => no_number(value, least, most / factor),
        _ => reason,
    }
}

/// The settings that [`read_broker_default`] knows.
pub fn broker_default_names() -> impl Iterator<Item = &'static str> {
    DEFINITIONS.iter().flat_map(|it| it.synonyms).map(|it| it.name)
}

/// Those settings with their meaning and default, as comments of TOML.
pub fn print_broker_defaults() -> String {
    let mut out = String::new();
    for definition in DEFINITIONS {
        // The strongest synonym is the one to use; the others are other units.
        if let Some(synonym) = definition.synonyms.first() {
            // Writing to a string does not fail.
            let _ = write!(
                out,
                "\n# {} (topic config {})\n# {} = {}\n",
                definition.doc,
                definition.name,
                synonym.name,
                toml(definition.default)
            );
        }
    }
    out
}

fn find(setting: &str) -> Option<(&'static Definition, Synonym)> {
    DEFINITIONS.iter().find_map(|it| {
        it.synonyms.iter().find(|synonym| synonym.name == setting).map(|&synonym| (it, synonym))
    })
}

/// The value in the topic config's unit.
fn convert(synonym: Synonym, value: &str) -> Result<String, String> {
    if synonym.factor == 1 {
        return Ok(value.into());
    }
    let no_number = || format!("{value} is no number, or too large");
    let number: i64 = value.trim().parse().map_err(|_| no_number())?;
    if number < 0 {
        return Ok(number.to_string());
    }
    number.checked_mul(synonym.factor).map(|it| it.to_string()).ok_or_else(no_number)
}

fn toml(value: &str) -> String {
    if value.parse::<f64>().is_ok() || value == "true" || value == "false" {
        value.into()
    } else {
        format!("\"{value}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_becomes_its_topic_config_in_that_configs_unit() {
        let read = |key, value| read_broker_default(key, value).unwrap().unwrap();
        assert_eq!(read("log.retention.hours", "2"), ("retention.ms", "7200000".into()));
        assert_eq!(read("log.retention.minutes", "-1"), ("retention.ms", "-1".into()));
        assert_eq!(read("message.max.bytes", "7"), ("max.message.bytes", "7".into()));
        assert_eq!(read_broker_default("retention.ms", "1"), None);
    }

    #[test]
    fn a_bad_value_is_refused_whatever_its_unit() {
        for (key, value) in [
            ("log.retention.hours", "soon"),
            ("log.retention.hours", "9223372036854775807"),
            ("log.segment.bytes", "1"),
            ("log.cleanup.policy", "burn"),
        ] {
            assert!(read_broker_default(key, value).unwrap().is_err(), "{key}={value}");
        }
    }

    #[test]
    fn a_number_is_refused_in_the_words_and_the_unit_of_the_setting() {
        let told = |key, value| read_broker_default(key, value).unwrap().unwrap_err();
        let hours = "is not a whole number from -1 to 2562047788015";
        assert_eq!(told("log.retention.hours", "soon"), format!("`soon` {hours}"));
        assert_eq!(
            told("log.retention.hours", "9223372036854775807"),
            format!("`9223372036854775807` {hours}")
        );
        assert_eq!(
            told("log.segment.bytes", "1"),
            "`1` is not a whole number from 1048576 to 2147483647"
        );
        assert_eq!(
            validate_in_file("retention.ms", "-2").unwrap_err(),
            "`-2` is not a whole number from -1 to 9223372036854775807"
        );
    }

    #[test]
    fn what_is_printed_is_toml_that_reads_back_as_the_default() {
        let printed = print_broker_defaults();
        let lines: Vec<&str> = printed
            .lines()
            .filter_map(|it| it.strip_prefix("# ").filter(|it| it.contains(" = ")))
            .collect();
        let toml = lines.join("\n");
        let table: toml::Table = toml.parse().unwrap();
        assert!(!table.is_empty());
        assert!(printed.contains("# log.retention.ms = 604800000\n"));
    }
}
