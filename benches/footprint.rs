//! What does an idle node cost, and how long until it serves: cold and warm, without and with partitions?
//!
//! `cargo bench --bench footprint` measures; `PARTITIONS=5000 cargo bench …` changes the input, and `KLAMM_BIN=FILE` measures
//! another binary. `cargo test` runs the same code once on a small input, so that it cannot rot.
//!
//! Cold is a first start: nothing compiled, no data. It does not show the page cache's part: the binary itself is warm.
//! Compare two commits on one machine; the times of a shared machine say nothing by themselves.

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

fn main() {
    let measuring = env::args().any(|arg| arg == "--bench");
    let partitions = parameter("PARTITIONS", if measuring { 1_000 } else { 20 });
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("footprint-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for the node's data");

    println!("{:<30} {:>12} {:>14}", "start", "ready, ms", "resident, MiB");
    let node = report("cold, empty", Node::start(&folder));
    node.stop();
    let node = report("warm, empty", Node::start(&folder));
    node.create_topic(partitions);
    node.stop();
    let name = format!("warm, {partitions} partitions");
    report(&name, Node::start(&folder)).stop();
    report(&format!("{name}, after kill -9"), {
        Node::start(&folder).kill();
        Node::start(&folder)
    })
    .stop();
    fs::remove_dir_all(&folder).expect("the folder was this bench's own");
}

fn report(name: &str, node: Node) -> Node {
    std::thread::sleep(Duration::from_secs(1));
    println!("{name:<30} {:>12} {:>14.1}", node.ready_after.as_millis(), node.resident_mib());
    node
}

fn parameter(name: &str, default: usize) -> usize {
    env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

fn binary() -> String {
    env::var("KLAMM_BIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_klamm").to_owned())
}

/// A node in a process of its own.
struct Node {
    process: Child,
    ready_after: Duration,
    kafka: String,
}

impl Node {
    fn start(folder: &Path) -> Self {
        let started = Instant::now();
        let mut process = Command::new(binary())
            .current_dir(folder)
            .args(["serve", "--set", "listeners=PLAINTEXT://127.0.0.1:0"])
            .args(["--set", "klamm.http.listen=127.0.0.1:0"])
            .stderr(Stdio::piped())
            .spawn()
            .expect("the node starts");
        let mut lines = BufReader::new(process.stderr.take().expect("piped")).lines();
        let ready = lines
            .by_ref()
            .map_while(Result::ok)
            .find(|line| line.contains("klamm is ready:"))
            .expect("the node becomes ready");
        let ready_after = started.elapsed();
        // It must not block on a full pipe.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        let kafka = ready.split_once("PLAINTEXT://").expect("an address").1;
        let kafka = kafka.split_whitespace().next().expect("an address").to_owned();
        Self { process, ready_after, kafka }
    }

    fn create_topic(&self, partitions: usize) {
        let status = Command::new(binary())
            .args(["topic", "create", "footprint", "--partitions", &partitions.to_string()])
            .args(["--bootstrap", &self.kafka])
            .stdout(Stdio::null())
            .status()
            .expect("the command runs");
        assert!(status.success());
    }

    fn resident_mib(&self) -> f64 {
        let path = format!("/proc/{}/status", self.process.id());
        let status = fs::read_to_string(path).expect("Linux tells it");
        let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:")).expect("Linux tells it");
        let kib: f64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
        kib / 1024.0
    }

    fn stop(mut self) {
        let pid = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it lives");
        assert!(self.process.wait().expect("it ends").success());
    }

    fn kill(mut self) {
        self.process.kill().expect("it lives");
        self.process.wait().expect("it ends");
    }
}
