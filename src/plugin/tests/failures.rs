//! Each way of misbehaving costs its call, within the limits, and means what was configured.

use super::{
    Fixture, HOOKS, HURRIED, PartitionerVerdict, PluginState, TransformVerdict, embed, is_active,
    text::{self, Text, err, list, ok, zeros},
};
use crate::{
    base::PluginName,
    plugin::{HookKind, hook::TransformOutput, smoke},
};

const LOOPS: &str = "(call $loop) unreachable";
const HOARDS: &str = "(loop $more (drop (memory.grow (i32.const 16))) (br $more)) unreachable";
const RECURSES: &str = "(call $recurse) unreachable";
const TRAPS: &str = "unreachable";
const FLOODS: &str =
    "(loop $more (call $log (i32.const 1) (i32.const 602) (i32.const 10)) (br $more)) unreachable";
const BAD_ACCESS: &str = "(i32.load (i32.const -16))";

/// Misbehaviour that any hook can show, and what is said of it.
fn common() -> Vec<(&'static str, String, &'static str)> {
    vec![
        ("loops", LOOPS.into(), "time limit"),
        ("hoards", HOARDS.into(), "bytes of memory, may have"),
        ("recurses", RECURSES.into(), "call stack exhausted"),
        ("traps", TRAPS.into(), "unreachable"),
        ("floods the log", FLOODS.into(), "time limit"),
        ("reads out of bounds", BAD_ACCESS.into(), "out of bounds"),
        ("errs", err().into(), "answered an error: test guest"),
        ("answers from nowhere", "(i32.const -64)".into(), "out of bounds"),
        ("answers with a bad pointer", list(4, "(i32.const -8)", "(i32.const 2)"), "out of bounds"),
        ("answers hugely", list(4, "(i32.const 0)", "(i32.const 100000000)"), "out of bounds"),
    ]
}

/// A host with the plugin `bad`, whose calls end soon where it is their time limit that is to end them.
async fn with_bad(text: &Text, want: &str) -> Fixture {
    let toml = if want == "time limit" { HURRIED } else { b"" };
    Fixture::start(&[embed("bad", text)], &[("bad.toml", toml)]).await
}

fn of_partitioners() -> Vec<(&'static str, String, &'static str)> {
    vec![
        ("too few", zeros("(i32.const 1)"), "1 partitions for 2 records"),
        ("too many", zeros("(i32.const 3)"), "3 partitions for 2 records"),
        ("none", ok().into(), "0 partitions for 2 records"),
        (
            "out of range",
            format!("(i32.store (i32.const 524292) (i32.const 4)) {}", zeros("(i32.const 2)")),
            "partition 4, the topic has 4",
        ),
    ]
}

fn of_transforms() -> Vec<(&'static str, String, &'static str)> {
    let bytes = |word, value: u32, len| {
        format!(
            "(i32.store (i32.const 524288) (i32.const {value})) {}",
            list(word, "(i32.const 524288)", &format!("(i32.const {len})"))
        )
    };
    vec![
        ("too few actions", bytes(4, 0, 1), "1 actions for 2 records"),
        ("an unknown action", bytes(4, 9, 2), "unknown action 9"),
        ("a replacement without contents", bytes(4, 2, 2), "fewer replacements"),
        ("a rejection without reason", bytes(4, 3, 2), "fewer reasons"),
        ("contents without a replacement", bytes(12, 0, 4), "more replacement data"),
        ("a reason without rejection", bytes(36, 0, 1), "more reasons"),
        ("an alert about no record", alert_about(2), "alert about record 2 of 2"),
        ("too much state", bytes(52, 0, 65_537), "65537 bytes of state"),
    ]
}

fn alert_about(record: u32) -> String {
    format!(
        "(memory.fill (i32.const 524288) (i32.const 0) (i32.const 64))
         (i32.store (i32.const 524288) (i32.const {record})) {}",
        list(44, "(i32.const 524288)", "(i32.const 1)")
    )
}

