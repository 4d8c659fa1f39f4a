//! The load generator of our own, `benches/load`, and what it reports.

use super::{
    broker::Broker,
    cell::Shape,
    figure::{Figure, Figures},
    process::{self, Core, Process},
};
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

pub(crate) struct Generator {
    pub(crate) binary: PathBuf,
}

/// What it prints at the end of a window.
#[derive(Deserialize)]
struct Report {
    requests: u64,
    bytes: u64,
    seconds: f64,
    latency_ms: Option<Quantiles>,
    end_to_end_ms: Option<Quantiles>,
}

#[derive(Deserialize)]
struct Quantiles {
    p50: f64,
    p99: f64,
    p999: f64,
}

impl Generator {
    pub(crate) fn wait_until_ready(
        &self,
        bootstrap: &str,
        topic: Option<(&str, usize)>,
    ) -> Result<()> {
        let mut ready = self.command("ready");
        ready.args(["--bootstrap", bootstrap]);
        if let Some((topic, partitions)) = topic {
            ready.args(["--topic", topic, "--partitions", &partitions.to_string()]);
        }
        process::finish(&mut ready).context("the broker did not start; see its broker.log")
    }

    pub(crate) fn create(&self, broker: &Broker, topic: &str, partitions: usize) -> Result<()> {
        let mut create = self.command("create");
        create.args(["--bootstrap", &broker.bootstrap, "--topic", topic]);
        process::finish(create.args(["--partitions", &partitions.to_string()]))?;
        self.wait_until_ready(&broker.bootstrap, Some((topic, partitions)))
    }

    pub(crate) fn delete(&self, broker: &Broker, topic: &str) -> Result<()> {
        let mut delete = self.command("delete");
        process::finish(delete.args(["--bootstrap", &broker.bootstrap, "--topic", topic]))
    }

    pub(crate) fn drop_from_cache(&self, folder: &Path) -> Result<()> {
        process::finish(self.command("cold").arg(folder))
    }

    pub(crate) fn produce(&self, broker: &Broker, topic: &str, shape: &Shape) -> Command {
        let mut produce = self.command("produce");
        produce.args(["--bootstrap", &broker.bootstrap, "--topic", topic]);
        let acks = if shape.acks == "all" { "-1" } else { shape.acks };
        produce.args(["--acks", acks, "--codec", shape.codec]);
        let numbers = [
            ("--partitions", shape.partitions),
            ("--record-bytes", shape.record_bytes),
            ("--batch-records", shape.batch_records()),
            ("--request-batches", shape.request_batches()),
            ("--connections", shape.connections),
        ];
        for (option, number) in numbers {
            produce.arg(option).arg(number.to_string());
        }
        produce
    }

    pub(crate) fn consume(&self, broker: &Broker, topic: &str, partitions: usize) -> Command {
        let mut consume = self.command("consume");
        consume.args(["--bootstrap", &broker.bootstrap, "--topic", topic]);
        consume.arg("--partitions").arg(partitions.to_string());
        consume
    }

    pub(crate) fn command(&self, subcommand: &str) -> Command {
        let mut command = process::pinned(Core::Generator, &self.binary);
        command.arg(subcommand).stdin(Stdio::null());
        command
    }
}

/// Runs a measurement of the generator's, and takes `broker`'s CPU time from where its window opens to where it closes.
pub(crate) fn watch(command: &mut Command, broker: &Process) -> Result<Figures> {
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let mut lines = BufReader::new(child.stdout.take().context("piped")?).lines();
    let mut next = || lines.next().context("the load generator ended early");
    ensure!(next()?? == "begin", "the load generator speaks another tongue");
    let before = broker.cpu_seconds()?;
    let report: Report = serde_json::from_str(&next()??)?;
    let cpu_seconds = broker.cpu_seconds()? - before;
    ensure!(child.wait()?.success(), "{command:?} failed");
    Ok(report.figures(cpu_seconds))
}

impl Report {
    fn figures(self, cpu_seconds: f64) -> Figures {
        let gigabytes = self.bytes as f64 / 1e9;
        let mut figures = Figures::default();
        figures.set(Figure::MegabytesPerSecond, gigabytes * 1e3 / self.seconds);
        figures.set(Figure::RequestsPerSecond, self.requests as f64 / self.seconds);
        figures.set(Figure::CpuSecondsPerGigabyte, cpu_seconds / gigabytes);
        if let Some(Quantiles { p50, p99, p999 }) = self.latency_ms {
            figures.set(Figure::P50, p50).set(Figure::P99, p99).set(Figure::P999, p999);
        }
        if let Some(Quantiles { p50, p99, p999 }) = self.end_to_end_ms {
            figures.set(Figure::EndToEndP50, p50).set(Figure::EndToEndP99, p99);
            figures.set(Figure::EndToEndP999, p999);
        }
        figures
    }
}
