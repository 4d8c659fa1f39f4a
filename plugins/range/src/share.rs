//! One topic being shared out among its subscribers.
//!
//! Members, topics and racks are numbers here; subscribers are in the order in which Kafka lines members up.

use klamm_plugin::assignor::{Assignment, Topic};

pub(crate) struct Share<'g> {
    /// Of the topic, in the group's list.
    pub(crate) number: usize,
    pub(crate) topic: &'g Topic,
    /// Places of the members in the group's order.
    pub(crate) subscribers: Vec<usize>,
    /// What each subscriber has got, by place in the topic.
    given: Vec<Vec<usize>>,
    /// Whether a partition is nobody's yet.
    open: Vec<bool>,
    left: usize,
    /// Nothing below is open.
    opens_at: usize,
    /// Every subscriber's partitions, and how many may still get one more.
    length: usize,
    longer_left: usize,
}

impl<'g> Share<'g> {
    pub(crate) fn new(number: usize, topic: &'g Topic, subscribers: Vec<usize>) -> Self {
        let (partitions, count) = (topic.partitions.len(), subscribers.len().max(1));
        Self {
            number,
            topic,
            given: vec![Vec::new(); subscribers.len()],
            subscribers,
            open: vec![true; partitions],
            left: partitions,
            opens_at: 0,
            length: partitions / count,
            longer_left: partitions % count,
        }
    }

    /// How many more the subscriber may get.
    pub(crate) fn room(&self, subscriber: usize) -> usize {
        let most = self.length + usize::from(self.longer_left > 0);
        most.saturating_sub(self.given[subscriber].len())
    }

    pub(crate) fn give(&mut self, subscriber: usize, partition: usize) {
        self.open[partition] = false;
        self.left -= 1;
        let given = &mut self.given[subscriber];
        given.push(partition);
        if given.len() == self.length + 1 {
            self.longer_left = self.longer_left.saturating_sub(1);
        }
    }

    /// To each subscriber in turn as many as it has room for, of those that nobody has and that suit the member.
    pub(crate) fn give_ranges(&mut self, suits: impl Fn(usize, usize) -> bool) {
        for subscriber in 0..self.subscribers.len() {
            let room = self.room(subscriber);
            if room == 0 || self.left == 0 {
                continue;
            }
            let member = self.subscribers[subscriber];
            let open = (self.first_open()..self.open.len()).filter(|at| self.open[*at]);
            let given: Vec<usize> = open.filter(|at| suits(member, *at)).take(room).collect();
            for partition in given {
                self.give(subscriber, partition);
            }
        }
    }

    fn first_open(&mut self) -> usize {
        while self.open.get(self.opens_at) == Some(&false) {
            self.opens_at += 1;
        }
        self.opens_at
    }

    /// Adds what the subscribers got to their assignments.
    pub(crate) fn write(self, assignments: &mut [Assignment]) {
        for (member, mut given) in self.subscribers.into_iter().zip(self.given) {
            given.sort_unstable();
            for partition in given {
                assignments[member].push(&self.topic.name, self.topic.partitions[partition].index);
            }
        }
    }
}
