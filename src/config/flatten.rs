//! TOML → settings under dotted names, each with its line. `[log.retention] ms = 1`, `log.retention.ms = 1` and
//! `"log.retention.ms" = 1` are one setting.

use std::collections::{BTreeMap, btree_map};

use toml::de::{DeTable, DeValue};

use super::Problems;

/// One setting as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Such as `klamm.toml:3` or `--set`.
    pub place: String,
    /// What stands before the key in a table of names: `klamm.topics`, `klamm.groups` or `klamm.alert.sinks` and the name.
    pub scope: Option<(&'static str, String)>,
    pub key: String,
    /// Text as it is, numbers and booleans as they are written, lists joined by commas.
    pub value: String,
}

/// Tables whose next key is a name or a pattern, one quoted key.
const NAMED: &[&str] = &["klamm.topics", "klamm.groups", "klamm.alert.sinks"];

/// Reads a file's text. `file` is how places name it.
pub(super) fn flatten_file(file: &str, text: &str, problems: &mut Problems) -> Vec<Entry> {
    let line_ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at);
    let line_ends = line_ends.collect();
    let broken = BTreeMap::new();
    let mut flat = Flat { file, text, line_ends, broken, entries: Vec::new(), problems };
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        flat.no_toml(error);
    }
    flat.table("", None, table.get_ref());
    flat.tell_broken();
    flat.once_each()
}

/// Reads one `KEY=VALUE` of `--set`: the value as TOML, else as a plain string.
pub(super) fn flatten_set(argument: &str, problems: &mut Problems) -> Vec<Entry> {
    let Some((key, value)) = argument.split_once('=') else {
        problems.add("--set", argument, "is not KEY=VALUE");
        return Vec::new();
    };
    let as_toml = format!("{key} = {value}");
    let text = if DeTable::parse(&as_toml).is_ok() {
        as_toml
    } else {
        format!("{key} = {}", toml::Value::String(value.into()))
    };
    let mut entries = flatten_file("--set", &text, problems);
    for entry in &mut entries {
        entry.place = "--set".into();
    }
    entries
}

struct Flat<'a> {
    file: &'a str,
    text: &'a str,
    /// Where the lines of `text` end, in rising order.
    line_ends: Vec<usize>,
    /// Lines that are no TOML, with the first reason of each: what was made of them is no setting.
    broken: BTreeMap<usize, String>,
    /// Each with where it stands.
    entries: Vec<(usize, Entry)>,
    problems: &'a mut Problems,
}

impl<'a> Flat<'a> {
    fn place(&self, at: usize) -> String {
        format!("{}:{}", self.file, self.line(at) + 1)
    }

    /// From 0.
    fn line(&self, at: usize) -> usize {
        self.line_ends.partition_point(|&end| end < at)
    }

    /// A duplicate key is the one mistake of TOML that is a setting's; its key is told as any other's.
    fn no_toml(&mut self, error: &toml::de::Error) {
        let at = error.span().unwrap_or_default().start;
        let line = self.line(at);
        if error.message() == "duplicate key" {
            let key = self.text_of_line(line).split('=').next().unwrap_or_default().trim();
            self.problems.add(&self.place(at), key, error.message());
        } else {
            self.broken.entry(line).or_insert_with(|| error.message().to_owned());
        }
    }

    /// The settings in the order of the file. What is two keys in TOML and one here is refused, as a duplicate key is.
    fn once_each(mut self) -> Vec<Entry> {
        self.entries.sort_by_key(|(at, _)| *at);
        let mut places = BTreeMap::new();
        for (_, Entry { place, scope, key, .. }) in &self.entries {
            match places.entry((scope, key)) {
                btree_map::Entry::Vacant(first) => {
                    first.insert(place);
                }
                btree_map::Entry::Occupied(first) => {
                    let reason = format_args!("is set already, at {}", first.get());
                    self.problems.add(place, key, reason);
                }
            }
        }
        self.entries.into_iter().map(|(_, entry)| entry).collect()
    }

    fn tell_broken(&mut self) {
        for (&line, reason) in &self.broken {
            let place = format!("{}:{}", self.file, line + 1);
            match property(self.text_of_line(line)) {
                Some((key, value)) => {
                    let quoted = toml::Value::String(value.into());
                    let hint = format_args!(
                        "text stands in quotes in TOML, unlike in Kafka's server.properties: {key} = {quoted}"
                    );
                    self.problems.add(&place, key, hint);
                }
                None => self.problems.add(&place, "", reason),
            }
        }
    }

