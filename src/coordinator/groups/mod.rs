//! The coordinator of consumer groups: finds the partition of `__consumer_offsets` that holds a group, and asks its machine.

mod assign;
mod assign_consumers;
mod coordinator;
mod driver;
mod event;
mod internal;
mod loaded_assignors;
mod offsets_topic;
mod requests;
mod watch;

pub use coordinator::GroupCoordinator;

#[cfg(test)]
mod tests;
