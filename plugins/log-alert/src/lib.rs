//! The shipped transform `log-alert`: it reads log lines on their way into a topic and raises alerts.
//! It never changes, drops or delays a record.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::indexing_slicing))]

mod alert;
mod event;
mod fingerprint;
mod layout;
mod level;
mod pattern;
mod settings;
mod trace;
mod watch;

use event::Event;
use klamm_plugin::transform::{Batch, Output, Transform};
use klamm_plugin::{Description, Needs};
use settings::Settings;
use watch::Watch;

/// Raises alerts from the log lines in records' values.
#[derive(Debug)]
pub struct LogAlert(Watch);

impl Transform for LogAlert {
    fn describe() -> Description {
        let summary = "Raises alerts from log lines by their level field and by patterns.";
        Description::new("log-alert", env!("CARGO_PKG_VERSION"), summary)
            .needs(Needs::VALUES)
            .settings(settings::DEFAULTS)
    }

    fn configure(settings: &str) -> Result<Self, String> {
        Settings::parse(settings).map(Watch::new).map(Self)
    }

    fn process(&mut self, batch: &Batch<'_>) -> Result<Output, String> {
        let mut output = Output::new();
        let mut event = Event::decode(batch.state());
        for record in batch.records() {
            let finding = record.value.and_then(|value| self.0.inspect(&mut event, value));
            let Some(finding) = finding else { continue };
            let settings = self.0.settings();
            let fingerprint = finding.fingerprint(&settings.fingerprint);
            let labels = finding.labels(&settings.labels);
            output.alert(record.index, finding.severity, finding.title(), fingerprint, labels);
        }
        output.set_state(event.encode());
        Ok(output)
    }
}

klamm_plugin::transform!(LogAlert);
