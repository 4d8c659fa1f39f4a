//! `NAME.toml`: what a plugin is configured with, what it is granted, and what its failure means.
//!
//! All problems are told at once. What is not said has a default; without the file everything is a default.

use std::time::Duration;

use serde::Deserialize;
use toml::{Table, Value};

use super::{
    limits::{CALL_TIMEOUT_MAX, LOAD_TIMEOUT_MAX, Limits, RESULT_BYTES_MAX},
    status::HookKind,
};
use crate::{
    base::TopicName,
    config::{AlertPolicy, FOR_COUNT_MAX, nearest},
};

/// What the broker does when a plugin fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum OnFailure {
    /// Nothing is stored, the producer is told to try again.
    Reject,
    /// Partitioner: the client's choice stands.
    Client,
    /// Assignor: the group keeps what it had.
    Keep,
    /// Transform: the batch passes unchanged.
    Pass,
    /// Transform: the records are dropped.
    Drop,
    /// Transform: the records go to another topic.
    DeadLetter,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Manifest {
    /// `[config]` as JSON text, `{}` without one.
    pub(super) settings: String,
    pub(super) limits: Limits,
    /// `None`: the hook's default.
    on_failure: Option<OnFailure>,
    pub(super) dead_letter_topic: Option<String>,
    /// Lower-case hex that the file must have.
    pub(super) sha256: Option<String>,
    pub(super) alert: AlertPolicy,
}

impl OnFailure {
    fn name(self) -> &'static str {
        match self {
            Self::Reject => "reject",
            Self::Client => "client",
            Self::Keep => "keep",
            Self::Pass => "pass",
            Self::Drop => "drop",
            Self::DeadLetter => "dead-letter",
        }
    }

    /// The policies of a hook, its default first.
    fn of_hook(hook: HookKind) -> &'static [Self] {
        match hook {
            HookKind::Partitioner => &[Self::Reject, Self::Client],
            HookKind::Assignor => &[Self::Keep],
            HookKind::Transform => &[Self::Reject, Self::Pass, Self::Drop, Self::DeadLetter],
        }
    }
}

const KEYS: [&str; 6] = ["config", "limits", "on-failure", "dead-letter-topic", "sha256", "alert"];

const LIMIT_KEYS: [&str; 5] = [
    "call-timeout-ms",
    "load-timeout-ms",
    "memory-max-bytes",
    "result-max-bytes",
    "log-lines-per-second",
];

impl Manifest {
    /// That of a plugin without a file.
    pub(super) fn default_of(node: Limits) -> Self {
        Self {
            settings: "{}".into(),
            limits: node,
            on_failure: None,
            dead_letter_topic: None,
            sha256: None,
            alert: AlertPolicy::default(),
        }
    }

    /// Reads the file's text; `node` is what a plugin gets by default, and its memory the most that it can get.
    ///
    /// # Errors
    ///
    /// All problems, one a line.
    pub(super) fn parse(text: &str, node: Limits) -> Result<Self, String> {
        let table: Table = text.parse().map_err(|error| no_toml(text, &error))?;
        let mut reader = Reader { node, manifest: Self::default_of(node), problems: Vec::new() };
        for (key, value) in table {
            reader.read(&key, value);
        }
        if reader.problems.is_empty() {
            Ok(reader.manifest)
        } else {
            Err(reader.problems.join("; "))
        }
    }

    /// What a failure of this plugin means.
    ///
    /// # Errors
    ///
    /// A policy that its hook does not have.
    pub(super) fn on_failure(&self, hook: HookKind) -> Result<OnFailure, String> {
        let known = OnFailure::of_hook(hook);
        match self.on_failure {
            None => known.first().copied().ok_or_else(|| "has no policy".into()),
            Some(policy) if known.contains(&policy) => Ok(policy),
            Some(policy) => {
                let known: Vec<_> = known.iter().map(|it| it.name()).collect();
                Err(format!(
                    "on-failure = {:?} is not for this hook, but {}",
                    policy.name(),
                    known.join(", ")
                ))
            }
        }
    }
}

struct Reader {
    node: Limits,
    manifest: Manifest,
    problems: Vec<String>,
}

impl Reader {
    fn read(&mut self, key: &str, value: Value) {
        match key {
            "config" => self.config(value),
            "limits" => self.table("limits", value, Self::limit),
            "alert" => self.alert(value),
            "on-failure" => self.manifest.on_failure = self.typed(key, value),
            "dead-letter-topic" => self.dead_letter_topic(key, value),
            "sha256" => self.pin(value),
            other => self.unknown(other, &KEYS),
        }
    }

