//! Plugins are swapped while records flow: no request fails, and a bad file changes nothing.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
};

use klamm::plugin::{HookKind, PluginState};

use crate::support::{Broker, Client, Session, eventually, guests, sha256};

/// Records of each batch, every second one an error.
const RECORDS: usize = 10;

/// A producer that sends without pause; each batch must be acknowledged.
struct Flow {
    stop: Arc<AtomicBool>,
    sent: Arc<AtomicUsize>,
    thread: JoinHandle<()>,
}

impl Flow {
    fn start(mut client: Client, topic: &'static str) -> Self {
        let (stop, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (stopping, counting) = (stop.clone(), sent.clone());
        let thread = thread::spawn(move || {
            let session = Session::new(&mut client);
            while !stopping.load(Ordering::Relaxed) {
                let first = counting.load(Ordering::Relaxed) * RECORDS;
                client.must_produce(topic, 0, batch(session, first));
                counting.fetch_add(1, Ordering::Relaxed);
            }
        });
        Self { stop, sent, thread }
    }

    /// Waits until batches that are sent from now on have been acknowledged.
    #[track_caller]
    fn goes_on(&self) {
        let before = self.sent.load(Ordering::Relaxed);
        eventually("the producer goes on", || {
            (self.sent.load(Ordering::Relaxed) > before + 2 || self.thread.is_finished())
                .then_some(())
        });
        assert!(!self.thread.is_finished(), "a produce request failed");
    }

    /// Ends it; batches acknowledged.
    fn end(self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("no produce request fails");
        self.sent.load(Ordering::Relaxed)
    }
}

fn batch(session: Session, first: usize) -> bytes::Bytes {
    let level = |it: usize| if it.is_multiple_of(2) { "ERROR" } else { "INFO" };
    let lines: Vec<String> = (first..first + RECORDS)
        .map(|it| format!("2026-01-02 03:04:05,678 {} store: disk {it} is on fire", level(it)))
        .collect();
    let records: Vec<_> = lines.iter().map(|it| (None, Some(it.as_str()))).collect();
    session.batch(i32::try_from(first).unwrap(), &records)
}

fn log_alert() -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/plugins/log-alert/log-alert.wasm");
    fs::read(path).unwrap()
}

/// The same component as another version: with a custom section that nobody reads.
fn another_version(wasm: &[u8], number: u8) -> Vec<u8> {
    let name = b"version";
    let section = [0, 2 + name.len() as u8, name.len() as u8];
    [wasm, &section, name, &[number]].concat()
}

/// Files that are no version of `log-alert`: name of the failure, file, TOML, and what is told of it. The TOML is put
/// in place first, and each file before is refused under it too; so the file that is good but for its pin comes last.
fn invalid() -> Vec<(&'static str, Vec<u8>, &'static str, &'static str)> {
    let good = log_alert();
    let mut broken = good.clone();
    broken[4] ^= 0xff;
    let pin = "sha256 = \"0000000000000000000000000000000000000000000000000000000000000000\"";
    let short = "[limits]\nload-timeout-ms = 2000";
    let core = wat::parse_str("(module)").unwrap();
    vec![
        ("truncated", good[..good.len() / 2].to_vec(), "", ""),
        ("a broken header", broken, "", ""),
        ("of another world", guests::by_last_digit("1.0.0", false), "", "partitioner"),
        ("a core module", core, "", "component"),
        ("a text", b"no component".to_vec(), "", ""),
        ("looping in configure", guests::loops_in_configure(), short, "time limit"),
        ("another than was pinned", another_version(&good, 99), pin, "sha256"),
    ]
}

#[test]
fn versions_are_swapped_under_a_producer_and_bad_files_change_nothing() {
    let mut broker = Broker::with(&[("klamm.plugin.call.timeout.ms", "5000")]);
    broker.announce("plugin could not be loaded");
    let mut client = broker.client();
    client.create_topic("logs", 1, &[("klamm.transforms", "log-alert")]);
    let flow = Flow::start(broker.client(), "logs");
    let versions = [another_version(&log_alert(), 1), another_version(&log_alert(), 2)];
    for version in versions.iter().cycle().take(20) {
        broker.load_plugin("log-alert", version);
        flow.goes_on();
    }
    let running = sha256(&versions[1]);
    for (what, file, toml, told) in invalid() {
        let before = failed_loads(&broker);
        broker.put_plugin_file("log-alert.toml", toml.as_bytes());
        broker.put_plugin_file("log-alert.wasm", &file);
        eventually(&format!("{what} is reported"), || {
            let error = broker.plugin("log-alert")?.last_error?;
            (failed_loads(&broker) > before && error.contains(told)).then_some(())
        });
        flow.goes_on();
        let status = broker.plugin("log-alert").unwrap();
        assert_eq!(status.sha256.as_ref(), Some(&running), "{what}");
        assert_eq!(status.hook, Some(HookKind::Transform), "{what}");
        assert_eq!(status.state, PluginState::Active, "{what}");
    }
    broker.put_plugin_file("log-alert.wasm", &versions[0]);
    broker.put_plugin_file("log-alert.toml", b"");
    broker.wait_for_plugin("log-alert", &versions[0]);
    flow.goes_on();
    assert_eq!(broker.plugin("log-alert").unwrap().last_error, None);
    let batches = flow.end();
    assert_eq!(client.values("logs", 0).len(), batches * RECORDS);
    assert_calls_stay_within(&broker, "log-alert", 5.0);
}

fn failed_loads(broker: &Broker) -> u64 {
    let line = "klamm_plugin_reloads_total{plugin=\"log-alert\",result=\"failed\"}";
    broker.metric(line) as u64
}

/// By the histogram: every call is in a bucket at or below the first bound above the limit.
#[track_caller]
fn assert_calls_stay_within(broker: &Broker, plugin: &str, limit_seconds: f64) {
    let metrics = broker.get("/metrics");
    let prefix = "klamm_plugin_call_seconds_bucket{le=\"";
    let of_plugin = format!("plugin=\"{plugin}\"");
    let buckets: Vec<(f64, u64)> = metrics
        .lines()
        .filter(|it| it.contains(&of_plugin))
        .filter_map(|it| it.strip_prefix(prefix))
        .map(|it| {
            let (bound, rest) = it.split_once('"').unwrap();
            let (_, count) = rest.rsplit_once(' ').unwrap();
            (bound.parse().unwrap_or(f64::INFINITY), count.parse().unwrap())
        })
        .collect();
    let all = buckets.iter().map(|(_, count)| *count).max().expect("it was called");
    let within = buckets.iter().find(|(bound, _)| *bound >= limit_seconds).unwrap();
    assert_eq!(within.1, all, "a call ran past its limit: {buckets:?}");
}

#[test]
fn removing_the_file_falls_back_to_the_shipped_version() {
    let broker = Broker::start();
    let shipped = broker.plugin("log-alert").unwrap();
    broker.load_plugin("log-alert", &another_version(&log_alert(), 1));
    fs::remove_file(broker.plugin_dir().join("log-alert.wasm")).unwrap();
    eventually("the shipped one runs", || (broker.plugin("log-alert")? == shipped).then_some(()));
}
