//! A node in a process of its own, for benches: started on a folder, asked what it takes, stopped.

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

pub(crate) struct Node {
    process: Child,
    /// `HOST:PORT` for clients.
    pub(crate) kafka: String,
}

fn binary() -> String {
    env::var("KLAMM_BIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_klamm").to_owned())
}

/// A number from the environment.
pub(crate) fn parameter(name: &str, default: usize) -> usize {
    env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

impl Node {
    /// Starts a node with its data in `folder`; also tells how long it took until it was ready.
    pub(crate) fn start(folder: &Path, settings: &[&str]) -> (Self, Duration) {
        let started = Instant::now();
        let ports = ["listeners=PLAINTEXT://127.0.0.1:0", "klamm.http.listen=127.0.0.1:0"];
        let mut process = Command::new(binary())
            .current_dir(folder)
            .arg("serve")
            .args(ports.iter().chain(settings).flat_map(|it| ["--set", it]))
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
        // It must not block on a full pipe, and what it has to say is of interest.
        thread::spawn(move || lines.map_while(Result::ok).for_each(|it| eprintln!("{it}")));
        let kafka = ready.split_once("PLAINTEXT://").expect("an address").1;
        let kafka = kafka.split_whitespace().next().expect("an address").to_owned();
        (Self { process, kafka }, ready_after)
    }

    pub(crate) fn create_topic(&self, name: &str, partitions: usize) {
        let status = Command::new(binary())
            .args(["topic", "create", name, "--partitions", &partitions.to_string()])
            .args(["--bootstrap", &self.kafka])
            .stdout(Stdio::null())
            .status()
            .expect("the command runs");
        assert!(status.success());
    }

    /// What Linux says of its memory, in the line of its status that begins so.
    pub(crate) fn mib(&self, line: &str) -> f64 {
        let path = format!("/proc/{}/status", self.process.id());
        let status = fs::read_to_string(path).expect("Linux tells it");
        let line = status.lines().find_map(|it| it.strip_prefix(line)).expect("Linux tells it");
        let kib: f64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
        kib / 1024.0
    }

    pub(crate) fn stop(self) {
        assert!(self.end(Signal::TERM), "a clean stop");
    }

    /// Ends it by a signal; whether that was a clean stop.
    pub(crate) fn end(mut self, signal: Signal) -> bool {
        let pid = Pid::from_child(&self.process);
        kill_process(pid, signal).expect("it lives");
        self.process.wait().expect("it ends").success()
    }
}
