//! Listeners and connections of Kafka clients: frames in, answers out in request order.
//!
//! Rule: nothing that a client does or leaves undone holds up another one. Each connection has its own task, a bounded
//! pipeline, and time limits for its bytes in both directions; what all of them hold in memory has one common budget.

mod acceptor;
mod answers;
mod body;
mod budget;
mod connection;
mod connection_quotas;
mod end;
mod frame_buffers;
mod frames;
mod gathered;
mod leaving;
mod limits;
mod listener;
mod metrics;
mod patience;
mod per_ip;
mod progress;
mod sending;
mod server;
mod service;
mod slots;
mod speed;

pub use connection_quotas::ConnectionQuotas;
pub use limits::Limits;
pub use listener::{BoundListener, bind};
pub use server::Server;
pub use service::Service;

#[cfg(test)]
mod tests;
