//! A node's settings that are defaults of topic configs, under their own old names and units (`log.retention.hours`).

use std::fmt::Write as _;

use super::{DEFINITIONS, Definition, Synonym, validate};

/// Reads a node's setting as the topic config that it is the default of: the config's name and its value. `None` for another
/// setting.
pub fn read_broker_default(
    key: &str,
    value: &str,
) -> Option<Result<(&'static str, String), String>> {
    let (definition, synonym) = find(key)?;
    Some(
        convert(synonym, value)
            .and_then(|value| validate(definition.name, &value).map(|()| (definition.name, value))),
    )
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
    let number: i64 = value.trim().parse().map_err(|_| format!("{value} is not a number"))?;
    if number < 0 {
        return Ok(number.to_string());
    }
    let converted = number.checked_mul(synonym.factor);
    converted.map(|it| it.to_string()).ok_or_else(|| format!("{value} is too large"))
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
