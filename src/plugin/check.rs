//! `klamm plugin check FILE`: everything that a load would find, and what the plugin says of itself.
//!
//! It takes the same steps as a load, on an engine of its own, and goes on to probes: small and full batches with
//! their times, and whether a partitioner that calls itself a function of the key is one.

use std::{
    fmt,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use serde::Serialize;

use super::{
    HookKind, PluginSource, directory,
    engine::PluginEngine,
    failure::CallFailure,
    guest::{Answer, Call, Guest},
    limits::Limits,
    load::{self, LoadRequest, Loaded},
    manifest::Manifest,
    memory::MemoryGauge,
    smoke::{self, KeyValue},
};
use crate::{base::PluginName, config::PluginConfig};

/// What a file would be as a plugin. It is good when `problems` is empty.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CheckReport {
    pub file: String,
    pub hook: Option<HookKind>,
    /// The plugin's name for itself.
    pub name: Option<String>,
    pub version: Option<String>,
    pub summary: Option<String>,
    pub sha256: Option<String>,
    /// The columns that it reads.
    pub needs: Vec<&'static str>,
    pub key_pure: bool,
    /// Its defaults, a JSON object.
    pub default_settings: Option<String>,
    /// What it was configured with, from the `.toml` beside the file.
    pub settings: Option<String>,
    pub load_ms: f64,
    pub probes: Vec<ProbeReport>,
    pub problems: Vec<String>,
}

/// One probe.
#[derive(Clone, Debug, Serialize)]
pub struct ProbeReport {
    pub what: &'static str,
    pub records: usize,
    /// Of one call on an instance in use.
    pub micros: f64,
    /// `None` for a good answer.
    pub error: Option<String>,
}

/// Records of a full batch.
const FULL_BATCH: usize = 1_000;

/// Checks a component with the `.toml` beside it, if there is one. Compiles: takes 20 ms to half a minute.
pub async fn check(path: &Path, config: &PluginConfig) -> CheckReport {
    let (path, config) = (path.to_owned(), config.clone());
    let file = path.display().to_string();
    match tokio::task::spawn_blocking(move || run(&path, &config)).await {
        Ok(report) => report,
        Err(error) => {
            CheckReport { file, problems: vec![error.to_string()], ..CheckReport::default() }
        }
    }
}

fn run(path: &Path, config: &PluginConfig) -> CheckReport {
    let mut report = CheckReport { file: path.display().to_string(), ..CheckReport::default() };
    if let Err(problem) = fill(&mut report, path, config) {
        report.problems.push(problem);
    }
    report
}

fn fill(report: &mut CheckReport, path: &Path, config: &PluginConfig) -> Result<(), String> {
    let node = Limits::of_node(config);
    if let Err(reason) = directory::name_of(path.file_stem().unwrap_or_default()) {
        report.problems.push(format!("would be passed over in a plugin folder: {reason}"));
    }
    let manifest = manifest(path, node)?;
    report.settings = Some(manifest.settings.clone());
    let bytes = read(path, config.file_max_bytes)?;
    let engine = PluginEngine::new(1, config.memory_max_bytes, None)?;
    let started = Instant::now();
    let request = request(path, bytes, manifest);
    let loaded = load::load(&engine, request, || false).map_err(|error| error.to_string())?;
    report.load_ms = millis(started.elapsed());
    report.describe(&loaded);
    probe(report, &engine, &loaded).map_err(|failure| failure.to_string())
}

