//! A group as it is shown, whichever protocol its members speak.

use std::collections::BTreeMap;

use anyhow::Context as _;
use kafka_protocol::messages::{
    ConsumerGroupDescribeRequest, DescribeGroupsRequest,
    consumer_group_describe_response::{self as consumer, Assignment},
    describe_groups_response as classic,
};

use super::{
    client::{Client, check, text},
    coordinator::patiently,
};
use crate::{base::ErrorCode, group::classic::decode_assignment};

pub(super) type Partition = (String, i32);

pub(super) struct Group {
    pub(super) state: String,
    pub(super) protocol: Protocol,
    pub(super) members: Vec<Member>,
}

pub(super) enum Protocol {
    /// Type, and the name that the members agreed on; both may be empty.
    Classic(String, String),
    Consumer {
        /// Who assigned the target.
        assignor: String,
        group_epoch: i32,
        assignment_epoch: i32,
    },
}

pub(super) struct Member {
    pub(super) id: String,
    pub(super) host: String,
    pub(super) client_id: String,
    pub(super) assigned: Vec<Partition>,
}

impl Group {
    /// `None` if there is no such group.
    pub(super) fn ask(client: &mut Client, name: &str) -> anyhow::Result<Option<Self>> {
        if let Some(group) = Self::ask_classic(client, name)? {
            return Ok(Some(group));
        }
        Self::ask_consumer(client, name)
    }

    fn ask_classic(client: &mut Client, name: &str) -> anyhow::Result<Option<Self>> {
        let request = DescribeGroupsRequest::default().with_groups(vec![text(name).into()]);
        let group = patiently(|| {
            let group = client.call(6, &request)?.groups.pop().context(UNANSWERED)?;
            Ok((group.error_code, group))
        })?;
        if is_missing(group.error_code) {
            return Ok(None);
        }
        check(name, group.error_code, group.error_message.as_ref())?;
        Ok(Some(Self::from_classic(group)))
    }

    fn ask_consumer(client: &mut Client, name: &str) -> anyhow::Result<Option<Self>> {
        let ids = vec![text(name).into()];
        let request = ConsumerGroupDescribeRequest::default().with_group_ids(ids);
        let group = patiently(|| {
            let group = client.call(0, &request)?.groups.pop().context(UNANSWERED)?;
            Ok((group.error_code, group))
        })?;
        let code = ErrorCode::from_code(group.error_code);
        // There can be none while `group.version` is 0.
        if is_missing(group.error_code) || code == ErrorCode::UnsupportedVersion {
            return Ok(None);
        }
        check(name, group.error_code, group.error_message.as_ref())?;
        Ok(Some(Self::from_consumer(group)))
    }

    pub(super) fn from_classic(group: classic::DescribedGroup) -> Self {
        let protocol =
            Protocol::Classic(group.protocol_type.to_string(), group.protocol_data.to_string());
        let member = |it: classic::DescribedGroupMember| Member {
            id: it.member_id.to_string(),
            host: it.client_host.to_string(),
            client_id: it.client_id.to_string(),
            // Empty for what is no assignment of a consumer.
            assigned: flat(decode_assignment(it.member_assignment).unwrap_or_default()),
        };
        Self {
            state: group.group_state.to_string(),
            protocol,
            members: group.members.into_iter().map(member).collect(),
        }
    }

    pub(super) fn from_consumer(group: consumer::DescribedGroup) -> Self {
        let member = |it: consumer::Member| Member {
            id: it.member_id.to_string(),
            host: it.client_host.to_string(),
            client_id: it.client_id.to_string(),
            assigned: flat(by_topic(it.assignment)),
        };
        Self {
            state: group.group_state.to_string(),
            protocol: Protocol::Consumer {
                assignor: group.assignor_name.to_string(),
                group_epoch: group.group_epoch,
                assignment_epoch: group.assignment_epoch,
            },
            members: group.members.into_iter().map(member).collect(),
        }
    }
}

const UNANSWERED: &str = "the broker did not answer for the group";

fn is_missing(code: i16) -> bool {
    ErrorCode::from_code(code) == ErrorCode::GroupIdNotFound
}

fn by_topic(assignment: Assignment) -> BTreeMap<String, Vec<i32>> {
    let topics = assignment.topic_partitions.into_iter();
    topics.map(|it| (it.topic_name.to_string(), it.partitions)).collect()
}

fn flat<T: ToString>(topics: BTreeMap<T, Vec<i32>>) -> Vec<Partition> {
    let partitions = topics.into_iter().flat_map(|(topic, partitions)| {
        partitions.into_iter().map(move |it| (topic.to_string(), it))
    });
    partitions.collect()
}
