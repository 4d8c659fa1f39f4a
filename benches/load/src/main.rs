//! A load generator for any Kafka broker that costs next to nothing itself.
//!
//! On two cores a JVM client is slower than the broker it is to measure. Here whole request frames are encoded
//! before the clock starts, and what comes back is only walked over. One thread; it is meant to have a core of its own.
//!
//! A measurement prints `begin` when its window opens and a line of JSON when it closes, so that the caller can take
//! the broker's CPU time of just that window.

mod bare;
mod batch;
mod cold;
mod connection;
mod consume;
mod paced;
mod produce;
mod ready;
mod tally;
mod topic;

use anyhow::Result;
use clap::Parser;
use std::future::Future;
use tokio::{runtime, task::LocalSet};

#[derive(Parser)]
#[command(name = "load", about = "Loads a Kafka broker and prints what it took")]
enum Command {
    /// Produce batches that were encoded beforehand
    Produce(produce::Arguments),
    /// Fetch all partitions of a topic and drop what comes
    Consume(consume::Arguments),
    /// Wait until a broker answers, and until all partitions of a topic do
    Ready(ready::Arguments),
    /// Create a topic
    Create(topic::Create),
    /// Delete a topic
    Delete(topic::Delete),
    /// Drop a folder's files from the page cache
    Cold(cold::Arguments),
    /// The ceiling: a bare loop between a socket and a file, without a protocol
    #[command(subcommand)]
    Bare(bare::Command),
}

fn main() -> Result<()> {
    match Command::parse() {
        Command::Produce(arguments) => block_on(produce::run(arguments)),
        Command::Consume(arguments) => block_on(consume::run(arguments)),
        Command::Ready(arguments) => block_on(ready::run(arguments)),
        Command::Create(arguments) => block_on(topic::create(arguments)),
        Command::Delete(arguments) => block_on(topic::delete(arguments)),
        Command::Cold(arguments) => cold::run(&arguments),
        Command::Bare(command) => bare::run(&command),
    }
}

fn block_on(task: impl Future<Output = Result<()>>) -> Result<()> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, task)
}