fn manifest(path: &Path, node: Limits) -> Result<Manifest, String> {
    let toml = path.with_extension("toml");
    match std::fs::read_to_string(&toml) {
        Ok(text) => Manifest::parse(&text, node).map_err(|it| format!("{}: {it}", toml.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Ok(Manifest::default_of(node))
        }
        Err(error) => Err(format!("read {}: {error}", toml.display())),
    }
}

fn read(path: &Path, max: u64) -> Result<Bytes, String> {
    let failed = |error: std::io::Error| format!("read {}: {error}", path.display());
    let bytes = std::fs::metadata(path).map_err(failed)?.len();
    if bytes > max {
        return Err(format!("is {bytes} bytes, at most {max} are read"));
    }
    std::fs::read(path).map(Bytes::from).map_err(failed)
}

fn request(path: &Path, bytes: Bytes, manifest: Manifest) -> LoadRequest {
    let stem = path.file_stem().and_then(|it| it.to_str()).unwrap_or("plugin");
    LoadRequest {
        name: PluginName::from(stem),
        bytes,
        source: PluginSource::File,
        manifest,
        demand: None,
        memory: MemoryGauge::default(),
    }
}

impl CheckReport {
    fn describe(&mut self, loaded: &Loaded) {
        let description = &loaded.description;
        let needs = description.needs;
        self.hook = Some(loaded.hook());
        self.name = Some(description.name.clone());
        self.version = Some(description.version.clone());
        self.summary = Some(description.summary.clone());
        self.sha256 = Some(loaded.sha256.clone());
        self.key_pure = description.key_pure;
        self.default_settings = Some(description.settings.clone());
        self.needs = [
            ("keys", needs.keys),
            ("values", needs.values),
            ("headers", needs.headers),
            ("timestamps", needs.timestamps),
        ]
        .into_iter()
        .filter_map(|(name, needed)| needed.then_some(name))
        .collect();
    }

    /// Makes a call twice, so that the time told is that of an instance in use.
    fn probe(
        &mut self,
        engine: &PluginEngine,
        loaded: &Loaded,
        guest: &mut Guest,
        what: &'static str,
        call: &Call,
    ) -> Option<Answer> {
        let timeout = loaded.manifest.limits.call_timeout;
        let first = guest.call(engine, call, timeout);
        let started = Instant::now();
        let result = first.and_then(|_| guest.call(engine, call, timeout));
        let micros = started.elapsed().as_secs_f64() * 1e6;
        let error = result.as_ref().err().map(ToString::to_string);
        self.problems.extend(error.as_ref().map(|error| format!("{what}: {error}")));
        self.probes.push(ProbeReport { what, records: call.records(), micros, error });
        result.ok()
    }
}

fn probe(
    report: &mut CheckReport,
    engine: &PluginEngine,
    loaded: &Loaded,
) -> Result<(), CallFailure> {
    let keys: Vec<String> = (0..FULL_BATCH).map(|index| format!("key-{index}")).collect();
    let records: Vec<KeyValue<'_>> = keys
        .iter()
        .map(|key| {
            (Some(key.as_bytes()), Some(&b"2026-01-02 03:04:05 WARN disk is nearly full"[..]))
        })
        .collect();
    let one = records.get(..1).unwrap_or_default();
    // An assignor has no state to carry over: each of its calls is on a fresh instance, as in the broker.
    for (what, call) in calls(loaded.hook(), one, &records) {
        report.probe(engine, loaded, &mut loaded.guest(engine)?, what, &call);
    }
    if loaded.hook() == HookKind::Partitioner && loaded.description.key_pure {
        check_purity(report, engine, loaded, &records)?;
    }
    Ok(())
}

fn calls(hook: HookKind, one: &[KeyValue<'_>], full: &[KeyValue<'_>]) -> Vec<(&'static str, Call)> {
    match hook {
        HookKind::Partitioner => vec![
            ("one record", smoke::place(one, 1, 0, 0)),
            ("a full batch", smoke::place(full, 12, 0, 7)),
        ],
        HookKind::Transform => {
            vec![("one record", smoke::process(one)), ("a full batch", smoke::process(full))]
        }
        HookKind::Assignor => vec![
            ("one member", Call::Assign(Arc::new(smoke::group(1, 1)))),
            ("20 members, 120 partitions", Call::Assign(Arc::new(smoke::group(20, 120)))),
        ],
    }
}

/// The same keys in another order, under another seed and sequence, on another instance: each must go where it went.
fn check_purity(
    report: &mut CheckReport,
    engine: &PluginEngine,
    loaded: &Loaded,
    records: &[KeyValue<'_>],
) -> Result<(), CallFailure> {
    const PARTITIONS: u32 = 15;
    let reversed: Vec<KeyValue<'_>> = records.iter().rev().copied().collect();
    let there = smoke::place(records, PARTITIONS, 0, 0);
    let back = smoke::place(&reversed, PARTITIONS, 4_711, 99);
    let mut place = |call| {
        let answer = report.probe(engine, loaded, &mut loaded.guest(engine)?, "key purity", call);
        Ok::<_, CallFailure>(match answer {
            Some(Answer::Placed(targets)) => targets,
            _ => Vec::new(),
        })
    };
    let (there, mut back) = (place(&there)?, place(&back)?);
    back.reverse();
    if there != back {
        report.problems.push(
            "says key-pure, but the same key went elsewhere in another batch (another seed, sequence or order)".into(),
        );
    }
    Ok(())
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// For people; JSON is `serde`'s.
impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.file)?;
        if let (Some(hook), Some(version)) = (self.hook, &self.version) {
            let name = self.name.as_deref().unwrap_or_default();
            writeln!(f, "  {} {name} {version}", format!("{hook:?}").to_lowercase())?;
            writeln!(f, "  {}", self.summary.as_deref().unwrap_or_default())?;
            writeln!(f, "  sha256    {}", self.sha256.as_deref().unwrap_or_default())?;
            writeln!(f, "  needs     {}", self.needs.join(", "))?;
            writeln!(f, "  settings  {}", self.settings.as_deref().unwrap_or_default())?;
            writeln!(f, "  defaults  {}", self.default_settings.as_deref().unwrap_or_default())?;
            writeln!(f, "  loaded in {:.1} ms", self.load_ms)?;
        }
        for probe in &self.probes {
            let outcome = probe.error.as_deref().unwrap_or("ok");
            writeln!(f, "  {}: {:.0} µs, {outcome}", probe.what, probe.micros)?;
        }
        for problem in &self.problems {
            writeln!(f, "  problem: {problem}")?;
        }
        Ok(())
    }
}
