//! An assignor that spreads work instead of partitions: members get about the same lag.
//!
//! No assignor inside a client can do this: clients do not know the lag when they assign. Partitions
//! are dealt out from the one with the most lag to the one with the least, each to the subscriber with
//! the least lag so far (longest processing time first). Where lag decides nothing, as between idle
//! partitions, the number of partitions decides, and among equals the owner.

use klamm_plugin::assignor::{Assignment, Assignor, Group, Member, Partition};
use klamm_plugin::{Description, no_settings};

pub struct ByLag;

impl Assignor for ByLag {
    fn describe() -> Description {
        let summary = "Gives members about the same lag to work off.";
        Description::new("assignor-by-lag", env!("CARGO_PKG_VERSION"), summary)
    }

    fn configure(settings: &str) -> Result<Self, String> {
        no_settings(settings)?;
        Ok(Self)
    }

    fn assign(&mut self, group: &Group) -> Result<Vec<Assignment>, String> {
        let mut hands: Vec<Hand<'_>> = group.members.iter().map(Hand::new).collect();
        let mut work: Vec<Work<'_>> = work(group).collect();
        work.sort_by_key(|work| std::cmp::Reverse(work.records));
        for work in work {
            let takers = hands.iter_mut().filter(|hand| hand.member.subscribes_to(work.topic));
            let taker =
                takers.min_by_key(|hand| (hand.records, hand.work.len(), !hand.owned(&work)));
            taker.ok_or_else(|| format!("nobody subscribes to {}", work.topic))?.take(work);
        }
        Ok(hands.into_iter().map(Hand::assignment).collect())
    }
}

/// A partition and what there is to do in it.
struct Work<'g> {
    topic: &'g str,
    partition: u32,
    records: u64,
}

fn work(group: &Group) -> impl Iterator<Item = Work<'_>> {
    group.topics.iter().flat_map(|topic| {
        let one = |partition: &Partition| Work {
            topic: &topic.name,
            partition: partition.index,
            records: records(partition),
        };
        topic.partitions.iter().map(one)
    })
}

/// Without a committed offset everything may be ahead.
fn records(partition: &Partition) -> u64 {
    let lag = if partition.lag < 0 { partition.log_end_offset } else { partition.lag };
    u64::try_from(lag).unwrap_or(0)
}

/// What one member has been dealt.
struct Hand<'g> {
    member: &'g Member,
    records: u64,
    work: Vec<Work<'g>>,
}

impl<'g> Hand<'g> {
    fn new(member: &'g Member) -> Self {
        Self { member, records: 0, work: Vec::new() }
    }

    fn owned(&self, work: &Work<'_>) -> bool {
        let lists = self.member.owned.iter().filter(|list| list.topic == work.topic);
        lists.into_iter().any(|list| list.partitions.contains(&work.partition))
    }

    fn take(&mut self, work: Work<'g>) {
        self.records = self.records.saturating_add(work.records);
        self.work.push(work);
    }

    fn assignment(mut self) -> Assignment {
        self.work.sort_by_key(|work| (work.topic, work.partition));
        let mut assignment = Assignment::new(self.member);
        self.work.iter().for_each(|work| assignment.push(work.topic, work.partition));
        assignment
    }
}

klamm_plugin::assignor!(ByLag);

#[cfg(test)]
mod tests {
    use super::*;
    use klamm_plugin::assignor::{Topic, TopicPartitions, check};

    fn member(id: &str) -> Member {
        Member { id: id.into(), topics: vec!["t".into()], ..Member::default() }
    }

    fn group(members: Vec<Member>, lags: &[i64]) -> Group {
        let partition = |(index, lag): (u32, &i64)| Partition {
            index,
            lag: *lag,
            log_end_offset: 500,
            ..Partition::default()
        };
        let partitions = (0..).zip(lags).map(partition).collect();
        Group { id: "g".into(), members, topics: vec![Topic { name: "t".into(), partitions }] }
    }

    fn assign(group: &Group) -> Vec<Vec<u32>> {
        let answer = ByLag.assign(group).unwrap();
        check(group, &answer).unwrap();
        answer
            .into_iter()
            .map(|given| given.partitions.into_iter().flat_map(|l| l.partitions).collect())
            .collect()
    }

    #[test]
    fn one_busy_partition_weighs_as_much_as_many_quiet_ones() {
        let group = group(vec![member("a"), member("b")], &[300, 100, 100, 100]);
        assert_eq!(assign(&group), [vec![0], vec![1, 2, 3]]);
    }

    #[test]
    fn idle_partitions_are_shared_by_number() {
        let group = group(vec![member("a"), member("b"), member("c")], &[0; 12]);
        assert!(assign(&group).iter().all(|partitions| partitions.len() == 4));
    }

    #[test]
    fn a_partition_without_a_committed_offset_counts_whole() {
        let group = group(vec![member("a"), member("b")], &[-1, 200, 200, 90]);
        assert_eq!(assign(&group), [vec![0], vec![1, 2, 3]]);
    }

    #[test]
    fn among_equals_the_owner_gets_its_partition() {
        let owning = |id: &str, partitions: &[u32]| Member {
            owned: vec![TopicPartitions { topic: "t".into(), partitions: partitions.to_vec() }],
            ..member(id)
        };
        let group = group(vec![owning("a", &[1, 3]), owning("b", &[0, 2])], &[0; 4]);
        assert_eq!(assign(&group), [vec![1, 3], vec![0, 2]]);
    }

    #[test]
    fn a_topic_that_nobody_reads_is_an_error() {
        let mut group = group(vec![member("a")], &[0]);
        group.members[0].topics.clear();
        assert!(ByLag.assign(&group).is_err());
    }
}
