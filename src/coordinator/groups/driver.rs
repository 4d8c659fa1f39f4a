//! The machine of one partition of `__consumer_offsets`, as the runtime drives it: keeps who waits, arms timers, and
//! hands questions to the plugins.

use std::collections::{BTreeSet, HashMap};

use tokio::sync::mpsc;

use super::{
    assign::AssignorDesk,
    event::{Answer, GroupEvent},
};
use crate::{
    base::{GroupId, PluginName, TimestampMs},
    coordinator::{
        append::StoredRecord,
        driver::{Driver, Reply, Unavailable, Work},
        timers::Timers,
    },
    group::{
        Answer as LateAnswer, Effects, GroupError, GroupRecord, Shard, Ticket, TimerKey, TimerKind,
        classic::{Joined, Synced},
    },
    machine::Machine,
};

pub(super) struct GroupDriver {
    pub(super) shard: Shard,
    pub(super) desk: AssignorDesk,
    /// Its own channel, for what comes back from plugins; weak, so that the channel can close.
    pub(super) events: mpsc::WeakSender<GroupEvent>,
    pub(super) expiry_interval_ms: u64,
    waiting: HashMap<Ticket, Waiting>,
    tickets: u64,
    timers: Timers<TimerKey>,
    next_expiry: Option<TimestampMs>,
}

/// Who waits for a join or sync.
enum Waiting {
    Join(Answer<Joined>),
    Sync(Answer<Synced>),
}

impl GroupDriver {
    pub(super) fn new(
        shard: Shard,
        desk: AssignorDesk,
        events: mpsc::WeakSender<GroupEvent>,
        expiry_interval_ms: u64,
    ) -> Self {
        Self {
            shard,
            desk,
            events,
            expiry_interval_ms,
            waiting: HashMap::new(),
            tickets: 0,
            timers: Timers::new(),
            next_expiry: None,
        }
    }

    fn wait(&mut self, waiting: Waiting) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.waiting.insert(ticket, waiting);
        ticket
    }

    /// Effects as work: records to store, answers to hold back, timers and questions at once.
    fn absorb(&mut self, effects: Effects, work: &mut Work) {
        for (at, key) in effects.timers {
            self.timers.arm(at, key);
        }
        self.timers.prune(|key| self.shard.awaits(key));
        work.records.extend(effects.records.iter().map(stored));
        for (ticket, answer) in effects.answers {
            work.replies.extend(self.late_reply(ticket, answer));
        }
        for ask in effects.asks {
            self.desk.ask(ask, &self.shard, self.events.clone());
        }
        for ask in effects.consumer_asks {
            self.desk.ask_for_consumers(ask, &self.shard, self.events.clone());
        }
    }

    fn late_reply(&mut self, ticket: Ticket, answer: LateAnswer) -> Option<Reply> {
        match (self.waiting.remove(&ticket)?, answer) {
            (Waiting::Join(to), LateAnswer::Join(result)) => Some(reply(to, result)),
            (Waiting::Sync(to), LateAnswer::Sync(result)) => Some(reply(to, result)),
            (Waiting::Join(_), LateAnswer::Sync(_)) | (Waiting::Sync(_), LateAnswer::Join(_)) => {
                unreachable!("a ticket is answered in its own kind")
            }
        }
    }

    fn answer<T: Send + 'static>(
        &mut self,
        (effects, result): (Effects, Result<T, GroupError>),
        to: Answer<T>,
        work: &mut Work,
    ) {
        self.absorb(effects, work);
        work.replies.push(reply(to, result));
    }

    fn handle_into(&mut self, event: GroupEvent, now: TimestampMs, work: &mut Work) {
        match event {
            GroupEvent::Join(mut request, to) => {
                request.assignor = self.desk.assignor_of(&request.group_id);
                let ticket = self.wait(Waiting::Join(to));
                let effects = self.shard.join(request, ticket, now);
                self.absorb(effects, work);
            }
            GroupEvent::Sync(mut request, to) => {
                request.assignor = self.desk.assignor_of(&request.group_id);
                let ticket = self.wait(Waiting::Sync(to));
                let effects = self.shard.sync(request, ticket, now);
                self.absorb(effects, work);
            }
            GroupEvent::Heartbeat(request, to) => {
                let done = self.shard.heartbeat(&request, now);
                self.answer(done, to, work);
            }
            GroupEvent::Leave(id, leaving, to) => {
                let done = self.shard.leave(&id, &leaving, now);
                self.answer(done, to, work);
            }
            GroupEvent::Commit(request, to) => {
                let done = self.shard.commit(&request, now);
                self.answer(done, to, work);
            }
            GroupEvent::Delete(id, to) => {
                let done = self.shard.delete(&id);
                self.answer(done, to, work);
            }
            GroupEvent::DeleteOffsets(id, partitions, to) => {
                let done = self.shard.delete_offsets(&id, &partitions);
                self.answer(done, to, work);
            }
            GroupEvent::ConsumerHeartbeat(mut request, to) => {
                let image = self.desk.quorum.image();
                request.assignors = self.desk.assignors_of(&request.group_id);
                request.times = self.desk.times_of(&request.group_id);
                let done = self.shard.consumer_heartbeat(&request, &image, now);
                self.answer(done, to, work);
            }
            event => self.handle_question(event, now, work),
        }
    }

    /// What changes nothing.
    fn handle_question(&mut self, event: GroupEvent, now: TimestampMs, work: &mut Work) {
        let reply = match event {
            GroupEvent::Fetch(request, to) => reply(to, self.shard.fetch(request)),
            GroupEvent::Describe(id, to) => reply(to, self.shard.describe(&id)),
            GroupEvent::DescribeConsumer(id, to) => reply(to, self.shard.describe_consumer(&id)),
            GroupEvent::List(to) => reply(to, Ok(self.shard.list())),
            event => return self.handle_change(event, now, work),
        };
        work.replies.push(reply);
    }

    /// What nobody waits for.
    fn handle_change(&mut self, event: GroupEvent, now: TimestampMs, work: &mut Work) {
        match event {
            GroupEvent::Assigned(answer) => {
                let effects = self.shard.assigned(answer, now);
                self.absorb(effects, work);
            }
            GroupEvent::ConsumerAssigned(answer) => {
                let effects = self.shard.consumer_assigned(answer, now);
                self.absorb(effects, work);
            }
            GroupEvent::AssignorChanged(id) => {
                self.assignor_changed(&id, now, work);
                self.shard.consumer_assignor_changed(&id);
            }
            GroupEvent::PluginsReloaded(plugins) => self.plugins_reloaded(&plugins, now, work),
            GroupEvent::TopicsDeleted(topics) => {
                let effects = self.shard.topics_deleted(&topics);
                self.absorb(effects, work);
            }
            GroupEvent::TopicsChanged => self.shard.metadata_changed(),
            _ => unreachable!("requests are handled before"),
        }
    }

    /// Asks again for the groups that one of `plugins` assigns, or would if it could.
    fn plugins_reloaded(
        &mut self,
        plugins: &BTreeSet<PluginName>,
        now: TimestampMs,
        work: &mut Work,
    ) {
        let is_configured = |desk: &AssignorDesk, id: &GroupId| {
            desk.assignor_of(id).is_some_and(|it| plugins.contains(&it))
        };
        for id in self.shard.consumer_groups() {
            if is_configured(&self.desk, &id) {
                self.assignor_changed(&id, now, work);
            }
        }
        for id in self.shard.consumer_protocol_groups() {
            let chosen = self.shard.remote_assignor(&id);
            if chosen.is_some_and(|it| plugins.contains(&it)) || is_configured(&self.desk, &id) {
                self.shard.consumer_assignor_changed(&id);
            }
        }
    }

    fn assignor_changed(&mut self, id: &GroupId, now: TimestampMs, work: &mut Work) {
        let effects = self.shard.assignor_changed(id, self.desk.assignor_of(id), now);
        self.absorb(effects, work);
    }

    fn fire(&mut self, key: &TimerKey, now: TimestampMs, work: &mut Work) {
        if key.kind == TimerKind::Probe {
            self.assignor_changed(&key.group_id, now, work);
        } else {
            let effects = self.shard.fire(key, now);
            self.absorb(effects, work);
        }
    }
}

