//! `klamm config --print-defaults`: every setting with its meaning and default, as a file that can be used.

use std::fmt::Write as _;

use super::{Config, setting::Setting, settings::SETTINGS, topic};

/// The defaults as TOML, each setting commented out below its meaning.
pub fn print_defaults() -> String {
    let defaults = Config::default();
    let mut out = String::from(
        "# Every setting of a Klamm node with its default. Keys are Kafka's own where Kafka has one.\n",
    );
    for setting in SETTINGS {
        // Writing to a string does not fail.
        let _ = write!(
            out,
            "\n# {}\n# {} = {}\n",
            setting.doc,
            key(setting),
            (setting.show)(&defaults)
        );
    }
    out.push_str("\n# Defaults of topic configs.\n");
    out.push_str(&topic::print_broker_defaults());
    out.push_str(PATTERNS);
    out
}

/// A setting's name as TOML: one that begins with another's name stands in quotes, since that one is no table.
fn key(setting: &Setting) -> String {
    let extends = |it: &Setting| {
        setting.key.strip_prefix(it.key).is_some_and(|behind| behind.starts_with('.'))
    };
    if SETTINGS.iter().any(extends) {
        format!("\"{}\"", setting.key)
    } else {
        setting.key.to_owned()
    }
}

const PATTERNS: &str = "
# Topic configs of the topics whose names match (`*`, `?`), below a topic's own. The longest match wins.
# [klamm.topics.\"logs-*\"]
# \"klamm.transforms\" = \"log-alert\"

# Group configs of the groups whose ids match.
# [klamm.groups.\"billing-*\"]
# \"klamm.assignor\" = \"sticky\"

# Where alerts go, besides the topic __klamm_alerts: alertmanager, webhook or log.
# [klamm.alert.sinks.NAME]
# type = \"alertmanager\"
# url = \"http://127.0.0.1:9093\"
";

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{SETTINGS, print_defaults};
    use crate::config::Config;

    #[test]
    fn what_is_printed_is_a_configuration_and_each_line_of_it_can_be_taken_into_use() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let printed = print_defaults();
        fs::write(file.path(), &printed).unwrap();
        Config::load(Some(file.path()), &[]).unwrap();

        let used: Vec<&str> = printed.lines().map(uncommented).collect();
        fs::write(file.path(), used.join("\n")).unwrap();
        let config = Config::load(Some(file.path()), &[]).unwrap().config;
        assert_eq!(config.alert.sinks.len(), 1);
        for setting in SETTINGS {
            assert_eq!(
                (setting.show)(&config),
                (setting.show)(&Config::default()),
                "{}",
                setting.key
            );
        }
    }

    /// Without its `# `, where TOML stands behind it and not a sentence.
    fn uncommented(line: &str) -> &str {
        let bare = line.strip_prefix("# ").unwrap_or(line);
        if toml::from_str::<toml::Table>(bare).is_ok() { bare } else { line }
    }
}
