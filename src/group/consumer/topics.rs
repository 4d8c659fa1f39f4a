//! The topics that a group reads: by name, and by regular expressions that the coordinator matches (KIP-848).

use std::{collections::BTreeSet, sync::Arc};

use sha2::{Digest, Sha256};

use super::{
    ConsumerGroup, ConsumerHeartbeatRequest, Soft, Step, heartbeat::Draft, regex::TopicRegex,
};
use crate::{
    base::TopicName,
    group::{GroupError, ResolvedRegex},
    metadata::{MetadataImage, TopicImage},
};

impl ConsumerGroup {
    /// The expression that a member brings, if the group has not matched it yet.
    ///
    /// # Errors
    ///
    /// [`GroupError::InvalidRegularExpression`].
    pub(super) fn new_pattern(
        &self,
        request: &ConsumerHeartbeatRequest,
    ) -> Result<Option<TopicRegex>, GroupError> {
        let told = request.subscribed_topic_regex.as_ref().filter(|it| !it.is_empty());
        let new = told.filter(|it| !self.regexes.contains_key(*it));
        new.map(|it| TopicRegex::compile(it)).transpose()
    }
}

impl Draft<'_> {
    /// Brings what the members' expressions match up to date; whether that is other topics than before. The member's own
    /// new expression counts as a changed subscription already.
    pub(super) fn resolve(
        &mut self,
        new: Option<TopicRegex>,
        changed: bool,
        soft: &mut Soft,
        step: &mut Step<'_>,
    ) -> bool {
        if changed || !soft.has_seen_topics {
            self.forget_unused(step);
        }
        if let (Some(pattern), Some(regex)) =
            (new, self.member.metadata.subscribed_topic_regex.clone())
        {
            self.match_topics(&regex, &pattern, step);
        }
        if self.regexes.is_empty() || !soft.take_matching(step) {
            return false;
        }
        let known: Vec<Arc<str>> = self.regexes.keys().cloned().collect();
        let mut changed = false;
        for regex in known {
            // It was read before it was stored.
            let Ok(pattern) = TopicRegex::compile(&regex) else { continue };
            changed |= self.match_topics(&regex, &pattern, step);
        }
        changed
    }

    fn forget_unused(&mut self, step: &mut Step<'_>) {
        let used: BTreeSet<&Arc<str>> =
            self.members().filter_map(|it| it.1.metadata.subscribed_topic_regex.as_ref()).collect();
        let unused = self.regexes.keys().filter(|it| !used.contains(it));
        let unused: Vec<Arc<str>> = unused.cloned().collect();
        for regex in unused {
            step.store_regex(&regex, None);
            self.regexes.to_mut().remove(&regex);
        }
    }

    /// Whether the expression finds other topics than before.
    fn match_topics(
        &mut self,
        regex: &Arc<str>,
        pattern: &TopicRegex,
        step: &mut Step<'_>,
    ) -> bool {
        let visible = self.image.topics.keys().filter(|it| self.request.may_describe.admits(it));
        let topics = pattern.resolve(visible);
        if self.regexes.get(regex).is_some_and(|it| it.topics == topics) {
            return false;
        }
        let version = i64::try_from(self.image.version).unwrap_or(i64::MAX);
        let resolved = ResolvedRegex { topics, version, timestamp: step.now };
        step.store_regex(regex, Some(resolved.clone()));
        self.regexes.to_mut().insert(regex.clone(), resolved);
        true
    }

    /// Of the topics that members read and that exist: their ids, partitions and racks. It only has to differ when
    /// they do, so it need not be Kafka's hash. 0 for no topics, as Kafka's.
    pub(super) fn hash_of_topics(&self) -> i64 {
        let names: BTreeSet<&TopicName> =
            self.members().flat_map(|it| it.1.topics(&self.regexes)).collect();
        let topics: Vec<_> =
            names.iter().filter_map(|name| self.image.topic(name.as_str())).collect();
        if topics.is_empty() {
            return 0;
        }
        let mut digest = Sha256::new();
        for topic in topics {
            add_topic(&mut digest, topic, self.image);
        }
        digest.finalize().iter().take(8).fold(0, |hash, &byte| hash << 8 | i64::from(byte))
    }
}

fn add_topic(digest: &mut Sha256, topic: &TopicImage, image: &MetadataImage) {
    digest.update(topic.id.0.as_bytes());
    digest.update((topic.partitions.len() as u64).to_be_bytes());
    for partition in &topic.partitions {
        let racks = partition.replicas.iter().filter_map(|id| image.brokers.get(id)?.rack.as_ref());
        let racks: BTreeSet<&String> = racks.collect();
        digest.update((racks.len() as u64).to_be_bytes());
        for rack in racks {
            digest.update((rack.len() as u64).to_be_bytes());
            digest.update(rack);
        }
    }
}
