//! Alerts as a state machine over `__klamm_alerts`: matches are counted and folded by fingerprint. Pure.

mod evaluated;
mod matched;

pub use evaluated::Evaluated;
pub use matched::{Match, Severity};
