//! `ConsumerGroupMemberMetadataValue` (key version 5): a member, and what it wants.
//!
//! | field                 | type                                       |
//! |-----------------------|--------------------------------------------|
//! | instanceId            | nullable string                            |
//! | rackId                | nullable string                            |
//! | clientId              | string                                     |
//! | clientHost            | string                                     |
//! | subscribedTopicNames  | array of string                            |
//! | subscribedTopicRegex  | nullable string                            |
//! | rebalanceTimeoutMs    | i32, −1 for none                           |
//! | serverAssignor        | nullable string                            |
//! | classicMemberMetadata | nullable [`ClassicMemberMetadata`], tagged 0 |

use std::{collections::BTreeSet, sync::Arc};

use bytes::Bytes;

use super::{
    ClassicMemberMetadata, RecordError, classic_member, read_topics, reader, write_topics, writer,
};
use crate::base::{PluginName, TopicName};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerMemberMetadata {
    pub group_instance_id: Option<Arc<str>>,
    pub rack_id: Option<Arc<str>>,
    pub client_id: Arc<str>,
    pub client_host: Arc<str>,
    pub subscribed_topic_names: BTreeSet<TopicName>,
    pub subscribed_topic_regex: Option<Arc<str>>,
    pub rebalance_timeout_ms: i32,
    pub server_assignor: Option<PluginName>,
    /// Set for a member that speaks the classic protocol.
    pub classic: Option<ClassicMemberMetadata>,
}

const CLASSIC: u32 = 0;

impl ConsumerMemberMetadata {
    pub(in crate::group::record) fn encode(&self) -> Bytes {
        let mut out = writer();
        out.compact_nullable_string(self.group_instance_id.as_deref());
        out.compact_nullable_string(self.rack_id.as_deref());
        out.compact_string(&self.client_id);
        out.compact_string(&self.client_host);
        write_topics(&mut out, &self.subscribed_topic_names);
        // Kafka stores none as an empty one, and reads null alike.
        out.compact_string(self.subscribed_topic_regex.as_deref().unwrap_or_default());
        out.i32(self.rebalance_timeout_ms);
        out.compact_nullable_string(self.server_assignor.as_ref().map(PluginName::as_str));
        match classic_member::encode(self.classic.as_ref()) {
            Some(classic) => out.tagged_field(CLASSIC, &classic),
            None => out.no_tagged_fields(),
        }
        out.finish()
    }

    pub(in crate::group::record) fn decode(value: &[u8]) -> Result<Self, RecordError> {
        let mut read = reader(value)?;
        let group_instance_id = read.nullable_string()?;
        let rack_id = read.nullable_string()?;
        let client_id = read.string()?;
        let client_host = read.string()?;
        let subscribed_topic_names = read_topics(&mut read)?;
        let subscribed_topic_regex = read.nullable_string()?.filter(|it| !it.is_empty());
        let rebalance_timeout_ms = read.i32()?;
        let server_assignor = read.nullable_string()?.map(PluginName);
        let classic = classic_member::decode(read.tagged_field(CLASSIC)?)?;
        Ok(Self {
            group_instance_id,
            rack_id,
            client_id,
            client_host,
            subscribed_topic_names,
            subscribed_topic_regex,
            rebalance_timeout_ms,
            server_assignor,
            classic,
        })
    }
}
