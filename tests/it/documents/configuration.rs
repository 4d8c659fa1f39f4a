//! Every setting of a node and every topic config, from the tables that check them.

use std::fmt::Write as _;

use klamm::config::{
    Config, SETTINGS,
    topic::{Check, DEFINITIONS, Definition},
    update_mode,
};

use super::cell;

pub(super) fn settings() -> String {
    let defaults = Config::default();
    let mut out =
        "| setting | default | altered while it runs | meaning |\n|---|---|---|---|\n".to_owned();
    for setting in SETTINGS {
        let default = code(&setting.value(&defaults));
        // Writing to a string does not fail.
        let mode = update_mode(setting.key).name();
        let _ = writeln!(out, "| `{}` | {default} | {mode} | {} |", setting.key, cell(setting.doc));
    }
    out + "\n"
}

pub(super) fn topic_configs() -> String {
    let mut out =
        "| topic config | default | values | the node's settings for it | meaning |\n|---|---|---|---|---|\n".to_owned();
    for it in DEFINITIONS {
        let synonyms: Vec<_> = it.synonyms.iter().map(|it| code(it.name)).collect();
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} | {} |",
            it.name,
            code(it.default),
            cell(&values(it)),
            synonyms.join(", "),
            cell(it.doc),
        );
    }
    out + "\n"
}

fn code(value: &str) -> String {
    if value.is_empty() { String::new() } else { format!("`{}`", cell(value)) }
}

fn values(it: &Definition) -> String {
    let kind = format!("{:?}", it.kind).to_lowercase();
    let listed = |names: &[&str]| names.iter().map(|it| code(it)).collect::<Vec<_>>().join(", ");
    match it.check {
        Check::Any | Check::AtLeast(i64::MIN) => kind,
        Check::AtLeast(least) => format!("{kind}, {least} or more"),
        Check::Between(least, most) => format!("{kind}, {least} to {most}"),
        Check::Level(least, most, default) => format!("{kind}, {least} to {most}, or {default}"),
        Check::OneOf(names) => listed(names),
        Check::ListOf(names) => format!("list of {}", listed(names)),
        Check::Only(reason) => format!("the default alone: {reason}"),
        Check::Built { built, planned } => {
            format!("{}; not yet: {}", listed(built), listed(planned))
        }
        Check::Plugin => "a plugin".into(),
        Check::Replicas => "`PARTITION:BROKER` each, or `*`".into(),
        Check::Plugins => "plugins".into(),
    }
}
