//! The table `[config]` of `log-alert.toml`. Everything that is wrong with it is told at once, with the setting's
//! name and what it takes; a setting that is not known is refused, since a typing error must not silence alerts.

use crate::level::{LEVELS, Level, LevelSet};
use crate::pattern::Pattern;
use klamm_plugin::transform::Severity;
use serde_json::{Map, Value};

const KNOWN: [&str; 5] = ["levels", "patterns", "labels", "fingerprint", "level-path"];

/// More than these are a mistake, and would cost every record.
const PATTERNS_MAX: usize = 64;
const LABELS_MAX: usize = 32;

/// The defaults, as `describe` tells them.
pub(crate) const DEFAULTS: &str = r#"{"levels":["ERROR","SEVERE","FAILURE","CRITICAL","FATAL","ALERT","EMERGENCY","PANIC"],"patterns":[],"labels":{},"fingerprint":"message","level-path":""}"#;

/// What a fingerprint is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The message, masked, and the exception of the same record.
    Message,
    /// The title as it stands.
    Title,
    Level,
    Logger,
    Pattern,
    Exception,
}

const PARTS: [(&str, Part); 6] = [
    ("message", Part::Message),
    ("title", Part::Title),
    ("level", Part::Level),
    ("logger", Part::Logger),
    ("pattern", Part::Pattern),
    ("exception", Part::Exception),
];

#[derive(Debug)]
pub(crate) struct Settings {
    pub levels: LevelSet,
    pub patterns: Vec<Pattern>,
    pub labels: Vec<(String, String)>,
    pub fingerprint: Vec<Part>,
    /// Where JSON lines have their level; the usual keys are tried behind it.
    pub level_path: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            levels: LevelSet::from(Level::Error),
            patterns: Vec::new(),
            labels: Vec::new(),
            fingerprint: vec![Part::Message],
            level_path: None,
        }
    }
}

/// Problems as they are found, a line each.
#[derive(Debug, Default)]
pub(crate) struct Problems(Vec<String>);

impl Problems {
    pub(crate) fn add(&mut self, problem: String) {
        self.0.push(problem);
    }
}

impl Settings {
    /// Reads the settings' JSON text; the error names every problem.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = if text.trim().is_empty() { "{}" } else { text };
        let value =
            serde_json::from_str(text).map_err(|error| format!("read the settings: {error}"))?;
        let Value::Object(table) = value else {
            return Err("the settings are no table".to_owned());
        };
        let mut problems = Problems::default();
        let settings = Self::read(&table, &mut problems);
        if problems.0.is_empty() { Ok(settings) } else { Err(problems.0.join("\n")) }
    }

    fn read(table: &Map<String, Value>, problems: &mut Problems) -> Self {
        let mut settings = Self::default();
        for (name, value) in table {
            match name.as_str() {
                "levels" => settings.levels = levels(value, problems),
                "patterns" => settings.patterns = patterns(value, problems),
                "labels" => settings.labels = labels("labels", value, problems),
                "fingerprint" => settings.fingerprint = fingerprint(value, problems),
                "level-path" => settings.level_path = level_path(value, problems),
                unknown => problems
                    .add(format!("`{unknown}` is no setting; there are {}", KNOWN.join(", "))),
            }
        }
        settings
    }
}

/// A list names the levels themselves; a single name means that level and everything worse.
fn levels(value: &Value, problems: &mut Problems) -> LevelSet {
    match value {
        Value::String(least) => level(least, problems).map_or(LevelSet::EMPTY, LevelSet::from),
        Value::Array(names) => names.iter().fold(LevelSet::EMPTY, |set, name| {
            // What is no text is named as the JSON that it is.
            let name = name.as_str().map_or_else(|| name.to_string(), str::to_owned);
            level(&name, problems).map_or(set, |level| set.with(level))
        }),
        _ => {
            problems.add(
                "`levels` takes a list of names, or one name for it and everything worse"
                    .to_owned(),
            );
            LevelSet::EMPTY
        }
    }
}

fn level(name: &str, problems: &mut Problems) -> Option<Level> {
    let level = Level::named(name.trim().as_bytes());
    if level.is_none() {
        let names = LEVELS.map(|(_, name)| name).join(", ");
        problems.add(format!("`levels` holds `{name}`, which is no level; there are {names}"));
    }
    level
}

fn patterns(value: &Value, problems: &mut Problems) -> Vec<Pattern> {
    let Value::Array(list) = value else {
        problems.add(
            "`patterns` takes a list of regular expressions, or of tables with `regex`".to_owned(),
        );
        return Vec::new();
    };
    if list.len() > PATTERNS_MAX {
        problems.add(format!(
            "`patterns` has {} entries; at most {PATTERNS_MAX} are taken",
            list.len()
        ));
        return Vec::new();
    }
    list.iter()
        .enumerate()
        .filter_map(|(index, entry)| Pattern::read(index, entry, problems))
        .collect()
}