#[tokio::test]
async fn a_partitioner_that_misbehaves_fails_its_batch_and_answers_the_next() {
    for (what, body, want) in common().into_iter().chain(of_partitioners()) {
        let fixture = with_bad(&Text::good(HookKind::Partitioner).later(&body), want).await;
        let PartitionerVerdict::Failed(reason) = fixture.place("bad", &["a", "b"]).await else {
            panic!("{what}: it must fail");
        };
        assert!(reason.contains(want), "{what}: {reason:?} has no {want:?}");
        let status = fixture.status("bad").expect("known");
        assert_eq!(status.state, PluginState::Active, "{what}: one failure is no quarantine");
        assert!(status.last_error.is_some_and(|it| it.contains(want)), "{what}");
        fixture.host.shutdown().await;
    }
}

#[tokio::test]
async fn a_transform_that_misbehaves_fails_its_batch() {
    for (what, body, want) in common().into_iter().chain(of_transforms()) {
        let fixture = with_bad(&Text::good(HookKind::Transform).later(&body), want).await;
        let TransformVerdict::Failed(reason) = fixture.process("bad", &["a", "b"]).await else {
            panic!("{what}: it must fail");
        };
        assert!(reason.contains(want), "{what}: {reason:?} has no {want:?}");
        fixture.host.shutdown().await;
    }
}

#[tokio::test]
async fn an_assignor_that_misbehaves_gives_no_assignment() {
    for (what, body, want) in common() {
        let fixture = with_bad(&Text::good(HookKind::Assignor).later(&body), want).await;
        let assignor = fixture.host.assignor(&PluginName::from("bad")).expect("known");
        let mut group = smoke::group(2, 3);
        group.group_id = "billing".into();
        let failure = assignor.assign(group).await.expect_err("it must fail");
        assert_eq!(failure.plugin, "bad");
        assert!(failure.reason.contains(want), "{what}: {failure} has no {want:?}");
        fixture.host.shutdown().await;
    }
}

#[tokio::test]
async fn a_failure_means_what_was_configured() {
    let partitioner = Text::good(HookKind::Partitioner).later(TRAPS).wasm();
    let transform = Text::good(HookKind::Transform).later(TRAPS).wasm();
    let fixture = Fixture::start(
        &[],
        &[
            ("client.wasm", &partitioner),
            ("client.toml", b"on-failure = \"client\""),
            ("pass.wasm", &transform),
            ("pass.toml", b"on-failure = \"pass\""),
            ("drop.wasm", &transform),
            ("drop.toml", b"on-failure = \"drop\""),
            ("dead.wasm", &transform),
            ("dead.toml", b"on-failure = \"dead-letter\"\ndead-letter-topic = \"bad\""),
        ],
    )
    .await;
    assert_eq!(fixture.place("client", &["a"]).await, PartitionerVerdict::Client);
    assert_eq!(fixture.process("pass", &["a"]).await, TransformVerdict::Pass);
    assert_eq!(fixture.process("drop", &["a"]).await, TransformVerdict::DropAll);
    let verdict = fixture.process("dead", &["a"]).await;
    assert!(
        matches!(&verdict, TransformVerdict::DeadLetter { topic: Some(topic), .. } if topic == "bad"),
        "{verdict:?}"
    );
}

#[tokio::test]
async fn ten_failures_in_a_row_quarantine_a_plugin_and_no_other() {
    let bad = Text::good(HookKind::Partitioner).later(TRAPS);
    let good = Text::good(HookKind::Partitioner);
    let fixture = Fixture::start(&[embed("bad", &bad), embed("good", &good)], &[]).await;
    for _ in 0..10 {
        fixture.place("bad", &["a"]).await;
    }
    assert_eq!(fixture.status("bad").expect("known").state, PluginState::Quarantined);
    assert_eq!(fixture.metric("klamm_plugin_quarantined{plugin=\"bad\"}"), Some(1.0));
    let probes = probes_before_a_refusal(&fixture).await;
    let traps = "klamm_plugin_failures_total{plugin=\"bad\",kind=\"trap\"}";
    for count in ["klamm_plugin_calls_total{plugin=\"bad\"}", traps] {
        assert_eq!(fixture.metric(count), Some(f64::from(10 + probes)), "{count}");
    }
    assert!(fixture.host.partitioner(&"bad".into()).is_some(), "its name stays known");
    assert_eq!(fixture.place("good", &["a"]).await, PartitionerVerdict::Targets(vec![0]));
    assert!(is_active(fixture.status("good").as_ref()));
}

