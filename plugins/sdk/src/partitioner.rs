//! The partitioner hook: which partition a record belongs to.

use crate::column::{Column, take};
use crate::header::{Header, Headers, last};
use crate::{Description, Needs};

/// Decides which partition a record belongs to.
pub trait Partitioner {
    /// Must not depend on settings.
    fn describe() -> Description
    where
        Self: Sized;

    /// Makes an instance. `settings` is the table `[config]` of the plugin's TOML file as JSON text,
    /// `{}` without one; an error refuses the load, with its text shown to the operator.
    fn configure(settings: &str) -> Result<Self, String>
    where
        Self: Sized;

    /// One partition a record, each below [`Batch::partitions`].
    fn partition(&mut self, batch: &Batch<'_>) -> Result<Vec<u32>, String>;
}

/// A batch as the broker hands it over. The WIT file `wit/partitioner.wit` tells the lists' contents.
#[derive(Clone, Copy, Debug, Default)]
pub struct Columns<'a> {
    pub topic: &'a str,
    pub partitions: u32,
    pub count: u32,
    pub keys: &'a [u8],
    pub key_lens: &'a [i32],
    pub values: &'a [u8],
    pub value_lens: &'a [i32],
    pub headers: &'a [u8],
    pub header_lens: &'a [i32],
    pub sequence: u32,
    pub seed: u32,
}

/// The records of one batch.
#[derive(Debug)]
pub struct Batch<'a> {
    columns: Columns<'a>,
    keys: Column<'a>,
    values: Column<'a>,
    headers: Headers<'a>,
}

#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Position in this call.
    pub index: u32,
    /// The record's number among its producer's; it wraps.
    pub sequence: u32,
    /// `None` is null, which is not the empty key; also `None` when keys were not asked for.
    pub key: Option<&'a [u8]>,
    pub value: Option<&'a [u8]>,
    headers: &'a [Header<'a>],
}

impl<'a> Batch<'a> {
    /// Checks the columns that `needs` asks for, and that there is a partition to choose.
    pub fn new(columns: Columns<'a>, needs: Needs) -> Result<Self, String> {
        let count = columns.count as usize;
        if columns.partitions == 0 {
            return Err("a topic without partitions".into());
        }
        let mut batch = Self {
            columns,
            keys: Column::default(),
            values: Column::default(),
            headers: Headers::default(),
        };
        if needs.contains(Needs::KEYS) {
            batch.keys = Column::new("keys", columns.keys, columns.key_lens, count)?;
        }
        if needs.contains(Needs::VALUES) {
            batch.values = Column::new("values", columns.values, columns.value_lens, count)?;
        }
        if needs.contains(Needs::HEADERS) {
            batch.headers = headers(columns.headers, columns.header_lens, count)?;
        }
        Ok(batch)
    }

    pub fn topic(&self) -> &'a str {
        self.columns.topic
    }

    /// Partitions that the topic has now; at least 1.
    pub fn partitions(&self) -> u32 {
        self.columns.partitions
    }

    /// Records in this call.
    pub fn count(&self) -> u32 {
        self.columns.count
    }

    /// Number of the first record among its producer's. It rises by the records in each batch, and wraps.
    pub fn sequence(&self) -> u32 {
        self.columns.sequence
    }

    /// The same for all batches of one producer, and well spread over producers.
    pub fn seed(&self) -> u32 {
        self.columns.seed
    }

    /// One key a record; nothing at all unless keys were asked for.
    pub fn keys(&self) -> impl Iterator<Item = Option<&'a [u8]>> {
        self.keys.iter()
    }

    pub fn records(&self) -> impl Iterator<Item = Record<'_>> {
        let (mut keys, mut values) = (self.keys.iter(), self.values.iter());
        (0..self.columns.count).map(move |index| Record {
            index,
            sequence: self.columns.sequence.wrapping_add(index),
            key: keys.next().flatten(),
            value: values.next().flatten(),
            headers: self.headers.of(index as usize),
        })
    }
}

impl<'a> Record<'a> {
    /// In the record's order; none unless headers were asked for.
    pub fn headers(&self) -> &'a [Header<'a>] {
        self.headers
    }

    /// The last header of a name.
    pub fn header(&self, name: &str) -> Option<&'a Header<'a>> {
        last(self.headers, name)
    }
}

/// Three words a header: the record's index, the name's length, the value's length.
fn headers<'a>(mut data: &'a [u8], lens: &[i32], count: usize) -> Result<Headers<'a>, String> {
    let mut headers = Headers::default();
    let (words, rest) = lens.as_chunks::<3>();
    for &[record, name, value] in words {
        let record = usize::try_from(record).map_err(|_| "a header of no record")?;
        if record >= count || record < headers.records() {
            return Err(format!("a header of record {record} out of order, of {count} records"));
        }
        while headers.records() < record {
            headers.end_record();
        }
        headers.push(header(&mut data, name, value).ok_or("header lengths beyond the headers")?);
    }
    while headers.records() < count {
        headers.end_record();
    }
    if rest.is_empty() && data.is_empty() {
        Ok(headers)
    } else {
        Err("headers and their lengths disagree".into())
    }
}

fn header<'a>(data: &mut &'a [u8], name: i32, value: i32) -> Option<Header<'a>> {
    let name = take(data, name)?;
    let value = match value {
        -1 => None,
        len => Some(take(data, len)?),
    };
    Some(Header { name, value })
}

#[cfg(test)]
mod tests;
