//! `cargo xtask bench kafka`: Klamm beside Apache Kafka on this machine, in one run.
//!
//! Both run on fresh data directories with their default settings, the broker pinned to one core and the load generator
//! to the other. They take turns, A B A B, so that what else the machine does falls on both. What counts is the ratio.

mod bare;
mod broker;
mod cell;
mod document;
mod figure;
mod footprint;
mod generator;
mod jars;
mod machine;
mod measure;
mod process;
mod results;
mod table;

use anyhow::{Context as _, Result};
use broker::{Broker, Side};
use cell::{Cell, Task};
use figure::Figures;
use generator::Generator;
use jars::Jars;
use measure::Bench;
use results::Results;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command as Process,
};

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Measure Klamm beside Apache Kafka 4.1 and print one table of Markdown
    Kafka(Arguments),
}

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Klamm's binary; without it, the release profile is built
    #[arg(long)]
    klamm: Option<PathBuf>,
    /// Of one measurement, less its warm-up
    #[arg(long, default_value_t = 6.0)]
    seconds: f64,
    /// How often each side has its turn; the table shows medians
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    #[command(flatten)]
    extent: Extent,
    /// Put the table into `docs/performance.md`
    #[arg(long)]
    write_docs: bool,
}

/// Which cells are measured.
#[derive(clap::Args)]
struct Extent {
    /// Every combination of the dimensions, for hours. What a run has measured, the next one skips
    #[arg(long, conflicts_with = "smoke")]
    full: bool,
    /// Go on with the last run of the table's cells
    #[arg(long)]
    resume: bool,
    /// One cell, for seconds: does the bench still work?
    #[arg(long)]
    smoke: bool,
    /// Only cells whose name contains this
    #[arg(long, default_value = "")]
    only: String,
}

pub(crate) fn run(root: &Path, command: Command) -> Result<()> {
    let Command::Kafka(mut arguments) = command;
    if arguments.extent.smoke {
        (arguments.seconds, arguments.rounds) = (1.0, 1);
    }
    let folder = root.join("target/bench");
    fs::create_dir_all(&folder)?;
    let mut results = open_results(&folder, &arguments)?;
    let bench = prepare(root, &folder, &arguments)?;
    measure_all(&bench, &arguments, &mut results)?;
    let page = table::page(&results, &machine::words()?, &command_line());
    println!("{page}");
    if arguments.write_docs { document::write(root, &page) } else { Ok(()) }
}

/// As it was typed, less where the binary lies.
fn command_line() -> String {
    let mut before = String::new();
    let arguments = std::env::args().skip(1).map(|it| {
        let shown = if before == "--klamm" { "FILE".to_owned() } else { it.clone() };
        before = it;
        shown
    });
    format!("cargo xtask {}", arguments.collect::<Vec<_>>().join(" "))
}

fn open_results(folder: &Path, arguments: &Arguments) -> Result<Results> {
    let extent = &arguments.extent;
    let name = match (extent.full, extent.smoke) {
        (true, _) => "full.jsonl",
        (_, true) => "smoke.jsonl",
        _ => "table.jsonl",
    };
    let path = folder.join(name);
    if !extent.full && !extent.resume && path.exists() {
        fs::remove_file(&path)?;
    }
    Results::open(path)
}

fn prepare(root: &Path, folder: &Path, arguments: &Arguments) -> Result<Bench> {
    let klamm = match &arguments.klamm {
        Some(binary) => binary.canonicalize().with_context(|| binary.display().to_string())?,
        None => build(root, "klamm", "klamm")?,
    };
    Ok(Bench {
        klamm,
        generator: Generator { binary: build(root, "load", "load")? },
        jars: Jars::fetch(root, folder)?,
        folder: folder.to_owned(),
        seconds: arguments.seconds,
    })
}

fn build(root: &Path, package: &str, binary: &str) -> Result<PathBuf> {
    let mut cargo = Process::new(env!("CARGO"));
    cargo.args(["build", "--release", "--locked", "--package", package, "--bin", binary]);
    process::finish(cargo.current_dir(root))?;
    Ok(root.join("target/release").join(binary))
}

fn measure_all(bench: &Bench, arguments: &Arguments, results: &mut Results) -> Result<()> {
    let cells = if arguments.extent.full { cell::full() } else { cell::of_the_table() };
    let cells = cells.into_iter().filter(|it| it.name.contains(&arguments.extent.only));
    let cells: Vec<_> = cells.take(if arguments.extent.smoke { 1 } else { usize::MAX }).collect();
    if !arguments.extent.smoke && arguments.extent.only.is_empty() {
        footprint::measure(bench, arguments.rounds, results)?;
        bare::measure(bench, arguments.rounds, results)?;
    }
    let mut pair = None;
    for cell in cells {
        if !results.lacks(&cell, arguments.rounds) {
            continue;
        }
        let pair = match &mut pair {
            Some(pair) => pair,
            none => none.insert(start_both(bench)?),
        };
        if let Err(error) = measure_cell(bench, &cell, arguments.rounds, pair, results) {
            eprintln!("{}: {error:#}", cell.name);
        }
    }
    for broker in pair.into_iter().flatten() {
        let peak = Figures::peak_memory(broker.process.peak_bytes()?);
        results.add(cell::ALL, broker.side, 0, peak)?;
        broker.stop()?;
    }
    Ok(())
}

fn start_both(bench: &Bench) -> Result<[Broker; 2]> {
    Ok([bench.start_fresh(Side::Klamm)?, bench.start_fresh(Side::Kafka)?])
}

/// Turns of both sides; those that the results have are skipped.
fn measure_cell(
    bench: &Bench,
    cell: &Cell,
    rounds: u32,
    pair: &[Broker; 2],
    results: &mut Results,
) -> Result<()> {
    if let Task::Latency(shape) = &cell.task {
        return measure::at_shares(bench, cell, shape, rounds, pair, results);
    }
    for round in 0..rounds {
        for broker in pair {
            if results.has(&cell.name, broker.side, round) {
                continue;
            }
            let figures = bench.measure(cell, broker)?;
            results.add(&cell.name, broker.side, round, figures)?;
        }
    }
    Ok(())
}
