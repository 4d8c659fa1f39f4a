//! A node's settings from its file and `--set`, or everything that is wrong with them.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read},
    path::Path,
};

use super::{
    Config, Pattern, Patterns, Problems, SinkConfig, SinkKind,
    flatten::{Entry, flatten_file, flatten_set},
    group,
    of_kafka::{INSTEAD, MEANINGLESS, NOT_SERVED},
    problem::nearest,
    settings::SETTINGS,
    sink_url::check_url,
    topic,
};

/// Far more than any configuration; what is larger is some other file.
const FILE_MAX_BYTES: u64 = 4 * 1024 * 1024;

/// A checked configuration, and what to warn of once logging is set up.
#[derive(Debug)]
pub struct Loaded {
    pub config: Config,
    /// Settings of Kafka's that were accepted and do nothing here.
    pub meaningless: Vec<String>,
}

impl Config {
    /// Reads `file`, if there is one, and then `sets` (`KEY=VALUE`), which win.
    ///
    /// # Errors
    ///
    /// All problems at once, each with its line, the key and the nearest known key.
    pub fn load(file: Option<&Path>, sets: &[String]) -> Result<Loaded, Problems> {
        let mut problems = Problems::default();
        let mut entries = Vec::new();
        if let Some(file) = file {
            let name = file.display().to_string();
            match read_text(file) {
                Ok(text) => entries = flatten_file(&name, &text, &mut problems),
                Err(error) => problems.add(&name, "", format_args!("cannot be read: {error}")),
            }
        }
        for set in sets {
            entries.extend(flatten_set(set, &mut problems));
        }
        Self::from_entries(&entries, problems)
    }

    fn from_entries(entries: &[Entry], problems: Problems) -> Result<Loaded, Problems> {
        let mut loader = Loader {
            config: Self::default(),
            meaningless: Vec::new(),
            sinks: BTreeMap::new(),
            places: BTreeMap::new(),
            problems,
        };
        for entry in entries {
            loader.entry(entry);
        }
        loader.finish()
    }
}

