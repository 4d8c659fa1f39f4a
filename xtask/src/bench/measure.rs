//! Measures one cell on one broker, on a topic of its own.

use super::{
    broker::{Broker, Side},
    cell::{Cell, Shape, Task},
    figure::{Figure, Figures},
    generator::{self, Generator},
    jars::Jars,
    results::Results,
};
use anyhow::{Context as _, Result, ensure};
use std::{
    path::PathBuf,
    process::{Command, Stdio},
    time::Instant,
};

pub(crate) const TOPIC: &str = "bench";
/// Of the slower one's maximum, in percent.
pub(crate) const SHARES: [u32; 3] = [25, 50, 75];
/// Ends a measurement early: what is written must stay in the page cache, where no disk slows either down.
const BYTES_MAX: u64 = 2 << 30;
/// Of a topic that is to be consumed.
const FILL_BYTES: usize = 1 << 30;
const MIB: f64 = 1024.0 * 1024.0;

/// What all measurements of a run share.
pub(crate) struct Bench {
    pub(crate) klamm: PathBuf,
    pub(crate) generator: Generator,
    pub(crate) jars: Jars,
    pub(crate) folder: PathBuf,
    pub(crate) seconds: f64,
}

impl Bench {
    pub(crate) fn measure(&self, cell: &Cell, broker: &Broker) -> Result<Figures> {
        match &cell.task {
            Task::Produce(shape) | Task::Latency(shape) => self.produce(broker, shape, None),
            Task::CatchUp { shape, from_disk } => self.catch_up(broker, shape, *from_disk),
            Task::KafkasProducer(shape) => self.kafkas_producer(broker, shape),
            Task::KafkasConsumer(shape) => self.kafkas_consumer(broker, shape),
        }
    }

    /// On a new topic, which goes afterwards, whatever came of it.
    fn on_topic(
        &self,
        broker: &Broker,
        partitions: usize,
        run: impl FnOnce() -> Result<Figures>,
    ) -> Result<Figures> {
        self.generator.create(broker, TOPIC, partitions)?;
        let figures = run();
        self.generator.delete(broker, TOPIC)?;
        // Its files go a second later; the next one shall not wait for the disk because of them.
        std::thread::sleep(std::time::Duration::from_millis(1500));
        figures
    }

    /// As fast as it goes; or at a rate of requests a second, with a consumer.
    fn produce(&self, broker: &Broker, shape: &Shape, rate: Option<f64>) -> Result<Figures> {
        self.on_topic(broker, shape.partitions, || {
            let mut produce = self.generator.produce(broker, TOPIC, shape);
            produce.args(["--seconds", &self.seconds.to_string()]);
            produce.args(["--warm-up-seconds", &(self.seconds / 4.0).to_string()]);
            produce.args(["--max-bytes", &BYTES_MAX.to_string()]);
            if let Some(rate) = rate {
                produce.args(["--end-to-end", "--rate", &rate.to_string()]);
            }
            generator::watch(&mut produce, &broker.process)
        })
    }

    fn fill(&self, broker: &Broker, shape: &Shape) -> Result<()> {
        let mut produce = self.generator.produce(broker, TOPIC, shape);
        produce.args(["--seconds", "600", "--warm-up-seconds", "0"]);
        produce.args(["--max-bytes", &FILL_BYTES.to_string()]);
        generator::watch(&mut produce, &broker.process).map(drop)
    }

    fn catch_up(&self, broker: &Broker, shape: &Shape, from_disk: bool) -> Result<Figures> {
        self.on_topic(broker, shape.partitions, || {
            self.fill(broker, shape)?;
            let mut consume = self.generator.consume(broker, TOPIC, shape.partitions);
            if from_disk {
                self.generator.drop_from_cache(&broker.data)?;
                consume.args(["--once", "--seconds", "600"]);
            } else {
                consume.args(["--seconds", &self.seconds.to_string()]);
            }
            generator::watch(&mut consume, &broker.process)
        })
    }

    fn kafkas_producer(&self, broker: &Broker, shape: &Shape) -> Result<Figures> {
        self.on_topic(broker, shape.partitions, || {
            let mut tool = self.jars.tool("org.apache.kafka.tools.ProducerPerformance");
            let records = FILL_BYTES / shape.record_bytes / 2;
            tool.args(["--topic", TOPIC, "--throughput", "-1"]);
            tool.args(["--num-records", &records.to_string()]);
            tool.args(["--record-size", &shape.record_bytes.to_string(), "--producer-props"]);
            tool.arg(format!("bootstrap.servers={}", broker.bootstrap));
            tool.args([
                format!("acks={}", shape.acks),
                format!("compression.type={}", shape.codec),
            ]);
            watch_tool(&mut tool, broker, (records * shape.record_bytes) as f64, producer_figures)
        })
    }

