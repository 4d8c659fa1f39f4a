//! What a consumer tells its leader, read for a plugin's sake: `ConsumerProtocolSubscription`.
//!
//! The messages are the wire crate's; it believes the counts that a stranger wrote, so a walk over the
//! bytes checks them first.

use std::collections::BTreeMap;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use kafka_protocol::{
    messages::{
        ConsumerProtocolAssignment, ConsumerProtocolSubscription,
        consumer_protocol_assignment::TopicPartition,
    },
    protocol::{Decodable, Encodable, StrBytes},
};

use super::Member;
use crate::base::{MemberId, TopicName};

/// The newest version that we know; newer ones only append fields.
const NEWEST: i16 = 3;

/// The generation of a subscription that does not tell it.
pub(super) const NO_GENERATION: i32 = -1;

/// A member with its subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscribed {
    pub member_id: MemberId,
    pub group_instance_id: Option<String>,
    pub client_id: String,
    /// Of the subscription; the assignment is encoded in the same.
    pub version: i16,
    /// Sorted, each once.
    pub topics: Vec<TopicName>,
    pub user_data: Vec<u8>,
    pub owned: BTreeMap<TopicName, Vec<i32>>,
    /// In which the member got what it owns (KIP-792); −1 if it does not tell.
    pub generation_id: i32,
    pub rack: Option<String>,
}

impl Subscribed {
    /// `None` for bytes that are no subscription.
    pub(super) fn decode(member: &Member, protocol: &str) -> Option<Self> {
        let bytes = member.metadata(protocol);
        let (version, it) = decode_subscription(bytes)?;
        Some(Self {
            member_id: member.id.clone(),
            group_instance_id: member.group_instance_id.as_deref().map(str::to_owned),
            client_id: member.client_id.to_string(),
            version,
            topics: sorted_topics(&it.topics),
            user_data: it.user_data.as_deref().unwrap_or_default().to_vec(),
            owned: by_topic(
                it.owned_partitions.iter().map(|it| (it.topic.as_str(), it.partitions.as_slice())),
            ),
            generation_id: generation_of(version, &it, protocol),
            rack: it.rack_id.as_deref().map(str::to_owned).filter(|rack| !rack.is_empty()),
        })
    }

    /// Only the topics of a subscription.
    pub fn topics(metadata: &Bytes) -> Option<Vec<TopicName>> {
        Some(sorted_topics(&decode_subscription(metadata.clone())?.1.topics))
    }
}

/// Before version 2 the cooperative assignor of the Java client tells it in its user data.
fn generation_of(version: i16, it: &ConsumerProtocolSubscription, protocol: &str) -> i32 {
    if version >= 2 {
        return it.generation_id;
    }
    let mut told = it.user_data.as_deref().filter(|_| protocol == "cooperative-sticky");
    told.as_mut().and_then(|it| it.try_get_i32().ok()).unwrap_or(NO_GENERATION)
}

fn sorted_topics(topics: &[StrBytes]) -> Vec<TopicName> {
    let mut topics: Vec<TopicName> = topics.iter().map(|it| it.as_str().into()).collect();
    topics.sort();
    topics.dedup();
    topics
}

/// Partitions sorted, each once; topics without any are left out.
pub(super) fn by_topic<'a>(
    parts: impl Iterator<Item = (&'a str, &'a [i32])>,
) -> BTreeMap<TopicName, Vec<i32>> {
    let mut topics: BTreeMap<TopicName, Vec<i32>> = BTreeMap::new();
    for (topic, partitions) in parts.filter(|it| !it.1.is_empty()) {
        topics.entry(topic.into()).or_default().extend(partitions);
    }
    for partitions in topics.values_mut() {
        partitions.sort_unstable();
        partitions.dedup();
    }
    topics
}

/// With the version that it names. kafka-go and @platformatic/kafka name version 1 and stop where version 0 does.
fn decode_subscription(mut bytes: Bytes) -> Option<(i16, ConsumerProtocolSubscription)> {
    let version = bytes.try_get_i16().ok().filter(|&it| it >= 0)?.min(NEWEST);
    let mut walk = Walk(&bytes);
    walk.array(Walk::string)?;
    walk.bytes()?;
    let form = if walk.0.is_empty() { 0 } else { version };
    if form >= 1 {
        walk.array(Walk::topic_partitions)?;
    }
    let it = ConsumerProtocolSubscription::decode(&mut bytes, form).ok()?;
    Some((version, it))
}

