//! What a member that speaks the classic protocol told of itself: a tagged field of a member's record.
//!
//! | field              | type                                   |
//! |--------------------|----------------------------------------|
//! | (present)          | uvarint: 1; 0 for null, and no more    |
//! | sessionTimeoutMs   | i32                                    |
//! | supportedProtocols | array of name: string, metadata: bytes |
//!
//! In Kafka's schema its default is not null but a struct of defaults. So null is written, and a record without the field
//! has a member of the classic protocol with nothing in it.

use std::sync::Arc;

use bytes::Bytes;

use super::{Reader, RecordError, Writer};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassicMemberMetadata {
    pub session_timeout_ms: i32,
    /// Names, with each one's subscription.
    pub protocols: Vec<(Arc<str>, Bytes)>,
}

const NULL: u32 = 0;
const PRESENT: u32 = 1;

/// The field's bytes; `None` for what its absence says.
pub(super) fn encode(classic: Option<&ClassicMemberMetadata>) -> Option<Bytes> {
    let mut out = Writer::default();
    match classic {
        Some(classic) if *classic == ClassicMemberMetadata::default() => return None,
        Some(classic) => classic.encode(&mut out),
        None => out.varint(NULL),
    }
    Some(out.finish())
}

pub(super) fn decode(field: Option<&[u8]>) -> Result<Option<ClassicMemberMetadata>, RecordError> {
    let Some(field) = field else { return Ok(Some(ClassicMemberMetadata::default())) };
    let mut read = Reader::new(field);
    read.set_flexible(true);
    if read.varint()? == NULL {
        return Ok(None);
    }
    ClassicMemberMetadata::decode(&mut read).map(Some)
}

impl ClassicMemberMetadata {
    fn encode(&self, out: &mut Writer) {
        out.varint(PRESENT);
        out.i32(self.session_timeout_ms);
        out.compact_count(self.protocols.len());
        for (name, metadata) in &self.protocols {
            out.compact_string(name);
            out.compact_bytes(metadata);
            out.no_tagged_fields();
        }
        out.no_tagged_fields();
    }

    fn decode(read: &mut Reader<'_>) -> Result<Self, RecordError> {
        let session_timeout_ms = read.i32()?;
        let protocols = (0..read.count()?).map(|_| protocol(read)).collect::<Result<_, _>>()?;
        read.tagged_fields(|_, _| ())?;
        Ok(Self { session_timeout_ms, protocols })
    }
}

fn protocol(read: &mut Reader<'_>) -> Result<(Arc<str>, Bytes), RecordError> {
    let protocol = (read.string()?, read.bytes()?);
    read.tagged_fields(|_, _| ())?;
    Ok(protocol)
}
