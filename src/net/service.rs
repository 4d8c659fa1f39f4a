//! What a connection hands its frames to.

use bytes::Bytes;

use crate::{
    api::{Client, Outcome, Requests},
    wire::guard,
};

/// What answers requests: `api`, and in tests something smaller.
pub trait Service: Send + Sync + 'static {
    /// Begins a request. It does not block: what takes time goes into the outcome.
    fn call(&self, client: &Client, frame: Bytes) -> Outcome;

    /// The longest frame of an API, where it is shorter than the longest of all: more of it is not read.
    fn frame_bytes_max(&self, api_key: i16) -> Option<usize>;

    /// Whether the time that connections take is counted now.
    fn counts_time(&self) -> bool;

    /// A connection has ended.
    fn ended(&self, client: &Client);
}

impl Service for Requests {
    fn call(&self, client: &Client, frame: Bytes) -> Outcome {
        Requests::call(self, client, frame)
    }

    fn frame_bytes_max(&self, api_key: i16) -> Option<usize> {
        guard::frame_bytes_max(api_key)
    }

    fn counts_time(&self) -> bool {
        Requests::counts_time(self)
    }

    fn ended(&self, client: &Client) {
        Requests::ended(self, client);
    }
}
