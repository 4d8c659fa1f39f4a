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
    problem::nearest,
    settings::{INSTEAD, MEANINGLESS, NOT_SERVED, SETTINGS},
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
        if entry.key == "klamm.assignor" {
            insert(&mut self.config.group_patterns, pattern, entry);
        } else {
            self.unknown(entry, ["klamm.assignor"]);
        }
    }

    fn finish(mut self) -> Result<Loaded, Problems> {
        for (name, settings) in std::mem::take(&mut self.sinks) {
            if let Some(sink) = self.sink(&name, &settings) {
                self.config.alert.sinks.insert(name, sink);
            }
        }
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
mod tests {
    use super::*;

    fn load(text: &str) -> Result<Loaded, Problems> {
        let mut problems = Problems::default();
        let entries = flatten_file("k.toml", text, &mut problems);
        Config::from_entries(&entries, problems)
    }

    #[test]
    fn every_problem_is_told_at_once_with_its_line() {
        let text = "num.partition = 3\nnode.id = \"one\"\n[klamm.groups.\"a*\"]\nassignor = \"x\"\n\
                    [klamm.alert.sinks.am]\nurl = \"x\"\n";
        let problems = load(text).unwrap_err().to_string();
        for want in [
            "k.toml:1: num.partition: is no setting; did you mean `num.partitions`?",
            "k.toml:2: node.id: `one` is not a whole number from -2147483648 to 2147483647",
            "k.toml:4: klamm.groups.\"a*\".assignor: is no setting; did you mean `klamm.assignor`?",
            "needs a `type`: alertmanager, webhook or log",
        ] {
            assert!(problems.contains(want), "{want}\nin\n{problems}");
        }
    }

    #[test]
    fn problems_stand_in_the_order_of_the_file() {
        let text = "num.io = 3\nzzz = 1\naaa = 2\n\n\n\n\n\n\nnode.id = -1\nbbb = 1";
        let problems = load(text).unwrap_err();
        let places: Vec<&str> = problems.0.iter().map(|it| it.place.as_str()).collect();
        assert_eq!(places, ["k.toml:1", "k.toml:2", "k.toml:3", "k.toml:10", "k.toml:11"]);
    }

    #[test]
    fn a_line_that_is_no_toml_hides_no_other_problem() {
        let text = "a = = 3\nnum.partition = 3\nlog.dirs = \"a\"\nlog.dirs = \"b\"\nbad";
        let problems = load(text).unwrap_err().to_string();
        for want in [
            "k.toml:1: ",
            "k.toml:2: num.partition: ",
            "k.toml:4: log.dirs: duplicate key",
            "k.toml:5: ",
        ] {
            assert!(problems.contains(want), "{want}\nin\n{problems}");
        }
    }

    #[test]
    fn a_number_outside_its_range_is_refused() {
        for text in [
            "klamm.plugin.memory.max.bytes = 4294967297",
            "klamm.plugin.memory.max.bytes = 1",
            "klamm.plugin.threads = 18446744073709551615",
            "num.partitions = 0",
            "num.partitions = 2147483647",
            "offsets.topic.num.partitions = 10001",
        ] {
            assert!(load(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_file_that_is_no_configuration_is_refused_before_it_is_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("k.toml");
        let sparse = File::create(&file).unwrap();
        sparse.set_len(1 << 40).unwrap();
        let refused = |path: &Path| Config::load(Some(path), &[]).unwrap_err().to_string();
        assert!(refused(&file).contains("cannot be read: it has more than"));
        std::fs::write(&file, b"a = \xff").unwrap();
        assert!(refused(&file).contains("cannot be read: it is no UTF-8 text"));
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let socket = folder.path().join("socket");
        let _bound = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for no_file in [folder.path(), &pipe, &socket, Path::new("/dev/zero")] {
            assert!(refused(no_file).contains("cannot be read: it is not a file"));
        }
    }

    #[test]
    fn the_first_of_very_many_problems_are_listed_and_the_rest_is_counted() {
        let lines: Vec<String> = (0..300_000).map(|it| format!("num.partition{it} = 1")).collect();
        let text = lines.join("\n");
        let problems = load(&text).unwrap_err();
        assert_eq!(problems.0.len(), 300_000);
        let told = problems.to_string();
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines.len(), 101);
        assert!(lines[99].starts_with("k.toml:100: num.partition99: is no setting; did you"));
        assert_eq!(lines[100], "and 299900 more");
    }

    #[test]
    fn folders_that_would_hold_each_others_files_are_refused() {
        for (text, key) in [
            ("log.dirs = \"d,d/x\"", "log.dirs: "),
            ("log.dirs = \"e/f/g,b,e/f\"", "log.dirs: "),
            ("log.dirs = \"d\"\nklamm.plugin.dir = \"./d\"", "klamm.plugin.dir: "),
            ("log.dirs = \"b,d\"\nklamm.plugin.dir = \"d/plugins\"", "klamm.plugin.dir: "),
        ] {
            let problems = load(text).unwrap_err().to_string();
            assert!(problems.contains(key) && problems.contains(" lies in "), "{problems}");
        }
        assert!(load("log.dirs = \"d,dx\"\nklamm.plugin.dir = \"d-plugins\"").is_ok());
    }

    #[test]
    fn every_address_path_and_duration_is_checked_at_once() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().display();
        let text = format!(
            "klamm.http.listen = \":9644\"\nlisteners = \"PLAINTEXT://a b:9092\"\n\
             advertised.listeners = \"PLAINTEXT://127.0.0.300:1\"\nlog.dirs = \"{path}\"\n\
             klamm.plugin.dir = \"{path}/below\"\ncontroller.quorum.voters = \"1@host\"\n\
             listener.security.protocol.map = \"PLAINTEXT\"\n\
             klamm.plugin.call.timeout.ms = 18446744073709551615\n\
             [klamm.alert.sinks.am]\ntype = \"alertmanager\"\nurl = \"http://:9093\"\n"
        );
        let problems = load(&text).unwrap_err();
        let keys: Vec<&str> = problems.0.iter().map(|it| it.key.as_str()).collect();
        assert_eq!(
            keys,
            [
                "klamm.http.listen",
                "listeners",
                "advertised.listeners",
                "log.dirs",
                "klamm.plugin.dir",
                "controller.quorum.voters",
                "listener.security.protocol.map",
                "klamm.plugin.call.timeout.ms",
                "klamm.alert.sinks.\"am\"",
            ],
            "{problems}"
        );
    }

    #[test]
    fn two_sockets_want_two_ports() {
        for text in [
            "listeners = \"A://127.0.0.1:1,B://127.0.0.1:1\"\n\
             listener.security.protocol.map = \"A:PLAINTEXT,B:PLAINTEXT\"",
            "listeners = \"PLAINTEXT://:9644\"",
        ] {
            assert!(load(text).unwrap_err().to_string().contains("the same port"), "{text}");
        }
        let two = "listeners = \"A://127.0.0.1:0,B://127.0.0.1:0\"\n\
                   listener.security.protocol.map = \"A:PLAINTEXT,B:PLAINTEXT\"";
        assert!(load(two).is_ok());
        assert!(load("log.dirs = \"a,./a\"").unwrap_err().to_string().contains("twice"));
    }

    #[test]
    fn settings_reach_their_fields() {
        let text = "listeners = [\"PLAINTEXT://127.0.0.1:0\"]\nnum.partitions = 7\nlog.dirs = \"a,b\"\n\
                    [klamm.groups.\"g?\"]\nklamm.assignor = \"sticky\"\n\
                    [klamm.alert.sinks.am]\ntype = \"alertmanager\"\nurl = \"http://127.0.0.1:9093\"";
        let config = load(text).unwrap().config;
        assert_eq!(config.net.listeners[0].port, 0);
        assert_eq!(config.node.num_partitions, 7);
        assert_eq!(config.log.dirs.len(), 2);
        assert_eq!(config.group_patterns.find("g1").unwrap()["klamm.assignor"], "sticky");
        assert_eq!(config.alert.sinks["am"].kind, SinkKind::Alertmanager);
    }

    /// All that the `server.properties` of Kafka 4.1 sets.
    #[test]
    fn kafkas_own_file_with_its_texts_in_quotes_is_a_configuration() {
        let text = "process.roles = \"broker,controller\"\nnode.id = 1\n\
                    controller.quorum.bootstrap.servers = \"localhost:9093\"\n\
                    listeners = \"PLAINTEXT://:9092,CONTROLLER://:9093\"\n\
                    inter.broker.listener.name = \"PLAINTEXT\"\n\
                    advertised.listeners = \"PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093\"\n\
                    controller.listener.names = \"CONTROLLER\"\n\
                    listener.security.protocol.map = \"CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL\"\n\
                    num.network.threads = 3\nnum.io.threads = 8\nsocket.send.buffer.bytes = 102400\n\
                    socket.receive.buffer.bytes = 102400\nsocket.request.max.bytes = 104857600\n\
                    log.dirs = \"kraft-combined-logs\"\nnum.partitions = 1\n\
                    num.recovery.threads.per.data.dir = 2\noffsets.topic.replication.factor = 1\n\
                    share.coordinator.state.topic.replication.factor = 1\n\
                    share.coordinator.state.topic.min.isr = 1\n\
                    transaction.state.log.replication.factor = 1\ntransaction.state.log.min.isr = 1\n\
                    log.retention.hours = 168\nlog.segment.bytes = 1073741824\n\
                    log.retention.check.interval.ms = 300000\n";
        let loaded = load(text).unwrap();
        assert!(loaded.meaningless.contains(&"share.coordinator.state.topic.min.isr".into()));
        assert_eq!(loaded.config.broker_listeners().count(), 1);
    }

    #[test]
    fn what_means_nothing_here_is_accepted_and_what_would_be_unsafe_is_not() {
        assert_eq!(load("num.io.threads = 8").unwrap().meaningless, ["num.io.threads"]);
        assert!(load("sasl.enabled.mechanisms = \"PLAIN\"").is_err());
    }

    #[test]
    fn settings_that_contradict_each_other_are_refused() {
        let text = "group.min.session.timeout.ms = 90\ngroup.max.session.timeout.ms = 80";
        let problems = load(text).unwrap_err().to_string();
        assert!(
            problems.contains("k.toml:1: group.min.session.timeout.ms: 90 is above"),
            "{problems}"
        );
    }
}
