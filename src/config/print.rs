//! `klamm config --print-defaults`: every setting with its meaning and default, as a file that can be used.

use std::fmt::Write as _;

use super::{Config, settings::SETTINGS, topic};

/// The defaults as TOML, each setting commented out below its meaning.
pub fn print_defaults() -> String {
    let defaults = Config::default();
    let mut out = String::from(
        "# Every setting of a Klamm node with its default. Keys are Kafka's own where Kafka has one.\n",
    );
    for setting in SETTINGS {
        // Writing to a string does not fail.
        let _ =
            write!(out, "\n# {}\n# {} = {}\n", setting.doc, setting.key, (setting.show)(&defaults));
    }
    out.push_str("\n# Defaults of topic configs.\n");
    out.push_str(&topic::print_broker_defaults());
    out.push_str(PATTERNS);
    out
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
