//! Runs the group and alert machines on internal topics: loads by replay, persists what they decide, calls what they
//! ask for, and holds back each response until its records are committed.

mod alert_intake;

pub use alert_intake::{AlertIntake, Reserved};
