//! What the machine writes to `__klamm_alerts`.

use serde::{Deserialize, Serialize};

use super::{AlertRecord, Fingerprint};
use crate::base::TimestampMs;

/// One record, as it is written and replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Logged {
    /// An alert that fires or has ended, for whoever reads the topic; `None` is the tombstone of a forgotten one.
    Alert(Fingerprint, Option<AlertRecord>),
    /// For the machine alone: in a control batch, which consumers skip.
    Pending(PendingAlert),
}

/// Matches that have not made an alert fire yet. Without them a restart would begin to count anew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingAlert {
    /// With all that was counted.
    pub alert: AlertRecord,
    /// The broker's times of the matches that count towards `for-count`, oldest first.
    pub matched_at: Vec<TimestampMs>,
}
