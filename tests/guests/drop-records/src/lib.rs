//! A transform that leaves out the records whose value begins with `drop `.
//!
//! For tests, `tests/clients/run filtered` above all: who writes a record decides whether it is stored.

use klamm_plugin::transform::{Batch, Output, Transform};
use klamm_plugin::{Description, Needs};

const MARK: &[u8] = b"drop ";

pub struct DropRecords;

impl Transform for DropRecords {
    fn describe() -> Description {
        let summary = "Leaves out the records whose value begins with `drop `.";
        Description::new("drop-records", env!("CARGO_PKG_VERSION"), summary).needs(Needs::VALUES)
    }

    fn configure(settings: &str) -> Result<Self, String> {
        klamm_plugin::no_settings(settings).map(|()| Self)
    }

    fn process(&mut self, batch: &Batch<'_>) -> Result<Output, String> {
        let mut output = Output::new();
        for record in batch.records() {
            if record.value.is_some_and(|value| value.starts_with(MARK)) {
                output.drop(record.index);
            }
        }
        Ok(output)
    }
}

klamm_plugin::transform!(DropRecords);
