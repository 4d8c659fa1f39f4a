//! Record headers, whichever way a hook's columns carry them.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// UTF-8 by Kafka's rule, which nobody enforces.
    pub name: &'a [u8],
    pub value: Option<&'a [u8]>,
}

/// The headers of all records of a batch.
#[derive(Debug, Default)]
pub(crate) struct Headers<'a> {
    all: Vec<Header<'a>>,
    /// For each record the number of headers up to its last one; empty when none were asked for.
    ends: Vec<usize>,
}

impl<'a> Headers<'a> {
    pub(crate) fn push(&mut self, header: Header<'a>) {
        self.all.push(header);
    }

    /// Ends the headers of one more record.
    pub(crate) fn end_record(&mut self) {
        self.ends.push(self.all.len());
    }

    pub(crate) fn records(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn of(&self, record: usize) -> &[Header<'a>] {
        let start = record.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        let end = self.ends.get(record).copied().unwrap_or(0);
        self.all.get(start.unwrap_or(0)..end).unwrap_or_default()
    }
}

/// The last header of a name, as Kafka's `Headers.lastHeader`.
pub(crate) fn last<'h, 'a>(headers: &'h [Header<'a>], name: &str) -> Option<&'h Header<'a>> {
    headers.iter().rev().find(|header| header.name == name.as_bytes())
}
