//! `GroupMetadataValue`: a generation of a classic group with all its members.
//!
//! | field                 | type             | versions |   | field of a member | type             | versions |
//! |-----------------------|------------------|----------|---|-------------------|------------------|----------|
//! | protocolType          | string           | 0+       |   | memberId          | string           | 0+       |
//! | generation            | i32              | 0+       |   | groupInstanceId   | nullable string  | 3+       |
//! | protocol              | nullable string  | 0+       |   | clientId          | string           | 0+       |
//! | leader                | nullable string  | 0+       |   | clientHost        | string           | 0+       |
//! | currentStateTimestamp | i64, −1 for none | 2+       |   | rebalanceTimeout  | i32, ms          | 1+       |
//! | members               | array            | 0+       |   | sessionTimeout    | i32, ms          | 0+       |
//! |                       |                  |          |   | subscription      | bytes            | 0+       |
//! |                       |                  |          |   | assignment        | bytes            | 0+       |
//!
//! Version 4 is the same in the flexible encoding. Version 3 is written, as Kafka 4.1 does.

use std::sync::Arc;

use bytes::Bytes;

use super::{Reader, RecordError, Writer};
use crate::base::{MemberId, TimestampMs};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupMetadata {
    /// Empty for a group that only has offsets.
    pub protocol_type: Arc<str>,
    pub generation_id: i32,
    pub protocol: Option<Arc<str>>,
    pub leader: Option<MemberId>,
    /// When the group came into its state.
    pub state_timestamp: Option<TimestampMs>,
    pub members: Vec<MemberMetadata>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberMetadata {
    pub member_id: MemberId,
    pub group_instance_id: Option<Arc<str>>,
    pub client_id: Arc<str>,
    pub client_host: Arc<str>,
    pub rebalance_timeout_ms: i32,
    pub session_timeout_ms: i32,
    /// The member's metadata for the chosen protocol.
    pub subscription: Bytes,
    pub assignment: Bytes,
}

const WRITTEN: i16 = 3;
const NEWEST: i16 = 4;

impl GroupMetadata {
    pub(super) fn encode(&self) -> Bytes {
        let mut out = Writer::default();
        out.i16(WRITTEN);
        out.string(&self.protocol_type);
        out.i32(self.generation_id);
        out.nullable_string(self.protocol.as_deref());
        out.nullable_string(self.leader.as_ref().map(MemberId::as_str));
        out.i64(self.state_timestamp.map_or(-1, |it| it.0));
        out.i32(self.members.len() as i32);
        for member in &self.members {
            member.encode(&mut out);
        }
        out.finish()
    }

    pub(super) fn decode(value: &[u8]) -> Result<Self, RecordError> {
        let mut read = Reader::new(value);
        let version = read.i16()?;
        if !(0..=NEWEST).contains(&version) {
            return Err(RecordError::UnknownValueVersion(version));
        }
        read.set_flexible(version >= 4);
        let protocol_type = read.string()?;
        let generation_id = read.i32()?;
        let protocol = read.nullable_string()?;
        let leader = read.nullable_string()?.map(MemberId);
        let since = if version >= 2 { read.i64()? } else { -1 };
        // Not reserved: the count is a stranger's until the members have been read.
        let mut members = Vec::new();
        for _ in 0..read.count()? {
            members.push(MemberMetadata::decode(&mut read, version)?);
        }
        read.tagged_fields(|_, _| ())?;
        let state_timestamp = (since >= 0).then_some(TimestampMs(since));
        Ok(Self { protocol_type, generation_id, protocol, leader, state_timestamp, members })
    }
}

impl MemberMetadata {
    fn encode(&self, out: &mut Writer) {
        out.string(self.member_id.as_str());
        out.nullable_string(self.group_instance_id.as_deref());
        out.string(&self.client_id);
        out.string(&self.client_host);
        out.i32(self.rebalance_timeout_ms);
        out.i32(self.session_timeout_ms);
        out.bytes(&self.subscription);
        out.bytes(&self.assignment);
    }

    fn decode(read: &mut Reader<'_>, version: i16) -> Result<Self, RecordError> {
        let member_id = MemberId(read.string()?);
        let group_instance_id = if version >= 3 { read.nullable_string()? } else { None };
        let client_id = read.string()?;
        let client_host = read.string()?;
        let rebalance = if version >= 1 { Some(read.i32()?) } else { None };
        let session_timeout_ms = read.i32()?;
        let subscription = read.bytes()?;
        let assignment = read.bytes()?;
        read.tagged_fields(|_, _| ())?;
        Ok(Self {
            member_id,
            group_instance_id,
            client_id,
            client_host,
            // Version 0 knows one timeout for both.
            rebalance_timeout_ms: rebalance.unwrap_or(session_timeout_ms),
            session_timeout_ms,
            subscription,
            assignment,
        })
    }
}
