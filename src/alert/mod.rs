//! Alerts as a state machine over `__klamm_alerts`: matches are counted and folded by fingerprint, begin to fire as
//! the plugin's policy says, and end after quiet. Pure: time arrives as an argument.
//!
//! Rule: a limit never silences. What it keeps from firing is counted in a summary alert.

mod entry;
mod evaluated;
mod fingerprint;
mod logged;
mod machine;
mod matched;
mod record;

pub use evaluated::{Evaluated, Watched};
pub use fingerprint::Fingerprint;
pub use logged::{Logged, PendingAlert};
pub use machine::{Alerts, Progress};
pub use matched::{Match, Severity};
pub use record::{AlertRecord, AlertSource, AlertState};
