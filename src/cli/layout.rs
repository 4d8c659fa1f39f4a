//! How a consumed record is printed: as Kafka's `kafka-console-consumer` prints it with the properties of the same
//! parts. What is null is printed as `null`.

use std::io::{self, Write};

use super::arguments::Consume;
use crate::wire::record_batch::{BatchHeader, RecordView, TimestampType};

const NULL: &[u8] = b"null";

pub(super) struct Layout<'a> {
    /// Timestamp, partition, offset and headers too.
    is_verbose: bool,
    /// Between key and value; `None` prints no keys.
    key_separator: Option<&'a str>,
}

impl<'a> Layout<'a> {
    pub(super) fn new(arguments: &'a Consume) -> Self {
        let tab = arguments.verbose.then_some("\t");
        let key_separator = arguments.key_separator.as_deref().or(tab);
        Self { is_verbose: arguments.verbose, key_separator }
    }

    pub(super) fn write(
        &self,
        partition: i32,
        batch: &BatchHeader,
        record: RecordView<'_>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        if self.is_verbose {
            write_place(partition, batch, record, out)?;
            write_headers(record, out)?;
        }
        if let Some(separator) = self.key_separator {
            out.write_all(record.key().unwrap_or(NULL))?;
            out.write_all(separator.as_bytes())?;
        }
        out.write_all(record.value().unwrap_or(NULL))?;
        out.write_all(b"\n")
    }
}

fn write_place(
    partition: i32,
    batch: &BatchHeader,
    record: RecordView<'_>,
    out: &mut impl Write,
) -> io::Result<()> {
    let offset = batch.base_offset.0.saturating_add(record.offset_delta().into());
    let (kind, timestamp) = match batch.attributes.timestamp_type() {
        TimestampType::CreateTime => {
            ("CreateTime", batch.base_timestamp.0.saturating_add(record.timestamp_delta()))
        }
        TimestampType::LogAppendTime => ("LogAppendTime", batch.max_timestamp.0),
    };
    write!(out, "{kind}:{timestamp}\tPartition:{partition}\tOffset:{offset}\t")
}

fn write_headers(record: RecordView<'_>, out: &mut impl Write) -> io::Result<()> {
    let mut headers = record.headers().peekable();
    if headers.peek().is_none() {
        out.write_all(b"NO_HEADERS")?;
    }
    while let Some(header) = headers.next() {
        out.write_all(header.name)?;
        out.write_all(b":")?;
        out.write_all(header.value.unwrap_or(NULL))?;
        if headers.peek().is_some() {
            out.write_all(b",")?;
        }
    }
    out.write_all(b"\t")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        base::TimestampMs,
        wire::record_batch::{BatchBuilder, Compression, Header, RecordParts},
    };

    fn printed(layout: &Layout<'_>) -> String {
        let header = |name: &'static str, value| Header { name: name.as_bytes(), value };
        let headers = [header("trace", Some(&b"1f"[..])), header("lang", None)];
        let mut builder = BatchBuilder::new(TimestampMs(1_000), Compression::None);
        let full = RecordParts {
            offset_delta: 0,
            timestamp_delta: 7,
            key: Some(b"k"),
            value: Some(b"v"),
            headers: headers.to_vec(),
        };
        let bare = RecordParts { offset_delta: 1, key: None, headers: Vec::new(), ..full.clone() };
        builder.push(&full);
        builder.push(&bare);
        builder.push(&RecordParts { offset_delta: 2, value: None, ..bare });
        let batch = builder.build().unwrap();
        let mut out = Vec::new();
        for record in batch.decode(1_000).unwrap().records() {
            layout.write(3, &batch.header, record, &mut out).unwrap();
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn records_look_as_in_kafkas_console_consumer() {
        let layout = |is_verbose, key_separator| Layout { is_verbose, key_separator };
        assert_eq!(printed(&layout(false, None)), "v\nv\nnull\n");
        assert_eq!(printed(&layout(false, Some("="))), "k=v\nnull=v\nnull=null\n");
        let want = "\
CreateTime:1007\tPartition:3\tOffset:0\ttrace:1f,lang:null\tk\tv
CreateTime:1007\tPartition:3\tOffset:1\tNO_HEADERS\tnull\tv
CreateTime:1007\tPartition:3\tOffset:2\tNO_HEADERS\tnull\tnull
";
        assert_eq!(printed(&layout(true, Some("\t"))), want);
    }
}
