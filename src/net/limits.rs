//! What a connection may take: bytes and time.

use std::time::Duration;

use crate::config::NetConfig;

/// Requests of a connection that may wait for their answers at the same time. Only `Produce` pipelines; Java sends 5,
/// librdkafka as many as it likes.
pub(super) const PIPELINE_MAX: usize = 64;

#[derive(Clone, Debug)]
pub struct Limits {
    /// Longest frame.
    pub request_max_bytes: usize,
    /// Request bytes of all connections together, counted as a body arrives and until nobody needs it any more.
    pub inflight_max_bytes: usize,
    /// How long a connection may be silent while it waits for no answer.
    pub idle: Duration,
    /// How long the body of a frame may take to arrive. Clients give up on a request after 30 to 60 seconds by
    /// default, so what takes longer is of no use to them, and it holds a part of the budget.
    pub body: Duration,
    /// How long a body may arrive too slowly while others wait for the budget.
    pub lag: Duration,
    /// How long a client may take none of the bytes that it is sent.
    pub write_stall: Duration,
    /// How long running requests may go on after a stop.
    pub stop_grace: Duration,
}

impl Limits {
    pub fn new(config: &NetConfig) -> Self {
        Self {
            request_max_bytes: config.request_max_bytes,
            // A request larger than the budget must be able to take all of it.
            inflight_max_bytes: config.request_inflight_max_bytes.clamp(1, PERMITS_MAX),
            idle: Duration::from_millis(config.connections_max_idle_ms),
            body: Duration::from_mins(1),
            lag: Duration::from_secs(1),
            write_stall: Duration::from_mins(1),
            stop_grace: Duration::from_secs(5),
        }
    }
}

/// One request takes at most `u32::MAX` permits, a frame has at most `i32::MAX` bytes.
const PERMITS_MAX: usize = i32::MAX as usize;
