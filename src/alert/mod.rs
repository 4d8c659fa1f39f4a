//! Alerts as a state machine over `__klamm_alerts`: matches are counted and folded by fingerprint. Pure.

mod matched;

pub use matched::{Match, Severity};
