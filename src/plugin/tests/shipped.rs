//! The plugins that the binary carries, called as the broker calls them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Instant,
};

use super::{Fixture, Folders, PartitionerVerdict, TransformVerdict, config};
use crate::{
    base::{MemberId, TopicName},
    plugin::{
        Embedded, HookKind, PluginHost, PluginSource, PluginState, PluginUses, SHIPPED, check,
        hook::{Assignments, GroupSnapshot, PartitionerInput, RecordAction, TopicSnapshot},
        smoke::{self, KeyValue},
    },
    telemetry::Metrics,
};

async fn shipped() -> Fixture {
    Fixture::start(SHIPPED, &[]).await
}

/// With time enough for a debug build on a loaded machine.
async fn patient() -> Fixture {
    let limit: &[u8] = b"[limits]\ncall-timeout-ms = 60000";
    Fixture::start(SHIPPED, &["range.toml", "roundrobin.toml", "sticky.toml"].map(|it| (it, limit)))
        .await
}

fn placing(records: &[KeyValue<'_>], partitions: u32) -> PartitionerInput {
    PartitionerInput {
        topic: "orders".into(),
        partitions,
        batch: Arc::new(smoke::batch(records)),
        sequence: 7,
        seed: 3,
    }
}

async fn targets(fixture: &Fixture, name: &str, input: PartitionerInput) -> Vec<u32> {
    match fixture.host.partitioner(&name.into()).expect("shipped").place(input).await {
        PartitionerVerdict::Targets(targets) => targets,
        other => panic!("{name}: {other:?}"),
    }
}

async fn assign(fixture: &Fixture, name: &str, group: GroupSnapshot) -> Assignments {
    let assignor = fixture.host.assignor(&name.into()).expect("shipped");
    assignor.assign(group).await.unwrap_or_else(|failure| panic!("{failure}"))
}

fn sizes(assignments: &Assignments) -> Vec<usize> {
    assignments.values().map(|topics| topics.values().map(Vec::len).sum()).collect()
}

#[tokio::test]
async fn all_are_active_with_their_hash_and_world() {
    let fixture = shipped().await;
    for status in fixture.host.status() {
        assert_eq!(status.state, PluginState::Active, "{status:?}");
        assert_eq!(status.source, PluginSource::Embedded);
        assert_eq!(status.last_error, None);
        assert_eq!(status.sha256.map(|it| it.len()), Some(64));
    }
    let names = |hook| -> Vec<String> {
        fixture.host.names(hook).iter().map(ToString::to_string).collect()
    };
    assert_eq!(names(HookKind::Partitioner), ["key-ordering", "random", "round-robin"]);
    assert_eq!(names(HookKind::Assignor), ["range", "roundrobin", "sticky"]);
    assert_eq!(names(HookKind::Transform), ["log-alert"]);
}

#[tokio::test]
async fn log_alert_keeps_all_records_and_raises_an_alert_for_the_one_at_level_error() {
    let fixture = shipped().await;
    let lines = [
        "2026-01-02 03:04:05,678 INFO  [main] org.example.Server: started",
        "2026-01-02 03:04:06,123 ERROR [main] org.example.Server: connection to 10.0.0.7:5432 refused",
        "2026-01-02 03:04:07,456 WARN  [main] org.example.Server: will try again",
    ];
    let TransformVerdict::Done(output) = fixture.process("log-alert", &lines).await else {
        panic!("it answers");
    };
    assert!(output.actions.iter().all(|it| *it == RecordAction::Keep));
    let alerts: Vec<(usize, u8)> =
        output.alerts.iter().map(|it| (it.record, it.severity)).collect();
    assert_eq!(alerts, [(1, 2)]);
}

/// Hashes of Kafka's own test of murmur2 (`UtilsTest.java`).
#[tokio::test]
async fn key_ordering_places_keys_as_the_java_client_does() {
    let known: [(&str, i32); 6] = [
        ("21", -973_932_308),
        ("foobar", -790_332_482),
        ("a-little-bit-long-string", -985_981_536),
        ("a-little-bit-longer-string", -1_486_304_829),
        ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971),
        ("abc", 479_470_107),
    ];
    let fixture = shipped().await;
    assert!(fixture.host.partitioner(&"key-ordering".into()).expect("shipped").is_key_pure());
    for partitions in [1, 3, 15, 1000] {
        let records: Vec<KeyValue<'_>> =
            known.iter().map(|(key, _)| (Some(key.as_bytes()), None)).collect();
        let want: Vec<u32> =
            known.iter().map(|(_, hash)| (hash & i32::MAX) as u32 % partitions).collect();
        assert_eq!(targets(&fixture, "key-ordering", placing(&records, partitions)).await, want);
    }
}

