//! The shipped transform `log-alert`: it reads log lines on their way into a topic and raises alerts.
//! It never changes, drops or delays a record.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::indexing_slicing))]

mod layout;
mod level;
