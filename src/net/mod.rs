//! Listeners and connections of Kafka clients: frames in, answers out in request order.
//!
//! Rule: nothing that a client does or leaves undone holds up another one. Each connection has its own task, a bounded
//! pipeline, and time limits for its bytes in both directions; what all of them hold in memory has one common budget.

mod budget;
mod connection;
mod frames;
mod limits;
mod listener;
mod metrics;
mod server;

pub use limits::Limits;
pub use listener::{BoundListener, bind};
pub use server::{Server, Service};

#[cfg(test)]
mod tests;
