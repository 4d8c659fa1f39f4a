//! What a broker costs before anyone uses it: its first start, its restart with a thousand partitions, its memory.

use super::{
    broker::Side,
    figure::{Figure, Figures},
    measure::{Bench, TOPIC},
    results::Results,
};
use anyhow::Result;

pub(crate) const CELL: &str = "start";
const PARTITIONS: usize = 1000;

pub(crate) fn measure(bench: &Bench, rounds: u32, results: &mut Results) -> Result<()> {
    for round in 0..rounds {
        for side in [Side::Klamm, Side::Kafka] {
            if !results.has(CELL, side, round) {
                results.add(CELL, side, round, turn(bench, side)?)?;
            }
        }
    }
    Ok(())
}

fn turn(bench: &Bench, side: Side) -> Result<Figures> {
    let broker = bench.start_fresh(side)?;
    let start = broker.ready_after;
    bench.generator.create(&broker, TOPIC, PARTITIONS)?;
    broker.stop()?;
    let broker = bench.start(side, Some((TOPIC, PARTITIONS)))?;
    let restart = broker.ready_after;
    let mut figures = Figures::peak_memory(broker.process.peak_bytes()?);
    broker.stop()?;
    figures.set(Figure::Start, start.as_secs_f64() * 1e3);
    figures.set(Figure::Restart, restart.as_secs_f64() * 1e3);
    Ok(figures)
}
