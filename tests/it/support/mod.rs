//! A broker of one's own for a test, and a client that speaks the protocol and nothing else.

mod broker;
mod client;
mod consumer;
mod group;
mod group_samples;
pub(crate) mod guests;
mod operator;
mod partition_samples;
mod producer;
mod samples;
mod settings_samples;

use std::{
    thread,
    time::{Duration, Instant},
};

pub(crate) use broker::Broker;
pub(crate) use client::{Client, Sent, frame_of};
pub(crate) use operator::sha256;
pub(crate) use producer::{KeyValue, Session, TIMESTAMP_MS, batch, compressed, with_headers};
pub(crate) use samples::sample_body;

/// Long enough on a busy machine; a test that takes it has failed.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

/// Asks until there is an answer.
///
/// # Panics
///
/// There is none within [`PATIENCE`].
#[track_caller]
pub(crate) fn eventually<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(started.elapsed() < PATIENCE, "never happened: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}
