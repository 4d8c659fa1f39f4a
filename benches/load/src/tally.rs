//! What a measurement counts, and the window in which it does.

use anyhow::{Result, bail};
use serde::Serialize;
use std::{
    cell::RefCell,
    rc::Rc,
    time::{Duration, Instant},
};
use tokio::{task::JoinSet, time::sleep};

const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Shared by the tasks of one thread.
pub(crate) type Shared = Rc<RefCell<Tally>>;

#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) requests: u64,
    pub(crate) records: u64,
    /// Of batches, as on the wire.
    pub(crate) bytes: u64,
    /// From when a request was due to its answer.
    pub(crate) latency: Latencies,
    /// From when a request was due to the consumer's having it.
    pub(crate) end_to_end: Latencies,
}

/// When a window opens and closes.
pub(crate) struct Window {
    pub(crate) warm_up: Duration,
    pub(crate) seconds: f64,
    /// Closes it early.
    pub(crate) max_bytes: u64,
}

#[derive(Serialize)]
struct Measured {
    requests: u64,
    records: u64,
    bytes: u64,
    seconds: f64,
    latency_ms: Option<Quantiles>,
    end_to_end_ms: Option<Quantiles>,
}

#[derive(Serialize)]
struct Quantiles {
    p50: f64,
    p99: f64,
    p999: f64,
}

impl Window {
    /// Measures what `tasks` do, until the window closes or they are all done. The first failure of one is returned.
    pub(crate) async fn measure(
        &self,
        tally: &Shared,
        mut tasks: JoinSet<Result<()>>,
    ) -> Result<()> {
        sleep(self.warm_up).await;
        tally.take();
        println!("begin");
        let begun = Instant::now();
        while begun.elapsed().as_secs_f64() < self.seconds
            && tally.borrow().bytes < self.max_bytes
            && !all_are_done(&mut tasks)?
        {
            sleep(LOOK_EVERY).await;
        }
        let measured = tally.take().measured(begun.elapsed());
        println!("{}", serde_json::to_string(&measured)?);
        if measured.requests == 0 {
            bail!("nothing was answered");
        }
        Ok(())
    }
}

fn all_are_done(tasks: &mut JoinSet<Result<()>>) -> Result<bool> {
    while let Some(ended) = tasks.try_join_next() {
        ended??;
    }
    Ok(tasks.is_empty())
}

impl Tally {
    fn measured(self, elapsed: Duration) -> Measured {
        Measured {
            requests: self.requests,
            records: self.records,
            bytes: self.bytes,
            seconds: elapsed.as_secs_f64(),
            latency_ms: self.latency.quantiles(),
            end_to_end_ms: self.end_to_end.quantiles(),
        }
    }
}

/// Every one of them, in microseconds: quantiles are exact.
#[derive(Default)]
pub(crate) struct Latencies(Vec<u32>);

impl Latencies {
    pub(crate) fn add(&mut self, since: Instant) {
        self.0.push(u32::try_from(since.elapsed().as_micros()).unwrap_or(u32::MAX));
    }

    fn quantiles(mut self) -> Option<Quantiles> {
        self.0.sort_unstable();
        let last = self.0.len().checked_sub(1)?;
        let at = |quantile: f64| f64::from(self.0[(last as f64 * quantile) as usize]) / 1e3;
        Some(Quantiles { p50: at(0.5), p99: at(0.99), p999: at(0.999) })
    }
}
