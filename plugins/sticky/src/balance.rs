//! Evens out loads by moving partitions along chains of members.
//!
//! A member with two partitions more than another gives one up, to it or, where their subscriptions do
//! not meet, through members in between: each passes a partition on, and only the chain's ends change
//! their load. When no such chain is left, no assignment is more even (the theory calls it an optimal
//! semi-matching). Chains are the shortest ones, so few partitions move.

use crate::board::Board;
use std::collections::VecDeque;

/// Ends because each chain makes the sum of squared loads smaller, and each search without a chain
/// settles a member.
pub(crate) fn even_out(board: &mut Board<'_>) {
    let mut settled = Settled::new(board);
    while let Some(member) = settled.most_loaded(board) {
        let mut search = Search::new(board, &settled, member);
        match search.run() {
            Some(end) => search.chain(end).into_iter().for_each(|step| step.take(board)),
            None => settled.add(&search.reached, &search.expanded),
        }
    }
}

/// Members and topics from which no chain starts, and through which none leads.
///
/// A search from the most loaded member that finds no chain proves it for all that it reached: none of
/// them has two fewer than it, and nothing more loaded is left to start from.
struct Settled {
    members: Vec<bool>,
    topics: Vec<bool>,
}

impl Settled {
    fn new(board: &Board<'_>) -> Self {
        Self { members: vec![false; board.members()], topics: vec![false; board.topics()] }
    }

    fn most_loaded(&self, board: &Board<'_>) -> Option<usize> {
        let open = (0..self.members.len()).filter(|member| !self.members[*member]);
        open.rev().max_by_key(|member| board.load(*member))
    }

    fn add(&mut self, reached: &[Option<Step>], expanded: &[bool]) {
        for (settled, step) in self.members.iter_mut().zip(reached) {
            *settled |= step.is_some();
        }
        for (settled, expanded) in self.topics.iter_mut().zip(expanded) {
            *settled |= expanded;
        }
    }
}

/// How a member is reached: another gives it a partition of a topic.
#[derive(Clone, Copy)]
struct Step {
    from: usize,
    to: usize,
    topic: usize,
}

impl Step {
    fn take(self, board: &mut Board<'_>) {
        board.shift(self.from, self.to, self.topic);
    }
}

/// Breadth first, each topic once: whoever reaches a topic first reaches all its subscribers.
struct Search<'s, 'g> {
    board: &'s Board<'g>,
    start: usize,
    reached: Vec<Option<Step>>,
    expanded: Vec<bool>,
    queue: VecDeque<usize>,
}

impl<'s, 'g> Search<'s, 'g> {
    fn new(board: &'s Board<'g>, settled: &Settled, start: usize) -> Self {
        let mut reached = vec![None; board.members()];
        reached[start] = Some(Step { from: start, to: start, topic: usize::MAX });
        Self { board, start, reached, expanded: settled.topics.clone(), queue: [start].into() }
    }

    /// The nearest member that has two partitions fewer than the start, if any.
    fn run(&mut self) -> Option<usize> {
        while let Some(from) = self.queue.pop_front() {
            for topic in self.board.topics_to_give(from) {
                if let Some(end) = self.expand(from, topic) {
                    return Some(end);
                }
            }
        }
        None
    }

    fn expand(&mut self, from: usize, topic: usize) -> Option<usize> {
        if std::mem::replace(&mut self.expanded[topic], true) {
            return None;
        }
        for &to in self.board.subscribers_of(topic) {
            if self.reached[to].is_none() {
                self.reached[to] = Some(Step { from, to, topic });
                self.queue.push_back(to);
            }
        }
        let least = self.board.subscribers_of(topic).iter().copied();
        let least = least.min_by_key(|member| self.board.load(*member))?;
        (self.board.load(least) + 2 <= self.board.load(self.start)).then_some(least)
    }

    /// The steps from `end` back to the start: taken in this order, each member gives before it receives.
    fn chain(&self, end: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut at = end;
        while let Some(step) = self.reached[at].filter(|_| at != self.start) {
            steps.push(step);
            at = step.from;
        }
        steps
    }
}
