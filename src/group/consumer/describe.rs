//! A consumer group as `ConsumerGroupDescribe` tells it.

use std::sync::Arc;

use super::{ConsumerGroup, DescribedConsumerGroup, DescribedConsumerMember, member::Member};
use crate::base::{MemberId, PluginName};

/// `member_type` of a member that speaks the classic protocol …
const CLASSIC: i8 = 0;
/// … and of one that speaks the consumer protocol.
const CONSUMER: i8 = 1;

impl ConsumerGroup {
    /// `default` is the assignor of members that choose none.
    pub(super) fn describe(&self, default: Option<&PluginName>) -> DescribedConsumerGroup {
        let assignor = self.remote_assignor().or(default).map(|it| it.0.clone());
        DescribedConsumerGroup {
            state: self.state(),
            group_epoch: self.epoch,
            assignment_epoch: self.assignment_epoch,
            assignor_name: assignor.unwrap_or_else(|| Arc::from("")),
            members: self.members.iter().map(|(id, it)| self.describe_member(id, it)).collect(),
        }
    }

    fn describe_member(&self, id: &MemberId, member: &Member) -> DescribedConsumerMember {
        let metadata = member.metadata.clone();
        DescribedConsumerMember {
            member_id: id.clone(),
            group_instance_id: metadata.group_instance_id,
            rack_id: metadata.rack_id,
            member_epoch: member.current.member_epoch,
            client_id: metadata.client_id,
            client_host: metadata.client_host,
            subscribed_topic_names: metadata.subscribed_topic_names,
            subscribed_topic_regex: metadata.subscribed_topic_regex,
            assignment: member.current.assigned.clone(),
            target_assignment: self.target(id),
            member_type: if metadata.classic.is_some() { CLASSIC } else { CONSUMER },
        }
    }
}