/// Reads at most [`FILE_MAX_BYTES`]. A pipe, a socket or a device is not opened: that could wait for ever.
fn read_text(file: &Path) -> io::Result<String> {
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    File::open(file)?.take(FILE_MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_MAX_BYTES {
        return Err(io::Error::other(format!("it has more than {FILE_MAX_BYTES} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is no UTF-8 text"))
}

struct Loader {
    config: Config,
    meaningless: Vec<String>,
    sinks: BTreeMap<String, BTreeMap<String, Entry>>,
    /// Where each setting was set last.
    places: BTreeMap<String, String>,
    problems: Problems,
}

impl Loader {
    fn entry(&mut self, entry: &Entry) {
        match &entry.scope {
            None => self.setting(entry),
            Some(("klamm.topics", pattern)) => self.topic_pattern(pattern, entry),
            Some(("klamm.groups", pattern)) => self.group_pattern(pattern, entry),
            Some((_, sink)) => {
                let settings = self.sinks.entry(sink.clone()).or_default();
                settings.insert(entry.key.clone(), entry.clone());
            }
        }
    }

    fn problem(&mut self, entry: &Entry, reason: impl std::fmt::Display) {
        let key = match &entry.scope {
            None => entry.key.clone(),
            Some((table, name)) => format!("{table}.\"{name}\".{}", entry.key),
        };
        self.problems.add(&entry.place, &key, reason);
    }

    /// What was meant is looked for as long as it will be read.
    fn unknown<'a>(&mut self, entry: &Entry, known: impl IntoIterator<Item = &'a str>) {
        let near = self.problems.lists_more().then(|| nearest(&entry.key, known)).flatten();
        match near {
            Some(near) => {
                self.problem(entry, format_args!("is no setting; did you mean `{near}`?"));
            }
            None => {
                self.problem(entry, "is no setting; `klamm config --print-defaults` lists all");
            }
        }
    }

    fn setting(&mut self, entry: &Entry) {
        self.places.insert(entry.key.clone(), entry.place.clone());
        let key = entry.key.as_str();
        if let Some(setting) = SETTINGS.iter().find(|it| it.key == key) {
            if let Err(reason) = (setting.read)(&mut self.config, &entry.value) {
                self.problem(entry, reason);
            }
        } else if let Some(outcome) = topic::read_broker_default(key, &entry.value) {
            match outcome {
                Ok((name, value)) => {
                    self.config.topic_defaults.insert(name.into(), value);
                }
                Err(reason) => self.problem(entry, reason),
            }
        } else if let Some((_, instead)) = INSTEAD.iter().find(|(it, _)| *it == key) {
            self.problem(entry, instead);
        } else if MEANINGLESS.contains(&key) {
            self.meaningless.push(key.into());
        } else if NOT_SERVED.iter().any(|it| key.starts_with(it)) || key.contains(".ssl.") {
            self.problem(entry, "is not served yet, and ignoring it would be unsafe");
        } else {
            let known = SETTINGS.iter().map(|it| it.key).chain(topic::broker_default_names());
            self.unknown(entry, known);
        }
    }

    fn topic_pattern(&mut self, pattern: &str, entry: &Entry) {
        match topic::validate_in_file(&entry.key, &entry.value) {
            Ok(()) => insert(&mut self.config.topic_patterns, pattern, entry),
            Err(reason) => self.problem(entry, reason),
        }
    }

    fn group_pattern(&mut self, pattern: &str, entry: &Entry) {
        self.places.insert("klamm.groups".into(), entry.place.clone());
        match group::validate(&entry.key, &entry.value) {
            Ok(()) => insert(&mut self.config.group_patterns, pattern, entry),
            Err(group::Invalid::Name(_)) => {
                self.unknown(entry, group::DEFINITIONS.iter().map(|it| it.name));
            }
            Err(group::Invalid::Value(reason)) => self.problem(entry, reason),
        }
    }

    fn finish(mut self) -> Result<Loaded, Problems> {
        for (name, settings) in std::mem::take(&mut self.sinks) {
            if let Some(sink) = self.sink(&name, &settings) {
                self.config.alert.sinks.insert(name, sink);
            }
        }
        self.default_of_flush_ms();
        self.contradictions();
        self.problems.sort();
        if self.problems.0.is_empty() {
            Ok(Loaded { config: self.config, meaningless: self.meaningless })
        } else {
            Err(self.problems)
        }
    }

    fn sink(&mut self, name: &str, settings: &BTreeMap<String, Entry>) -> Option<SinkConfig> {
        for entry in settings.values().filter(|it| !["type", "url"].contains(&it.key.as_str())) {
            self.unknown(entry, ["type", "url"]);
        }
        let place = settings.values().next()?.place.clone();
        let key = format!("klamm.alert.sinks.\"{name}\"");
        let kind = match settings.get("type").map(|it| it.value.as_str()) {
            Some("alertmanager") => SinkKind::Alertmanager,
            Some("webhook") => SinkKind::Webhook,
            Some("log") => SinkKind::Log,
            _ => {
                self.problems.add(&place, &key, "needs a `type`: alertmanager, webhook or log");
                return None;
            }
        };
        let url = settings.get("url").map(|it| it.value.clone()).unwrap_or_default();
        if let Err(reason) = check_url(kind, &url) {
            self.problems.add(&place, &key, reason);
            return None;
        }
        Some(SinkConfig { kind, url })
    }

    /// As in Kafka, how often logs are looked at is also what `flush.ms` is where nothing says so.
    fn default_of_flush_ms(&mut self) {
        if !self.places.contains_key("log.flush.scheduler.interval.ms") {
            return;
        }
        let every = self.config.log.flush_scheduler_interval_ms.to_string();
        self.config.topic_defaults.entry("flush.ms".into()).or_insert(every);
    }

    /// Settings that are good alone and not together.
    fn contradictions(&mut self) {
        for (key, reason) in super::check::contradictions(&self.config) {
            let place = self.places.get(key).map_or("default", String::as_str).to_owned();
            self.problems.add(&place, key, reason);
        }
    }
}

fn insert(patterns: &mut Patterns, pattern: &str, entry: &Entry) {
    let known = patterns.0.iter().position(|it| it.pattern == pattern);
    let index = known.unwrap_or_else(|| {
        patterns.0.push(Pattern { pattern: pattern.into(), settings: BTreeMap::new() });
        patterns.0.len() - 1
    });
    if let Some(pattern) = patterns.0.get_mut(index) {
        pattern.settings.insert(entry.key.clone(), entry.value.clone());
    }
}

#[cfg(test)]
mod tests;
