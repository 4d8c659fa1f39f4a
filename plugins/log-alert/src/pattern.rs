//! The user's patterns: regular expressions that raise alerts whatever a line's level. Matching takes time linear
//! in the record, whatever the expression.

use crate::settings::{Problems, labels, severity};
use klamm_plugin::transform::Severity;
use regex::bytes::{Captures, Regex, RegexBuilder};
use serde_json::{Map, Value};

/// Most memory that one compiled expression may take.
const REGEX_BYTES_MAX: usize = 1 << 20;

const KNOWN: [&str; 4] = ["name", "regex", "severity", "labels"];

#[derive(Debug)]
pub(crate) struct Pattern {
    /// Of the label `pattern`.
    pub name: Option<String>,
    regex: Regex,
    /// Without one the line's level decides.
    pub severity: Option<Severity>,
    pub labels: Vec<(String, String)>,
}

impl Pattern {
    /// Reads one entry of the list: the expression alone, or a table.
    pub(crate) fn read(index: usize, entry: &Value, problems: &mut Problems) -> Option<Self> {
        match entry {
            Value::String(text) => {
                let regex = compile(index, text, problems)?;
                Some(Self { name: None, regex, severity: None, labels: Vec::new() })
            }
            Value::Object(table) => Self::read_table(index, table, problems),
            _ => {
                problems.add(format!(
                    "`patterns[{index}]` takes a regular expression, or a table with `regex`"
                ));
                None
            }
        }
    }

    fn read_table(
        index: usize,
        table: &Map<String, Value>,
        problems: &mut Problems,
    ) -> Option<Self> {
        for name in table.keys().filter(|name| !KNOWN.contains(&name.as_str())) {
            problems.add(format!(
                "`patterns[{index}].{name}` is no setting; there are {}",
                KNOWN.join(", ")
            ));
        }
        let name = text(index, "name", table, problems);
        let severity = read_severity(index, table, problems);
        let labels = table
            .get("labels")
            .map(|value| labels(&format!("patterns[{index}].labels"), value, problems));
        let Some(regex) = text(index, "regex", table, problems) else {
            problems.add(format!("`patterns[{index}]` has no `regex`"));
            return None;
        };
        let regex = compile(index, &regex, problems)?;
        Some(Self { name, regex, severity, labels: labels.unwrap_or_default() })
    }

    pub(crate) fn captures<'t>(&self, text: &'t [u8]) -> Option<Captures<'t>> {
        // Captures cost several times what the plain search does, and most lines match nothing.
        if self.regex.is_match(text) { self.regex.captures(text) } else { None }
    }

    /// The named groups that took part in a match, as labels.
    pub(crate) fn named(&self, captures: &Captures<'_>) -> Vec<(String, String)> {
        let group = |name: &str| {
            let text = captures.name(name)?.as_bytes();
            Some((name.to_owned(), String::from_utf8_lossy(text).into_owned()))
        };
        self.regex.capture_names().flatten().filter_map(group).collect()
    }
}

fn text(
    index: usize,
    name: &str,
    table: &Map<String, Value>,
    problems: &mut Problems,
) -> Option<String> {
    let value = table.get(name)?;
    if value.as_str().is_none() {
        problems.add(format!("`patterns[{index}].{name}` takes a text"));
    }
    value.as_str().map(str::to_owned)
}

fn read_severity(
    index: usize,
    table: &Map<String, Value>,
    problems: &mut Problems,
) -> Option<Severity> {
    let name = text(index, "severity", table, problems)?;
    let severity = severity(&name);
    if severity.is_none() {
        let takes = "critical, error, warning or info";
        problems.add(format!("`patterns[{index}].severity` is `{name}`; it takes {takes}"));
    }
    severity
}

fn compile(index: usize, text: &str, problems: &mut Problems) -> Option<Regex> {
    let built =
        RegexBuilder::new(text).size_limit(REGEX_BYTES_MAX).dfa_size_limit(REGEX_BYTES_MAX).build();
    match built {
        Ok(regex) => Some(regex),
        Err(error) => {
            problems.add(format!("`patterns[{index}]` is no regular expression: {error}"));
            None
        }
    }
}