    fn kafkas_consumer(&self, broker: &Broker, shape: &Shape) -> Result<Figures> {
        self.on_topic(broker, shape.partitions, || {
            self.fill(broker, shape)?;
            let mut tool = self.jars.tool("org.apache.kafka.tools.ConsumerPerformance");
            let records = FILL_BYTES / (shape.record_bytes + 100);
            tool.args(["--bootstrap-server", &broker.bootstrap, "--topic", TOPIC]);
            tool.args(["--messages", &records.to_string(), "--hide-header"]);
            watch_tool(&mut tool, broker, (records * shape.record_bytes) as f64, consumer_figures)
        })
    }
}

/// The broker's CPU time of a tool's whole run, beside what the tool prints last.
fn watch_tool(
    tool: &mut Command,
    broker: &Broker,
    bytes: f64,
    figures: impl FnOnce(&str) -> Option<Figures>,
) -> Result<Figures> {
    let (before, begun) = (broker.process.cpu_seconds()?, Instant::now());
    let output = tool.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    let cpu_seconds = broker.process.cpu_seconds()? - before;
    ensure!(output.status.success(), "{tool:?}: {} after {:?}", output.status, begun.elapsed());
    let printed = String::from_utf8(output.stdout)?;
    let mut figures = figures(&printed).with_context(|| format!("not understood: {printed}"))?;
    figures.set(Figure::CpuSecondsPerGigabyte, cpu_seconds / (bytes / 1e9));
    Ok(figures)
}

/// `… records/sec (97.66 MB/sec), 1.00 ms avg latency, 9.00 ms max latency, 1 ms 50th, 2 ms 95th, 3 ms 99th, 4 ms 99.9th.`
fn producer_figures(printed: &str) -> Option<Figures> {
    let line = printed.lines().rfind(|line| line.contains("99.9th"))?;
    let before = |unit: &str| -> Option<f64> {
        let text = &line[..line.find(unit)?];
        text.rsplit(|it: char| !it.is_ascii_digit() && it != '.').next()?.parse().ok()
    };
    let mut figures = Figures::default();
    figures.set(Figure::MegabytesPerSecond, before(" MB/sec")? * MIB / 1e6);
    figures.set(Figure::P50, before(" ms 50th")?).set(Figure::P99, before(" ms 99th")?);
    figures.set(Figure::P999, before(" ms 99.9th")?);
    Some(figures)
}

/// Start, end, MB, MB a second, records, records a second, rebalance ms, fetch ms, MB a second of fetching, …
fn consumer_figures(printed: &str) -> Option<Figures> {
    let line = printed.lines().rfind(|line| line.split(',').count() >= 10)?;
    let mebibytes: f64 = line.split(',').nth(8)?.trim().parse().ok()?;
    let mut figures = Figures::default();
    figures.set(Figure::MegabytesPerSecond, mebibytes * MIB / 1e6);
    Some(figures)
}

/// Finds both maxima, then takes turns at shares of the lower one.
pub(crate) fn at_shares(
    bench: &Bench,
    cell: &Cell,
    shape: &Shape,
    rounds: u32,
    pair: &[Broker; 2],
    results: &mut Results,
) -> Result<()> {
    let slowest = slowest(bench, cell, shape, pair, results)?;
    for share in SHARES {
        for round in 0..rounds {
            for broker in pair {
                let name = cell.at(share);
                if results.has(&name, broker.side, round) {
                    continue;
                }
                let rate = slowest * f64::from(share) / 100.0;
                results.add(
                    &name,
                    broker.side,
                    round,
                    bench.produce(broker, shape, Some(rate))?,
                )?;
            }
        }
    }
    Ok(())
}

/// Requests a second of the slower broker.
fn slowest(
    bench: &Bench,
    cell: &Cell,
    shape: &Shape,
    pair: &[Broker; 2],
    results: &mut Results,
) -> Result<f64> {
    for broker in pair {
        if !results.has(&cell.name, broker.side, 0) {
            let figures = bench.produce(broker, shape, None)?;
            results.add(&cell.name, broker.side, 0, figures)?;
        }
    }
    let maximum = |side| results.median(&cell.name, side, Figure::RequestsPerSecond);
    let maxima = [Side::Klamm, Side::Kafka].map(|side| maximum(side).unwrap_or(f64::INFINITY));
    Ok(maxima[0].min(maxima[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_kafkas_tools_print_is_understood() {
        let printed = "524288 records sent, 90000.1 records/sec (87.89 MB/sec), 301.52 ms avg latency, \
                       512.00 ms max latency, 300 ms 50th, 480 ms 95th, 501 ms 99th, 510 ms 99.9th.\n";
        let figures = producer_figures(printed).unwrap();
        assert_eq!(figures.get(Figure::P99), Some(501.0));
        assert_eq!(figures.get(Figure::P999), Some(510.0));
        assert_eq!(figures.get(Figure::MegabytesPerSecond), Some(87.89 * MIB / 1e6));
        let printed = "2026-01-01 00:00:00:000, 2026-01-01 00:00:02:000, 500.0, 250.0, 512000, 256000.0, \
                       400, 1600, 312.5, 320000.0\n";
        let figures = consumer_figures(printed).unwrap();
        assert_eq!(figures.get(Figure::MegabytesPerSecond), Some(312.5 * MIB / 1e6));
        assert!(producer_figures("").is_none() && consumer_figures("").is_none());
    }
}