    fn dead_letter_topic(&mut self, key: &str, value: Value) {
        let Some(name) = self.typed::<String>(key, value) else { return };
        if let Err(problem) = TopicName::validate(&name) {
            self.problems.push(format!("{key}: {problem}"));
        } else if TopicName::from(name.as_str()).is_internal() {
            self.problems.push(format!("{key}: {name} is an internal topic"));
        }
        self.manifest.dead_letter_topic = Some(name);
    }

    fn typed<T: for<'a> Deserialize<'a>>(&mut self, key: &str, value: Value) -> Option<T> {
        let result = value.try_into();
        result.map_err(|error| self.problems.push(format!("{key}: {}", one_line(&error)))).ok()
    }

    fn table(&mut self, key: &str, value: Value, each: fn(&mut Self, &str, Value)) {
        let Value::Table(table) = value else {
            return self.problems.push(format!("{key} is no table"));
        };
        for (key, value) in table {
            each(self, &key, value);
        }
    }

    fn config(&mut self, value: Value) {
        let Value::Table(table) = value else {
            return self.problems.push("config is no table".into());
        };
        match serde_json::to_string(&table) {
            Ok(json) => self.manifest.settings = json,
            Err(error) => self.problems.push(format!("config: {error}")),
        }
    }

    fn limit(&mut self, key: &str, value: Value) {
        let Some(number) = self.number(key, &value) else { return };
        let limits = &mut self.manifest.limits;
        let millis = Duration::from_millis(number);
        let max = match key {
            "call-timeout-ms" => {
                limits.call_timeout = millis;
                CALL_TIMEOUT_MAX.max(self.node.call_timeout).as_millis() as u64
            }
            "load-timeout-ms" => {
                limits.load_timeout = millis;
                LOAD_TIMEOUT_MAX.max(self.node.load_timeout).as_millis() as u64
            }
            "memory-max-bytes" => {
                limits.memory_max_bytes = number as usize;
                self.node.memory_max_bytes as u64
            }
            "result-max-bytes" => {
                limits.result_max_bytes = number as usize;
                RESULT_BYTES_MAX as u64
            }
            "log-lines-per-second" => {
                limits.log_lines_per_second = u32::try_from(number).unwrap_or(u32::MAX);
                10_000
            }
            other => return self.unknown(other, &LIMIT_KEYS),
        };
        if number > max {
            self.problems
                .push(format!("limits.{key} = {number} is more than can be granted, {max}"));
        }
    }

    fn number(&mut self, key: &str, value: &Value) -> Option<u64> {
        let number = value.as_integer().and_then(|it| u64::try_from(it).ok()).filter(|&it| it > 0);
        if number.is_none() && LIMIT_KEYS.contains(&key) {
            self.problems.push(format!("limits.{key} must be a whole number above 0"));
        }
        if number.is_none() && !LIMIT_KEYS.contains(&key) {
            self.unknown(key, &LIMIT_KEYS);
        }
        number
    }

    /// Key by key first, so that each problem is told.
    fn alert(&mut self, value: Value) {
        let Value::Table(table) = &value else {
            return self.problems.push("alert is no table".into());
        };
        let before = self.problems.len();
        for (key, value) in table {
            let single = Table::from_iter([(key.clone(), value.clone())]);
            let _: Option<AlertPolicy> = self.typed("alert", Value::Table(single));
        }
        if self.problems.len() == before
            && let Some(policy) = self.typed::<AlertPolicy>("alert", value)
        {
            if policy.for_count > FOR_COUNT_MAX {
                let asked = policy.for_count;
                let problem =
                    format!("for-count = {asked} is more than can be kept, {FOR_COUNT_MAX}");
                self.problems.push(problem);
            }
            self.manifest.alert = policy;
        }
    }

    fn pin(&mut self, value: Value) {
        let Some(pin) = self.typed::<String>("sha256", value) else { return };
        if pin.len() == 64 && pin.bytes().all(|it| it.is_ascii_hexdigit()) {
            self.manifest.sha256 = Some(pin.to_ascii_lowercase());
        } else {
            self.problems.push("sha256 must be 64 hexadecimal digits".into());
        }
    }

    fn unknown(&mut self, key: &str, known: &[&str]) {
        let meant = nearest(key, known.iter().copied());
        let hint = meant.map_or_else(
            || format!("known are {}", known.join(", ")),
            |it| format!("did you mean {it:?}?"),
        );
        self.problems.push(format!("unknown key {key:?}, {hint}"));
    }
}

