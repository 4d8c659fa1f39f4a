//! Whatever members, topics and crashes do: no partition has two owners, and when it is quiet again, each has one.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::{
    base::TopicName,
    group::consumer::{ConsumerAnswer, assignor::Assignments},
};

#[derive(Clone, Debug)]
enum Act {
    Beat(usize),
    BeatInVain(usize),
    Obey(usize),
    Leave(usize),
    /// Its process ends without a word, and another begins.
    Crash(usize),
    /// … of a member that was not there before.
    Arrive,
    Advance(i64),
    Grow(bool),
    PluginAnswers(bool),
    UsePlugin(bool),
    Reload,
}

fn any_act() -> impl Strategy<Value = Act> {
    let index = 0..6usize;
    prop_oneof![
        8 => index.clone().prop_map(Act::Beat),
        2 => index.clone().prop_map(Act::BeatInVain),
        6 => index.clone().prop_map(Act::Obey),
        1 => index.clone().prop_map(Act::Leave),
        1 => index.prop_map(Act::Crash),
        2 => Just(Act::Arrive),
        2 => (1..20_000i64).prop_map(Act::Advance),
        1 => any::<bool>().prop_map(Act::Grow),
        2 => any::<bool>().prop_map(Act::PluginAnswers),
        1 => any::<bool>().prop_map(Act::UsePlugin),
        1 => Just(Act::Reload),
    ]
}

/// A group and those who believe that they are its members.
struct World {
    it: Harness,
    clients: Vec<Client>,
    ids: usize,
    partitions: BTreeMap<TopicId, usize>,
    plugin: bool,
}

impl World {
    fn new() -> Self {
        let mut it = harness(3);
        it.topic(U, "u", Some(1));
        let partitions = BTreeMap::from([(T, 3), (U, 1)]);
        Self { it, clients: Vec::new(), ids: 0, partitions, plugin: false }
    }

    fn new_id(&mut self) -> String {
        self.ids += 1;
        format!("m{}", self.ids)
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Arrive if self.clients.len() < 6 => self.arrive(),
            Act::Arrive => {}
            Act::Advance(ms) => self.it.advance(ms),
            Act::Grow(first) => self.grow(if first { (T, "t") } else { (U, "u") }),
            Act::PluginAnswers(well) => self.answer(well),
            Act::UsePlugin(use_it) => {
                self.plugin = use_it;
                self.it.shard.consumer_assignor_changed(&"g".into());
            }
            Act::Reload => self.it.reload(),
            Act::Beat(index) => self.with(index, |it, client, plugin| {
                let request = request(client, plugin);
                let answer = it.consume(&request);
                client.take(&request, answer);
            }),
            Act::BeatInVain(index) => self.with(index, |it, client, _| client.beat_in_vain(it)),
            Act::Obey(index) => self.with(index, |_, client, _| client.obey()),
            Act::Leave(index) => {
                self.with(index, |it, client, _| client.leave(it));
                let id = self.new_id();
                self.with(index, |_, client, _| client.crash(&id));
            }
            Act::Crash(index) => {
                let id = self.new_id();
                self.with(index, |_, client, _| client.crash(&id));
            }
        }
    }

    fn with(&mut self, index: usize, act: impl FnOnce(&mut Harness, &mut Client, bool)) {
        if let Some(client) = self.clients.get_mut(index) {
            act(&mut self.it, client, self.plugin);
        }
    }

    /// Each second one is static.
    fn arrive(&mut self) {
        let mut client = Client::new(&self.new_id());
        client.instance = (self.clients.len() % 2 == 1).then(|| format!("i{}", self.ids));
        self.clients.push(client);
    }

    fn grow(&mut self, (id, name): (TopicId, &str)) {
        let count = self.partitions.entry(id).or_default();
        *count += 1;
        let count = *count;
        self.it.topic(id, name, Some(count));
    }

    /// The plugin gives everything to the first who reads it.
    fn answer(&mut self, well: bool) {
        let Some(ask) = self.it.consumer_asks.pop() else { return };
        let mut assignments: Assignments =
            ask.spec.members.keys().map(|it| (it.clone(), TopicPartitions::default())).collect();
        for (&topic, it) in &ask.spec.topics {
            let reader = ask.spec.members.iter().find(|it| it.1.subscribed.contains(&topic));
            let reader = assignments.get_mut(reader.unwrap().0).unwrap();
            reader.extend((0..it.partitions).map(|partition| (topic, partition)));
        }
        let answer = ConsumerAnswer {
            group_id: ask.group_id,
            group_epoch: ask.group_epoch,
            question: ask.question,
            assignor: ask.assignor,
            result: if well { Ok(assignments) } else { Err("it trapped".into()) },
        };
        let effects = self.it.shard.consumer_assigned(answer, self.it.now);
        self.it.absorb(effects);
    }

    /// Who the coordinator still counts among the members; others may believe what they like.
    fn believers(&self) -> impl Iterator<Item = &Client> {
        let group = self.it.shard.consumer_group("g");
        self.clients
            .iter()
            .filter(move |it| group.is_some_and(|group| group.members.contains_key(it.id.as_str())))
    }

    fn assert_no_partition_has_two_owners(&self) {
        let mut owners = BTreeMap::new();
        for client in self.believers() {
            for partition in client.owned.iter() {
                let other = owners.insert(partition, &client.id);
                assert_eq!(other, None, "{partition:?} is also {}'s", client.id);
            }
        }
    }

    /// Everyone beats, obeys, and is answered, for longer than a session lasts.
    fn settle(&mut self) {
        for _ in 0..40 {
            for index in 0..self.clients.len() {
                self.act(Act::Beat(index));
                self.act(Act::Obey(index));
                self.act(Act::PluginAnswers(true));
                self.assert_no_partition_has_two_owners();
            }
            self.it.advance(3_000);
        }
    }

    fn assert_settled(&self) {
        if self.clients.is_empty() {
            return;
        }
        assert_eq!(state(&self.it), ConsumerGroupState::Stable);
        let owned: usize = self.clients.iter().map(|it| it.owned.count()).sum();
        assert_eq!(owned, self.partitions.values().sum::<usize>(), "each partition has an owner");
        let group = self.it.shard.consumer_group("g").unwrap();
        assert_eq!(group.members.len(), self.clients.len());
        for client in &self.clients {
            assert_eq!(client.owned, group.target(&client.id.as_str().into()), "{}", client.id);
        }
    }
}

/// Everyone reads both topics, by name or by regular expression.
fn request(client: &Client, plugin: bool) -> ConsumerHeartbeatRequest {
    let mut request = client.request();
    if request.subscribed_topic_names.is_some() {
        let by_regex = client.id.ends_with('3');
        request.subscribed_topic_names =
            Some(if by_regex { [].into() } else { ["t", "u"].map(TopicName::from).into() });
        request.subscribed_topic_regex = by_regex.then(|| "t|u".into());
    }
    request.assignors.configured = plugin.then(|| "p".into());
    request
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn no_partition_has_two_owners_and_in_the_end_each_has_one(
        acts in proptest::collection::vec(any_act(), 1..80),
    ) {
        let mut world = World::new();
        for act in acts {
            world.act(act);
            world.assert_no_partition_has_two_owners();
            world.it.assert_replayable();
        }
        world.settle();
        world.assert_settled();
        world.it.reload();
        world.assert_settled();
    }
}
