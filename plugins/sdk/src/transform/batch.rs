//! The records of one batch, borrowed from the columns that the broker hands over.

use crate::header::{Header, Headers, last};

/// A batch as the broker hands it over. The WIT file `wit/transform.wit` tells the lists' contents.
#[derive(Clone, Copy, Debug, Default)]
pub struct Columns<'a> {
    pub topic: &'a str,
    pub partition: u32,
    pub count: u32,
    pub data: &'a [u8],
    pub index: &'a [i32],
    pub headers: &'a [i32],
    pub header_counts: &'a [i32],
    pub base_timestamp: f64,
    pub now_ms: f64,
    pub state: &'a [u8],
}

#[derive(Debug)]
pub struct Batch<'a> {
    columns: Columns<'a>,
    /// Five words a record: key offset and length, value offset and length, timestamp delta.
    index: &'a [[i32; 5]],
    headers: Headers<'a>,
}

#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Position in this call; what [`Output`](super::Output) names a record by.
    pub index: u32,
    pub key: Option<&'a [u8]>,
    /// `None` is null: a tombstone on a compacted topic.
    pub value: Option<&'a [u8]>,
    /// Since the Unix epoch.
    pub timestamp_ms: i64,
    headers: &'a [Header<'a>],
}

impl<'a> Batch<'a> {
    /// Checks that every offset and length lies in the batch's bytes, and every list has its length.
    pub fn new(columns: Columns<'a>) -> Result<Self, String> {
        let (index, rest) = columns.index.as_chunks::<5>();
        if index.len() != columns.count as usize || !rest.is_empty() {
            return Err(format!(
                "{} index words for {} records",
                columns.index.len(),
                columns.count
            ));
        }
        for &[key, key_len, value, value_len, _] in index {
            slice(columns.data, key, key_len)?;
            slice(columns.data, value, value_len)?;
        }
        Ok(Self { columns, index, headers: headers(&columns)? })
    }

    pub fn topic(&self) -> &'a str {
        self.columns.topic
    }

    pub fn partition(&self) -> u32 {
        self.columns.partition
    }

    /// Records in this call.
    pub fn count(&self) -> u32 {
        self.columns.count
    }

    /// The broker's clock, since the Unix epoch.
    pub fn now_ms(&self) -> i64 {
        self.columns.now_ms as i64
    }

    /// What the last call for this plugin and partition returned as state. Empty after a reload, a
    /// failure or a move of the partition: it is a cache, not a database.
    pub fn state(&self) -> &'a [u8] {
        self.columns.state
    }

    pub fn records(&self) -> impl Iterator<Item = Record<'_>> {
        (0..).zip(self.index).map(|(index, words)| self.read(index, *words))
    }

    /// The record at `index`, if the batch has that many.
    pub fn record(&self, index: u32) -> Option<Record<'_>> {
        self.index.get(index as usize).map(|words| self.read(index, *words))
    }

    fn read(&self, index: u32, [key, key_len, value, value_len, delta]: [i32; 5]) -> Record<'_> {
        let data = self.columns.data;
        Record {
            index,
            key: slice(data, key, key_len).unwrap_or_default(),
            value: slice(data, value, value_len).unwrap_or_default(),
            timestamp_ms: timestamp(self.columns.base_timestamp, delta),
            headers: self.headers.of(index as usize),
        }
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

fn timestamp(base: f64, delta: i32) -> i64 {
    (base as i64).saturating_add(i64::from(delta))
}

fn slice(data: &[u8], offset: i32, len: i32) -> Result<Option<&[u8]>, String> {
    if len == -1 {
        return Ok(None);
    }
    let range = || {
        let start = usize::try_from(offset).ok()?;
        data.get(start..start.checked_add(usize::try_from(len).ok()?)?)
    };
    range().map(Some).ok_or_else(|| format!("{len} bytes at {offset} of {}", data.len()))
}

/// Four words a header; empty lists when headers were not asked for.
fn headers<'a>(columns: &Columns<'a>) -> Result<Headers<'a>, String> {
    let mut headers = Headers::default();
    let (mut words, rest) = columns.headers.as_chunks::<4>();
    for &count in columns.header_counts {
        let count = usize::try_from(count).map_err(|_| "a negative number of headers")?;
        let (mine, after) =
            words.split_at_checked(count).ok_or("more headers counted than there are")?;
        for header_words in mine {
            headers.push(header(columns.data, *header_words)?);
        }
        words = after;
        headers.end_record();
    }
    let counted = headers.records() == columns.count as usize || headers.records() == 0;
    if counted && rest.is_empty() && words.is_empty() {
        Ok(headers)
    } else {
        Err("headers and their counts disagree".into())
    }
}

fn header(data: &[u8], [name, name_len, value, value_len]: [i32; 4]) -> Result<Header<'_>, String> {
    let name = slice(data, name, name_len)?.ok_or("a header without a name")?;
    Ok(Header { name, value: slice(data, value, value_len)? })
}

#[cfg(test)]
mod tests;