fn one_line(error: &toml::de::Error) -> String {
    error.message().replace('\n', " ")
}

/// On one line, as logs and lists have it.
fn no_toml(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|it| text.get(..it.start)).unwrap_or_default();
    format!("line {} is no TOML: {}", before.matches('\n').count() + 1, one_line(error))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::config::{Config, edited};

    fn node() -> Limits {
        Limits::of_node(&Config::default().plugin)
    }

    #[test]
    fn an_empty_file_is_the_default() {
        assert_eq!(Manifest::parse("", node()), Ok(Manifest::default_of(node())));
    }

    /// Every key.
    const WHOLE: &str = r#"
        on-failure = "dead-letter"
        dead-letter-topic = "bad"
        sha256 = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        [config]
        levels = ["ERROR"]
        nested = { deep = 1 }
        [limits]
        call-timeout-ms = 20
        load-timeout-ms = 60000
        memory-max-bytes = 1048576
        result-max-bytes = 65536
        log-lines-per-second = 5
        [alert]
        for-count = 3
    "#;

    #[test]
    fn every_key_has_its_place() {
        let manifest = Manifest::parse(WHOLE, node()).expect("good");
        assert_eq!(manifest.settings, r#"{"levels":["ERROR"],"nested":{"deep":1}}"#);
        assert_eq!(manifest.limits.call_timeout, Duration::from_millis(20));
        assert_eq!(manifest.limits.load_timeout, Duration::from_mins(1));
        assert_eq!(manifest.limits.memory_max_bytes, 1 << 20);
        assert_eq!(manifest.limits.result_max_bytes, 1 << 16);
        assert_eq!(manifest.limits.log_lines_per_second, 5);
        assert_eq!(manifest.on_failure(HookKind::Transform), Ok(OnFailure::DeadLetter));
        assert_eq!(manifest.dead_letter_topic.as_deref(), Some("bad"));
        assert_eq!(manifest.sha256, Some("a".repeat(64)));
        assert_eq!(manifest.alert.for_count, 3);
    }

    #[test]
    fn all_problems_are_told_at_once() {
        let text = Manifest::parse(
            r#"
            on-failur = "pass"
            sha256 = "abc"
            dead-letter-topic = "__consumer_offsets"
            config = 7
            [limits]
            memory-max-bytes = 99999999999
            call-timeout-ms = -1
            load-timeout = 3
            [alert]
            for-cnt = 1
            within-ms = "soon"
            "#,
            node(),
        )
        .expect_err("bad");
        for want in [
            "\"on-failur\", did you mean \"on-failure\"",
            "64 hexadecimal",
            "config is no table",
            "__consumer_offsets is an internal topic",
            "memory-max-bytes = 99999999999 is more than can be granted, 67108864",
            "call-timeout-ms must be",
            "\"load-timeout\", did you mean \"load-timeout-ms\"",
            "for-cnt",
            "within-ms",
        ] {
            assert!(text.contains(want), "{want} is not in {text}");
        }
    }

    #[test]
    fn what_is_no_toml_is_told_on_one_line_with_its_number() {
        let text = Manifest::parse("[alert]\nfor-count = = 3\n", node()).expect_err("bad");
        assert!(text.starts_with("line 2 is no TOML: ") && !text.contains('\n'), "{text}");
    }

    #[test]
    fn a_policy_belongs_to_a_hook() {
        let manifest = Manifest::parse("on-failure = \"client\"", node()).expect("good");
        assert_eq!(manifest.on_failure(HookKind::Partitioner), Ok(OnFailure::Client));
        let error = manifest.on_failure(HookKind::Transform).expect_err("not a transform's");
        assert!(error.contains("reject, pass, drop, dead-letter"), "{error}");
        let default = Manifest::default_of(node());
        assert_eq!(default.on_failure(HookKind::Partitioner), Ok(OnFailure::Reject));
        assert_eq!(default.on_failure(HookKind::Assignor), Ok(OnFailure::Keep));
        assert_eq!(default.on_failure(HookKind::Transform), Ok(OnFailure::Reject));
    }

    proptest! {
        #[test]
        fn whatever_is_in_a_manifest_is_good_or_told_on_one_line(text in edited(WHOLE)) {
            if let Err(problems) = Manifest::parse(&text, node()) {
                prop_assert!(!problems.is_empty() && !problems.contains('\n'), "{problems}");
            }
        }
    }
}