/// `None` for bytes that are no assignment; no bytes at all are an empty one.
pub(crate) fn decode_assignment(mut bytes: Bytes) -> Option<BTreeMap<TopicName, Vec<i32>>> {
    if bytes.is_empty() {
        return Some(BTreeMap::new());
    }
    let version = bytes.try_get_i16().ok().filter(|&it| it >= 0)?.min(NEWEST);
    Walk(&bytes).array(Walk::topic_partitions)?;
    let it = ConsumerProtocolAssignment::decode(&mut bytes, version).ok()?;
    let parts = it.assigned_partitions.iter();
    Some(by_topic(parts.map(|it| (it.topic.as_str(), it.partitions.as_slice()))))
}

/// An encoded assignment, also when it is empty: some clients cannot read no bytes at all.
pub(super) fn encode_assignment(version: i16, topics: &BTreeMap<TopicName, Vec<i32>>) -> Bytes {
    let parts = topics.iter().map(|(topic, partitions)| {
        let name = StrBytes::from_string(topic.to_string());
        TopicPartition::default().with_topic(name.into()).with_partitions(partitions.clone())
    });
    let message = ConsumerProtocolAssignment::default().with_assigned_partitions(parts.collect());
    let mut out = BytesMut::new();
    out.put_i16(version);
    message.encode(&mut out, version).expect("an assignment has a form in every version");
    out.freeze()
}

/// Checks that every count of an array is backed by bytes.
struct Walk<'a>(&'a [u8]);

impl Walk<'_> {
    fn array(&mut self, element: fn(&mut Self) -> Option<()>) -> Option<()> {
        let count = self.0.try_get_i32().ok()?;
        (0..count).try_for_each(|_| element(self))
    }

    fn string(&mut self) -> Option<()> {
        let length = self.0.try_get_i16().ok()?;
        self.skip(i64::from(length))
    }

    /// Nullable.
    fn bytes(&mut self) -> Option<()> {
        let length = self.0.try_get_i32().ok()?;
        self.skip(i64::from(length).max(0))
    }

    fn topic_partitions(&mut self) -> Option<()> {
        self.string()?;
        let count = self.0.try_get_i32().ok()?;
        self.skip(i64::from(count).max(0) * 4)
    }

    fn skip(&mut self, length: i64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(length).ok()?..)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_assignment_is_encoded_all_the_same() {
        let bytes = encode_assignment(1, &BTreeMap::new());
        assert_eq!(&bytes[..], b"\0\x01\0\0\0\0\xff\xff\xff\xff");
        assert_eq!(decode_assignment(bytes), Some(BTreeMap::new()));
    }

    #[test]
    fn an_assignment_is_read_back() {
        let topics = BTreeMap::from([("a".into(), vec![0, 2]), ("b".into(), vec![1])]);
        for version in 0..=NEWEST {
            assert_eq!(
                decode_assignment(encode_assignment(version, &topics)),
                Some(topics.clone())
            );
        }
    }
    #[test]
    fn a_subscription_may_stop_where_version_0_does() {
        let bytes = b"\0\x01\0\0\0\x01\0\x01a\0\0\0\x01u";
        let (version, it) = decode_subscription(Bytes::from_static(bytes)).unwrap();
        assert_eq!((version, it.user_data.as_deref()), (1, Some(&b"u"[..])));
        assert_eq!(sorted_topics(&it.topics), vec!["a".into()]);
        assert_eq!(it.owned_partitions, Vec::new());
    }

    #[test]
    fn a_hostile_count_is_no_subscription() {
        // Version 0, then 2^31 − 1 topics in no bytes.
        assert!(decode_subscription(Bytes::from_static(b"\0\0\x7f\xff\xff\xff")).is_none());
        // Version 1: no topics, no user data, 2^31 − 1 owned topics.
        let owned = b"\0\x01\0\0\0\0\xff\xff\xff\xff\x7f\xff\xff\xff";
        assert!(decode_subscription(Bytes::from_static(owned)).is_none());
    }

    #[test]
    fn topics_of_a_subscription_are_sorted() {
        let bytes = b"\0\0\0\0\0\x02\0\x01b\0\x01a\xff\xff\xff\xff";
        assert_eq!(
            Subscribed::topics(&Bytes::from_static(bytes)),
            Some(vec!["a".into(), "b".into()])
        );
    }
}