/// Labels of a table; numbers and booleans are taken as text.
pub(crate) fn labels(
    setting: &str,
    value: &Value,
    problems: &mut Problems,
) -> Vec<(String, String)> {
    let Value::Object(table) = value else {
        problems.add(format!("`{setting}` takes a table of names and texts"));
        return Vec::new();
    };
    if table.len() > LABELS_MAX {
        problems
            .add(format!("`{setting}` has {} labels; at most {LABELS_MAX} are taken", table.len()));
    }
    let text = |(name, value): (&String, &Value)| {
        if !is_label(name) {
            problems.add(format!(
                "`{setting}.{name}` is no label's name: letters, digits and `_`, no digit first"
            ));
        }
        match value {
            Value::String(text) => Some((name.clone(), text.clone())),
            Value::Number(_) | Value::Bool(_) => Some((name.clone(), value.to_string())),
            _ => {
                problems.add(format!("`{setting}.{name}` takes a text"));
                None
            }
        }
    };
    table.iter().filter_map(text).collect()
}

/// What Prometheus' and Alertmanager's label names are made of.
fn is_label(name: &str) -> bool {
    let is_first = |first: char| first.is_ascii_alphabetic() || first == '_';
    name.starts_with(is_first)
        && name.chars().all(|next| next.is_ascii_alphanumeric() || next == '_')
}

fn fingerprint(value: &Value, problems: &mut Problems) -> Vec<Part> {
    let names: Vec<&Value> = match value {
        Value::String(_) => vec![value],
        Value::Array(list) if !list.is_empty() => list.iter().collect(),
        _ => {
            problems.add(format!("`fingerprint` takes one or more of {}", part_names()));
            return Vec::new();
        }
    };
    names.into_iter().filter_map(|name| part(name, problems)).collect()
}

fn part(name: &Value, problems: &mut Problems) -> Option<Part> {
    let found = PARTS.iter().find(|(known, _)| name.as_str() == Some(known));
    if found.is_none() {
        problems
            .add(format!("`fingerprint` holds {name}; it takes one or more of {}", part_names()));
    }
    found.map(|(_, part)| *part)
}

fn part_names() -> String {
    PARTS.map(|(name, _)| name).join(", ")
}

fn level_path(value: &Value, problems: &mut Problems) -> Option<String> {
    match value.as_str() {
        Some("") => None,
        Some(path) => Some(path.to_owned()),
        None => {
            problems.add(
                "`level-path` takes the keys to the level, with dots between, such as `log.level`"
                    .to_owned(),
            );
            None
        }
    }
}

/// A severity by the broker's name, or by a level's.
pub(crate) fn severity(name: &str) -> Option<Severity> {
    match name.to_ascii_lowercase().as_str() {
        "critical" => Some(Severity::Critical),
        "error" => Some(Severity::Error),
        "warning" => Some(Severity::Warning),
        "info" => Some(Severity::Info),
        other => Level::named(other.as_bytes()).map(Level::severity),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_told_are_the_defaults_used() {
        let told = Settings::parse(DEFAULTS).unwrap();
        let used = Settings::parse("{}").unwrap();
        assert_eq!(told.levels, used.levels);
        assert_eq!(told.fingerprint, used.fingerprint);
        assert_eq!((told.level_path, told.labels.len()), (None, 0));
    }

    #[test]
    fn a_list_names_levels_and_a_name_means_it_and_worse() {
        let levels = |text: &str| Settings::parse(text).unwrap().levels;
        assert_eq!(levels(r#"{"levels":"warning"}"#), LevelSet::from(Level::Warning));
        let set = levels(r#"{"levels":["warn","ERR"]}"#);
        assert!(set.contains(Level::Warning));
        assert!(set.contains(Level::Error));
        assert!(!set.contains(Level::Fatal));
    }

    #[test]
    fn every_problem_is_told_at_once() {
        let text = r#"{"level":"x","levels":["LOUD",3],"patterns":["(",{"regexp":"x"},{"regex":"x","severity":"loud"}],
            "labels":{"1a":"x","b":[]},"fingerprint":["message","hash"],"level-path":1}"#;
        let error = Settings::parse(text).unwrap_err();
        for part in [
            "`level` is no",
            "LOUD",
            "holds `3`",
            "patterns[0]",
            "patterns[1].regexp",
            "`patterns[1]` has no",
            "patterns[2].severity",
            "labels.1a",
            "labels.b",
            "hash",
            "level-path",
        ] {
            assert!(error.contains(part), "{part} is not in\n{error}");
        }
    }

    #[test]
    fn settings_that_are_no_table_are_refused() {
        for text in ["[]", "1", "{", "\"x\""] {
            assert!(Settings::parse(text).is_err(), "{text}");
        }
    }
}
