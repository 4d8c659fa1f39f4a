//! `ConsumerGroupMetadataValue` (key version 3): the group's epoch.
//!
//! | field        | type                     |
//! |--------------|--------------------------|
//! | epoch        | i32                      |
//! | metadataHash | i64, tagged 0, not for 0 |

use bytes::Bytes;

use super::{Reader, RecordError, reader, writer};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerGroupMetadata {
    pub epoch: i32,
    /// Of the topics subscribed to (KIP-1101); 0 before it is known.
    pub metadata_hash: i64,
}

const METADATA_HASH: u32 = 0;

impl ConsumerGroupMetadata {
    pub(in crate::group::record) fn encode(&self) -> Bytes {
        let mut out = writer();
        out.i32(self.epoch);
        match self.metadata_hash {
            0 => out.no_tagged_fields(),
            hash => out.tagged_field(METADATA_HASH, &hash.to_be_bytes()),
        }
        out.finish()
    }

    pub(in crate::group::record) fn decode(value: &[u8]) -> Result<Self, RecordError> {
        let mut read = reader(value)?;
        let epoch = read.i32()?;
        let hash = read.tagged_field(METADATA_HASH)?;
        let metadata_hash = hash.map_or(Ok(0), |it| Reader::new(it).i64())?;
        Ok(Self { epoch, metadata_hash })
    }
}
