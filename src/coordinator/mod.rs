//! Runs the group and alert machines on internal topics: loads by replay, persists what they decide, calls what they
//! ask for, and holds back each response until its records are committed.
//!
//! Rule: each partition's machine lives in one task, fed by a closed enum of events through a bounded channel.
//! If an append fails or leadership is lost, the machine is dropped and loaded again from the log: nothing is rolled back.
//!
//! `runtime` drives any machine (a [`runtime::Driver`]) on any partition; `groups` is the driver of consumer groups.

mod alert_intake;
mod alerts;
mod append;
mod clock;
mod commit_queue;
mod dead_letter_topics;
mod driver;
mod groups;
mod internal_topic;
mod loader;
mod runtime;
mod timers;

pub use alert_intake::{AlertIntake, Notice, Reserved};
pub use alerts::{AlertCoordinator, AlertRooms};
pub use dead_letter_topics::DeadLetterTopics;
pub use groups::GroupCoordinator;
pub use internal_topic::InternalTopicError;