impl Driver for GroupDriver {
    type Event = GroupEvent;

    fn replay(&mut self, record: &StoredRecord) {
        let StoredRecord::Data { key, value } = record else { return };
        match GroupRecord::decode(key, value.as_deref()) {
            Ok(Some(record)) => self.shard.replay(record),
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "skip a record of __consumer_offsets"),
        }
    }

    fn loaded(&mut self, now: TimestampMs) -> Work {
        let mut work = Work::default();
        self.next_expiry = Some(later(now, self.expiry_interval_ms));
        let desk = &self.desk;
        let effects = self.shard.loaded(&|group_id| desk.times_of(group_id), now);
        self.absorb(effects, &mut work);
        work
    }

    fn handle(&mut self, event: GroupEvent, now: TimestampMs) -> Work {
        let mut work = Work::default();
        self.handle_into(event, now, &mut work);
        work
    }

    fn next_deadline(&self) -> Option<TimestampMs> {
        self.timers.next().into_iter().chain(self.next_expiry).min()
    }

    fn tick(&mut self, now: TimestampMs) -> Work {
        let mut work = Work::default();
        // One decision at a time: the next is made on what this one has stored.
        while work.records.is_empty()
            && let Some(key) = self.timers.pop_due(now)
        {
            self.fire(&key, now, &mut work);
        }
        if work.records.is_empty() && self.next_expiry.is_some_and(|at| at <= now) {
            self.next_expiry = Some(later(now, self.expiry_interval_ms));
            let effects = self.shard.expire(now);
            self.absorb(effects, &mut work);
        }
        work
    }

    fn refuse(event: GroupEvent, why: Unavailable) {
        event.refuse(why);
    }
}

fn later(now: TimestampMs, ms: u64) -> TimestampMs {
    TimestampMs(now.0.saturating_add_unsigned(ms))
}

fn stored(record: &GroupRecord) -> StoredRecord {
    let raw = record.encode();
    StoredRecord::Data { key: raw.key, value: raw.value }
}

fn reply<T: Send + 'static>(to: Answer<T>, result: Result<T, GroupError>) -> Reply {
    Box::new(move |committed| {
        // Whoever asked may have gone.
        let _ = to.send(committed.map_err(GroupError::from).and(result));
    })
}
