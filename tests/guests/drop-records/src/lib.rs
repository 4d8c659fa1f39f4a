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

#[cfg(test)]
mod tests {
    use super::*;
    use klamm_plugin::transform::Columns;

    #[test]
    fn what_begins_with_the_mark_is_dropped() {
        // Two values and a null: no key, offset and length of the value, no time.
        let index = [0, -1, 0, 6, 0, 0, -1, 6, 6, 0, 0, -1, 0, -1, 0];
        let columns =
            Columns { count: 3, data: b"drop 1keep 2", index: &index, ..Columns::default() };
        let output = DropRecords.process(&Batch::new(columns).unwrap()).unwrap();
        assert_eq!(output.flatten(3).unwrap().actions, [1, 0, 0]);
    }
}