#[tokio::test]
async fn records_without_a_key_are_spread_evenly_and_the_empty_key_is_a_key() {
    let fixture = shipped().await;
    let none: Vec<KeyValue<'_>> = vec![(None, Some(b"v")); 1500];
    for name in ["key-ordering", "round-robin"] {
        let mut counts = BTreeMap::<u32, u32>::new();
        for target in targets(&fixture, name, placing(&none, 15)).await {
            *counts.entry(target).or_default() += 1;
        }
        assert!(counts.len() == 15 && counts.values().all(|&it| it == 100), "{name}: {counts:?}");
    }
    let empty: Vec<KeyValue<'_>> = vec![(Some(b""), Some(b"v")); 30];
    let places: BTreeSet<u32> =
        targets(&fixture, "key-ordering", placing(&empty, 15)).await.into_iter().collect();
    assert_eq!(places.len(), 1);
}

#[tokio::test]
async fn each_assignor_shares_twelve_partitions_among_three_members() {
    let fixture = shipped().await;
    for name in ["range", "roundrobin", "sticky"] {
        assert_eq!(sizes(&assign(&fixture, name, smoke::group(3, 12)).await), [4, 4, 4], "{name}");
    }
}

#[tokio::test]
async fn sticky_lets_members_keep_what_they_have_when_one_leaves() {
    let fixture = shipped().await;
    let before = assign(&fixture, "sticky", smoke::group(3, 12)).await;
    let mut group = smoke::group(2, 12);
    for member in &mut group.members {
        member.owned = before.get(&member.member_id).cloned().unwrap_or_default();
    }
    let after = assign(&fixture, "sticky", group).await;
    assert_eq!(sizes(&after), [6, 6]);
    let partitions = |of: &Assignments, member: &MemberId| -> BTreeSet<i32> {
        of.get(member)
            .into_iter()
            .flat_map(BTreeMap::<TopicName, Vec<i32>>::values)
            .flatten()
            .copied()
            .collect()
    };
    for member in after.keys() {
        assert!(partitions(&before, member).is_subset(&partitions(&after, member)), "{member}");
    }
}

/// A thousand members that all read a hundred topics of a hundred partitions; prints how long each assignor takes.
#[tokio::test]
async fn a_large_group_is_assigned_evenly() {
    let fixture = patient().await;
    let mut group = smoke::group(1_000, 100);
    let names: Vec<TopicName> =
        (0..100).map(|at| format!("topic-{at:03}").as_str().into()).collect();
    let topic = group.topics[0].clone();
    group.topics =
        names.iter().map(|name| TopicSnapshot { name: name.clone(), ..topic.clone() }).collect();
    group.members.iter_mut().for_each(|it| it.topics.clone_from(&names));
    for (name, most) in [("range", 100), ("roundrobin", 10), ("sticky", 10)] {
        let started = Instant::now();
        let sizes = sizes(&assign(&fixture, name, group.clone()).await);
        println!("{name}: {:?}", started.elapsed());
        assert_eq!(sizes.iter().sum::<usize>(), 10_000, "{name}");
        assert_eq!(sizes.iter().max(), Some(&most), "{name}");
    }
}

#[tokio::test]
async fn the_check_finds_nothing_wrong_with_them() {
    let dir = tempfile::tempdir().expect("folder");
    for Embedded { name, wasm } in SHIPPED {
        let path = dir.path().join(format!("{name}.wasm"));
        std::fs::write(&path, wasm).expect("write");
        let report = check(&path, &config(dir.path())).await;
        assert!(report.problems.is_empty(), "{report}");
        assert!(report.version.is_some() && report.probes.len() >= 2, "{report}");
    }
    let text = dir.path().join("text.wasm");
    std::fs::write(&text, "no plugin").expect("write");
    let report = check(&text, &config(dir.path())).await;
    assert!(report.problems.iter().any(|it| it.contains("is text")), "{report}");
}

/// Prints what a start costs; the second takes the machine code from the cache of the first.
#[tokio::test]
async fn a_second_start_finds_the_plugins_in_the_cache() {
    let (dir, cache) = (tempfile::tempdir().expect("folder"), tempfile::tempdir().expect("folder"));
    for what in ["cold", "warm"] {
        let started = Instant::now();
        let host = PluginHost::start(
            &config(dir.path()),
            SHIPPED,
            PluginUses::default(),
            Folders { cache: cache.path().join("cache"), versions: cache.path().join("versions") },
            &Metrics::default(),
        )
        .await
        .expect("the room starts");
        println!("{what}: {} plugins in {:?}, {}", SHIPPED.len(), started.elapsed(), resident());
        assert!(host.status().iter().all(|it| it.state == PluginState::Active));
        host.shutdown().await;
    }
    assert!(std::fs::read_dir(cache.path().join("cache")).expect("folder").next().is_some());
}

fn resident() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|it| it.starts_with("VmRSS")).unwrap_or("VmRSS unknown").to_owned()
}