    fn text_of_line(&self, line: usize) -> &'a str {
        let start =
            line.checked_sub(1).and_then(|it| self.line_ends.get(it)).map_or(0, |it| it + 1);
        let text: &'a str = self.text;
        text.get(start..).and_then(|it| it.lines().next()).unwrap_or_default()
    }

    fn table(&mut self, prefix: &str, scope: Option<&(&'static str, String)>, table: &DeTable<'_>) {
        for (key, value) in table {
            let name = match prefix {
                "" => key.get_ref().to_string(),
                prefix => format!("{prefix}.{}", key.get_ref()),
            };
            match value.get_ref() {
                DeValue::Table(inner) => match NAMED.iter().find(|it| **it == name) {
                    Some(named) if scope.is_none() => self.named(named, inner),
                    _ => self.table(&name, scope, inner),
                },
                value => self.setting(key.span().start, scope, name, value),
            }
        }
    }

    fn named(&mut self, named: &'static str, table: &DeTable<'_>) {
        for (key, value) in table {
            if let DeValue::Table(inner) = value.get_ref() {
                self.table("", Some(&(named, key.get_ref().to_string())), inner);
            } else {
                let place = self.place(key.span().start);
                let key = format!("{named}.{}", key.get_ref());
                self.problems.add(&place, &key, "must be a table, under one quoted name");
            }
        }
    }

    fn setting(
        &mut self,
        at: usize,
        scope: Option<&(&'static str, String)>,
        key: String,
        value: &DeValue<'_>,
    ) {
        if self.broken.contains_key(&self.line(at)) {
            return;
        }
        let place = self.place(at);
        match text_of(value) {
            Some(value) => {
                self.entries.push((at, Entry { place, scope: scope.cloned(), key, value }));
            }
            None => {
                self.problems.add(
                    &place,
                    &key,
                    "takes text, a number, a boolean or a list of them",
                );
            }
        }
    }
}

/// A line as Java's property files have it: a bare value behind the key.
fn property(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once('=')?;
    let (key, value) = (key.trim(), value.trim());
    let is_key = |it: u8| it.is_ascii_alphanumeric() || b"._-".contains(&it);
    let is_bare = value.bytes().next().is_some_and(|it| !b"=\"'[{#".contains(&it));
    (!key.is_empty() && key.bytes().all(is_key) && is_bare).then_some((key, value))
}

fn text_of(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => {
            i128::from_str_radix(number.as_str(), number.radix()).ok().map(|it| it.to_string())
        }
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        DeValue::Boolean(it) => Some(it.to_string()),
        DeValue::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(|it| text_of(it.get_ref())).collect();
            items.map(|it| it.join(","))
        }
        DeValue::Datetime(_) | DeValue::Table(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &[(&str, &str)]) {
        let mut problems = Problems::default();
        let entries = flatten_file("f", text, &mut problems);
        assert_eq!(problems, Problems::default());
        let got: Vec<(&str, &str)> =
            entries.iter().map(|it| (it.key.as_str(), it.value.as_str())).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn three_ways_of_writing_are_one_setting() {
        for text in ["[log.retention]\nms = 1", "log.retention.ms = 1", "\"log.retention.ms\" = 1"]
        {
            check(text, &[("log.retention.ms", "1")]);
        }
    }

    #[test]
    fn one_setting_in_two_ways_of_writing_is_told_with_both_lines() {
        for (text, want) in [
            (
                "num.partitions = 1\n\"num.partitions\" = 2",
                "f:2: num.partitions: is set already, at f:1",
            ),
            (
                "[log]\n\"retention.ms\" = 1\n[log.retention]\nms = 1",
                "f:4: log.retention.ms: is set already, at f:2",
            ),
            (
                "[klamm.topics.\"a\"]\nretention.ms = 5\n\"retention.ms\" = 5",
                "f:3: retention.ms: is set already, at f:2",
            ),
        ] {
            let mut problems = Problems::default();
            flatten_file("f", text, &mut problems);
            assert_eq!(problems.to_string(), want);
        }
    }

    #[test]
    fn a_list_is_kafkas_comma_text() {
        check(
            "process.roles = [\"broker\", \"controller\"]",
            &[("process.roles", "broker,controller")],
        );
    }

    #[test]
    fn a_pattern_stays_one_key_and_its_settings_are_flattened() {
        let mut problems = Problems::default();
        let text =
            "[klamm.topics.\"logs.*\"]\nretention.ms = 5\n\"klamm.transforms\" = [\"a\", \"b\"]";
        let entries = flatten_file("f", text, &mut problems);
        assert_eq!(problems, Problems::default());
        assert!(entries.iter().all(|it| it.scope == Some(("klamm.topics", "logs.*".into()))));
        assert_eq!(entries.len(), 2);
    }

    #[test]
    fn what_is_no_toml_is_told_with_its_line() {
        let mut problems = Problems::default();
        flatten_file("f", "a = 1\nb = = 2", &mut problems);
        assert_eq!(problems.0[0].place, "f:2");
    }

    #[test]
    fn a_java_property_is_told_once_with_what_it_is_in_toml() {
        let mut problems = Problems::default();
        let text = "num.partitions=1\nlisteners=PLAINTEXT://:9092,B://:1\nlog.cleanup.policy = delete\nx=\ny";
        let entries = flatten_file("f", text, &mut problems);
        let keys: Vec<&str> = entries.iter().map(|it| it.key.as_str()).collect();
        assert_eq!(keys, ["num.partitions"], "what is left of a broken line is no setting");
        let places: Vec<&str> = problems.0.iter().map(|it| it.place.as_str()).collect();
        assert_eq!(places, ["f:2", "f:3", "f:4", "f:5"]);
        let told = problems.to_string();
        assert!(told.contains("listeners = \"PLAINTEXT://:9092,B://:1\"\n"), "{told}");
        assert!(told.contains("log.cleanup.policy = \"delete\"\n"), "{told}");
    }

    #[test]
    fn a_set_value_that_is_no_toml_is_text() {
        let mut problems = Problems::default();
        let entries = flatten_set("listeners=PLAINTEXT://127.0.0.1:0", &mut problems);
        assert_eq!(entries[0].value, "PLAINTEXT://127.0.0.1:0");
        assert_eq!(flatten_set("num.partitions=3", &mut problems)[0].value, "3");
        assert_eq!(problems, Problems::default());
    }
}