/// Calls `bad` until it is refused without a call. On a machine that stood still meanwhile a quarantine may be over;
/// then a call is let through, and the next quarantine is twice as long.
async fn probes_before_a_refusal(fixture: &Fixture) -> u32 {
    for probes in 0..10 {
        let PartitionerVerdict::Failed(reason) = fixture.place("bad", &["a"]).await else {
            panic!("its policy applies");
        };
        if reason.contains("quarantined") {
            return probes;
        }
    }
    panic!("it is called again and again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plugin_that_hangs_holds_up_no_other() {
    let bad = Text::good(HookKind::Partitioner).later(LOOPS);
    let good = Text::good(HookKind::Partitioner);
    let plugins = [embed("bad", &bad), embed("good", &good)];
    let fixture = Fixture::start(&plugins, &[("bad.toml", HURRIED)]).await;
    let hanging: Vec<_> = (0..9)
        .map(|_| {
            let partitioner = fixture.host.partitioner(&"bad".into()).expect("known");
            tokio::spawn(async move { partitioner.place(super::placing(&["a"])).await })
        })
        .collect();
    for _ in 0..5 {
        assert_eq!(fixture.place("good", &["a"]).await, PartitionerVerdict::Targets(vec![0]));
    }
    assert!(hanging.iter().any(|it| !it.is_finished()), "they run one after the other");
    for task in hanging {
        assert!(matches!(task.await, Ok(PartitionerVerdict::Failed(_))));
    }
}

#[tokio::test]
async fn a_failed_guest_is_dropped_and_its_memory_given_back() {
    for hook in HOOKS {
        let text = Text::good(hook).later(TRAPS);
        let fixture = Fixture::start(&[embed("bad", &text)], &[]).await;
        match hook {
            HookKind::Partitioner => drop(fixture.place("bad", &["a"]).await),
            HookKind::Transform => drop(fixture.process("bad", &["a"]).await),
            HookKind::Assignor => {
                let mut group = smoke::group(1, 1);
                group.group_id = "billing".into();
                let assignor = fixture.host.assignor(&"bad".into()).expect("known");
                assignor.assign(group).await.expect_err("it traps");
            }
        }
        assert_eq!(fixture.metric("klamm_plugin_memory_bytes{plugin=\"bad\"}"), Some(0.0));
    }
}

#[tokio::test]
async fn an_assignor_has_a_fresh_instance_for_each_call() {
    let text = Text::good(HookKind::Assignor).configure(ok());
    let second_call_errs = format!(
        "(if (global.get $state) (then (return (block (result i32) {})))) (global.set $state (i32.const 1)) {}",
        text::err(),
        text.call
    );
    let fixture = Fixture::start(&[embed("once", &text.call(second_call_errs))], &[]).await;
    let assignor = fixture.host.assignor(&PluginName::from("once")).expect("known");
    for _ in 0..3 {
        let answer = assignor.assign(smoke::group(2, 3)).await.expect("a fresh instance");
        assert_eq!(
            answer.values().map(|it| it.values().map(Vec::len).sum()).collect::<Vec<usize>>(),
            [3, 0]
        );
    }
}

#[tokio::test]
async fn a_long_batch_is_cut_into_calls_and_answered_whole() {
    let fixture = Fixture::start(
        &[
            embed("place", &Text::good(HookKind::Partitioner)),
            embed("process", &Text::good(HookKind::Transform)),
        ],
        &[],
    )
    .await;
    let keys = vec!["k"; 2_500];
    assert_eq!(fixture.place("place", &keys).await, PartitionerVerdict::Targets(vec![0; 2_500]));
    assert_eq!(fixture.metric("klamm_plugin_calls_total{plugin=\"place\"}"), Some(3.0));
    assert_eq!(fixture.metric("klamm_plugin_records_total{plugin=\"place\"}"), Some(2_500.0));
    let large = "v".repeat(300 * 1024);
    let verdict = fixture.process("process", &["a", &large, "b"]).await;
    let expected = TransformOutput { plugin_version: "1.0.0".into(), ..TransformOutput::default() };
    assert_eq!(verdict, TransformVerdict::Done(expected));
    assert_eq!(fixture.metric("klamm_plugin_calls_total{plugin=\"process\"}"), Some(3.0));
}
