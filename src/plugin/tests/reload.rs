//! The folder while records flow: what comes into use, what does not, and that no batch notices.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use super::{
    Fixture, PartitionerVerdict, PluginState, PluginStatus, PluginUses, TransformVerdict, embed,
    is_active, placing, processing,
    text::{Text, err},
};
use crate::plugin::{HookKind, PluginSource};

fn transform(version: &'static str) -> Text {
    Text::good(HookKind::Transform).version(version)
}

async fn version_that_answers(fixture: &Fixture, name: &str) -> String {
    match fixture.process(name, &["a"]).await {
        TransformVerdict::Done(output) => output.plugin_version,
        other => panic!("{other:?}"),
    }
}

fn has_error(want: &'static str) -> impl Fn(Option<&PluginStatus>) -> bool {
    move |status| {
        status.and_then(|it| it.last_error.as_deref()).is_some_and(|error| error.contains(want))
    }
}

#[tokio::test]
async fn a_file_takes_precedence_over_the_embedded_plugin_and_its_removal_falls_back() {
    let embedded = transform("1.0.0");
    let fixture = Fixture::start(&[embed("log", &embedded)], &[]).await;
    assert_eq!(fixture.status("log").expect("known").source, PluginSource::Embedded);
    // The same bytes as a file count as a file.
    fixture.replace("log.wasm", &embedded.wasm());
    fixture.until("log", |it| it.is_some_and(|it| it.source == PluginSource::File)).await;
    fixture.replace("log.wasm", &transform("2.0.0").wasm());
    fixture.until_version("log", "2.0.0").await;
    assert_eq!(version_that_answers(&fixture, "log").await, "2.0.0");
    std::fs::remove_file(fixture.path("log.wasm")).expect("remove");
    fixture.until_version("log", "1.0.0").await;
    assert_eq!(version_that_answers(&fixture, "log").await, "1.0.0");
    assert_eq!(fixture.status("log").expect("known").source, PluginSource::Embedded);
}

/// The uses of a topic `logs` that names one transform.
fn used(name: &str) -> PluginUses {
    let mut uses = PluginUses::default();
    uses.add(&name.into(), HookKind::Transform, || "topic logs".into());
    uses
}

#[tokio::test]
async fn a_name_in_use_stays_known_while_its_file_is_gone() {
    let files: [(&str, &[u8]); 1] = [("mine.wasm", &transform("1.0.0").wasm())];
    let fixture = Fixture::start_with(&[], used("mine"), &files).await;
    let face = fixture.host.transform(&"mine".into()).expect("known");
    std::fs::remove_file(fixture.path("mine.wasm")).expect("remove");
    let status = fixture.until("mine", has_error("gone")).await.expect("still listed");
    assert_eq!(status.state, PluginState::Failed);
    assert!(fixture.host.transform(&"mine".into()).is_some());
    assert!(matches!(face.process(processing(&["a"])).await, TransformVerdict::Failed(_)));
    fixture.replace("mine.wasm", &transform("2.0.0").wasm());
    fixture.until_version("mine", "2.0.0").await;
    assert!(matches!(face.process(processing(&["a"])).await, TransformVerdict::Done(_)));
    std::fs::remove_file(fixture.path("mine.wasm")).expect("remove");
    fixture.until("mine", has_error("gone")).await;
    fixture.host.set_uses(PluginUses::default());
    assert_eq!(fixture.status("mine"), None, "nobody uses it any more");
}

#[tokio::test]
async fn a_plugin_that_nobody_uses_goes_with_its_file_and_leaves_its_name_to_any_world() {
    let fixture = Fixture::start(&[], &[("mine.wasm", &transform("1.0.0").wasm())]).await;
    let face = fixture.host.transform(&"mine".into()).expect("known");
    std::fs::remove_file(fixture.path("mine.wasm")).expect("remove");
    fixture.until("mine", |it| it.is_none()).await;
    assert!(fixture.host.transform(&"mine".into()).is_none());
    assert!(matches!(face.process(processing(&["a"])).await, TransformVerdict::Failed(_)));
    fixture.replace("mine.wasm", &Text::good(HookKind::Partitioner).wasm());
    let status = fixture.until("mine", is_active).await.expect("it runs");
    assert_eq!(status.hook, Some(HookKind::Partitioner));
}

#[tokio::test]
async fn a_name_in_use_takes_a_file_of_the_hook_that_it_is_used_as_and_no_other() {
    let (good, other) = (transform("1.0.0").wasm(), Text::good(HookKind::Partitioner).wasm());
    let files: [(&str, &[u8]); 1] = [("mine.wasm", &other)];
    let fixture = Fixture::start_with(&[], used("mine"), &files).await;
    let refused =
        fixture.until("mine", has_error("mine is used by topic logs")).await.expect("shown");
    assert_eq!((refused.state, refused.hook), (PluginState::Failed, None));
    fixture.replace("mine.wasm", &good);
    fixture.until_version("mine", "1.0.0").await;
    // Gone, and made anew as another world: the name stays with the hook of the topic.
    std::fs::remove_file(fixture.path("mine.wasm")).expect("remove");
    fixture.until("mine", has_error("gone")).await;
    fixture.replace("mine.wasm", &other);
    fixture.until("mine", has_error("give this file another name")).await;
    assert!(fixture.host.transform(&"mine".into()).is_some());
    fixture.replace("mine.wasm", &good);
    fixture.until("mine", is_active).await;
}

#[tokio::test]
async fn a_use_that_came_later_wins_over_the_world_that_runs() {
    let other = Text::good(HookKind::Partitioner).wasm();
    let fixture = Fixture::start(&[], &[("mine.wasm", &other)]).await;
    fixture.replace("mine.wasm", &transform("2.0.0").wasm());
    fixture.until("mine", has_error("a name keeps its world while it runs")).await;
    fixture.host.set_uses(used("mine"));
    fixture.replace("mine.wasm", &transform("3.0.0").wasm());
    let status = fixture.until("mine", |it| it.is_some_and(|it| it.last_error.is_none())).await;
    assert_eq!(status.expect("known").hook, Some(HookKind::Transform));
    assert!(fixture.host.rollback(&"mine".into()).is_err(), "to another world");
}

#[tokio::test]
async fn a_name_in_use_without_a_file_is_shown() {
    let fixture = Fixture::start_with(&[], used("lost"), &[]).await;
    let status = fixture.status("lost").expect("shown");
    assert_eq!((status.state, status.hook), (PluginState::Failed, None));
    assert!(status.last_error.is_some_and(|it| it.contains("topic logs")));
}

#[tokio::test]
async fn files_that_no_plugin_comes_of_are_shown_until_they_are_gone_or_mended() {
    let embedded = [embed("log", &transform("1.0.0"))];
    let files: [(&str, &[u8]); 3] = [
        ("My Plugin.wasm", b"x"),
        ("logs.toml", b"on-failure = \"pass\""),
        ("Cargo.toml", b"[workspace]"),
    ];
    let fixture = Fixture::start(&embedded, &files).await;
    let shown = |name: &str| fixture.status(name).and_then(|it| it.last_error).expect("shown");
    assert!(shown("My Plugin.wasm").contains("letters, digits"));
    assert!(shown("logs.toml").contains("did you mean log.toml?"));
    assert_eq!(fixture.status("Cargo.toml"), None);
    fixture.replace("logs.wasm", &transform("1.0.0").wasm());
    fixture.until("logs.toml", |it| it.is_none()).await;
    std::fs::remove_file(fixture.path("My Plugin.wasm")).expect("remove");
    fixture.until("My Plugin.wasm", |it| it.is_none()).await;
    fixture.replace("late.WASM", b"x");
    fixture.until("late.WASM", has_error("lower case")).await;
}

#[tokio::test]
async fn a_toml_alone_configures_the_embedded_plugin_and_its_change_reloads() {
    // Accepts only the settings `{}` (two bytes).
    let picky = transform("1.0.0").configure(format!(
        "(if (i32.ne (local.get $len) (i32.const 2)) (then (return (block (result i32) {})))) {}",
        err(),
        super::text::ok()
    ));
    let fixture = Fixture::start(
        &[embed("picky", &picky)],
        &[("Cargo.toml", b"[workspace]"), ("picky.toml", b"[alert]\nfor-count = 7")],
    )
    .await;
    assert!(fixture.status("Cargo").is_none(), "another's .toml is ignored");
    assert_eq!(fixture.host.alert_policy(&"picky".into()).for_count, 7);
    fixture.replace("picky.toml", b"[config]\na = 1");
    fixture.until("picky", has_error("test guest")).await;
    assert_eq!(fixture.host.alert_policy(&"picky".into()).for_count, 7, "the running one goes on");
    fixture.replace("picky.toml", b"on-failur = 1");
    fixture.until("picky", has_error("on-failure")).await;
    fixture.replace("picky.toml", b"[alert]\nfor-count = 9");
    fixture.until("picky", |it| it.is_some_and(|it| it.last_error.is_none())).await;
    assert_eq!(fixture.host.alert_policy(&"picky".into()).for_count, 9);
    assert!(is_active(fixture.status("picky").as_ref()));
}

#[tokio::test]
async fn a_bad_file_at_the_start_leaves_the_embedded_plugin_in_use() {
    let fixture = Fixture::start(
        &[embed("log", &transform("1.0.0"))],
        &[("log.wasm", b"\0asm"), ("alone.wasm", b"text")],
    )
    .await;
    let status = fixture.status("log").expect("known");
    assert_eq!((status.state, status.source), (PluginState::Active, PluginSource::Embedded));
    assert!(status.last_error.is_some_and(|it| it.contains("truncated")));
    let alone = fixture.status("alone").expect("shown");
    assert_eq!((alone.state, alone.hook, alone.sha256), (PluginState::Failed, None, None));
    assert!(fixture.host.transform(&"alone".into()).is_none());
    std::fs::remove_file(fixture.path("alone.wasm")).expect("remove");
    fixture.until("alone", |it| it.is_none()).await;
}

#[cfg(unix)]
#[tokio::test]
async fn links_that_are_swapped_like_a_config_maps_load_the_new_version() {
    use std::os::unix::fs::symlink;
    let fixture = Fixture::start(&[], &[]).await;
    let publish = |folder: &str, version: &'static str| {
        let data = fixture.path(folder);
        std::fs::create_dir(&data).expect("folder");
        std::fs::write(data.join("mine.wasm"), transform(version).wasm()).expect("write");
        symlink(folder, fixture.path("..data_tmp")).expect("link");
        std::fs::rename(fixture.path("..data_tmp"), fixture.path("..data")).expect("swap");
    };
    publish("..2026_01", "1.0.0");
    symlink("..data/mine.wasm", fixture.path("mine.wasm")).expect("link");
    fixture.until_version("mine", "1.0.0").await;
    publish("..2026_02", "2.0.0");
    std::fs::remove_dir_all(fixture.path("..2026_01")).expect("remove");
    fixture.until_version("mine", "2.0.0").await;
    assert_eq!(fixture.status("mine").expect("known").last_error, None);
}

#[tokio::test]
async fn a_rollback_goes_to_the_version_before_and_forth_again() {
    let fixture = Fixture::start(&[], &[("mine.wasm", &transform("1.0.0").wasm())]).await;
    assert!(fixture.host.rollback(&"mine".into()).is_err(), "there is no earlier version");
    fixture.replace("mine.wasm", &transform("2.0.0").wasm());
    fixture.until_version("mine", "2.0.0").await;
    let status = fixture.host.rollback(&"mine".into()).expect("rolls back");
    assert_eq!(status.version.as_deref(), Some("1.0.0"));
    assert_eq!(version_that_answers(&fixture, "mine").await, "1.0.0");
    fixture.host.rollback(&"mine".into()).expect("goes forth");
    assert_eq!(version_that_answers(&fixture, "mine").await, "2.0.0");
    assert!(fixture.host.rollback(&"nobody".into()).is_err());
}

#[tokio::test]
async fn a_rollback_and_the_version_before_outlast_a_restart() {
    let [one, two, three] = ["1.0.0", "2.0.0", "3.0.0"].map(|it| transform(it).wasm());
    let fixture = Fixture::start(&[], &[("mine.wasm", &one)]).await;
    fixture.replace("mine.wasm", &two);
    fixture.until_version("mine", "2.0.0").await;
    let fixture = fixture.restart(&[]).await;
    assert_eq!(version_that_answers(&fixture, "mine").await, "2.0.0");

    fixture.host.rollback(&"mine".into()).expect("rolls back");
    let fixture = fixture.restart(&[]).await;
    assert_eq!(version_that_answers(&fixture, "mine").await, "1.0.0");
    fixture.host.rollback(&"mine".into()).expect("goes forth");
    let fixture = fixture.restart(&[]).await;
    assert_eq!(version_that_answers(&fixture, "mine").await, "2.0.0");

    fixture.host.rollback(&"mine".into()).expect("rolls back");
    fixture.host.shutdown().await;
    fixture.replace("mine.wasm", &three);
    let fixture = fixture.restart(&[]).await;
    assert_eq!(version_that_answers(&fixture, "mine").await, "3.0.0", "the file has changed");
    fixture.host.rollback(&"mine".into()).expect("rolls back");
    assert_eq!(version_that_answers(&fixture, "mine").await, "1.0.0", "it ran before");
}

#[tokio::test]
async fn a_rollback_to_the_embedded_plugin_outlasts_a_restart() {
    let embedded = [embed("mine", &transform("1.0.0"))];
    let fixture = Fixture::start(&embedded, &[]).await;
    fixture.replace("mine.wasm", &transform("2.0.0").wasm());
    fixture.until_version("mine", "2.0.0").await;
    fixture.host.rollback(&"mine".into()).expect("rolls back");
    let fixture = fixture.restart(&embedded).await;
    assert_eq!(version_that_answers(&fixture, "mine").await, "1.0.0");
    let status = fixture.status("mine").expect("known");
    assert_eq!(status.source, PluginSource::Embedded);
}

/// Check 6 of the first run, small: twenty valid versions, bad files in between, and a producer that never pauses.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_reloads_with_bad_files_in_between_disturb_no_batch() {
    let versions = [transform("1.0.0"), transform("2.0.0")];
    let fixture = Fixture::start(&[embed("log", &versions[0])], &[]).await;
    let stop = Arc::new(AtomicBool::new(false));
    let batches = Arc::new(AtomicU64::new(0));
    let producer = {
        let face = fixture.host.transform(&"log".into()).expect("known");
        let (stop, batches) = (stop.clone(), batches.clone());
        tokio::spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                let verdict = face.process(processing(&["a", "b"])).await;
                assert!(matches!(verdict, TransformVerdict::Done(_)), "{verdict:?}");
                batches.fetch_add(1, Ordering::Relaxed);
            }
        })
    };
    let good = versions[1].wasm();
    let bad: [(Vec<u8>, &str); 6] = [
        (good[..good.len() - 40].to_vec(), "truncated"),
        ([b"\0asm\xff\xff\xff\xff", &good[8..]].concat(), "version"),
        (wat::parse_str("(component)").expect("a component"), "another world"),
        (Text::good(HookKind::Partitioner).wasm(), "a name keeps its world"),
        (wat::parse_str("(module)").expect("a module"), "core module"),
        (b"not a plugin\n".to_vec(), "text"),
    ];
    for round in 0..20 {
        let text = &versions[(round + 1) % 2];
        if let Some((bytes, want)) = bad.get(round) {
            fixture.replace("log.wasm", bytes);
            fixture.until("log", has_error(want)).await;
            assert!(is_active(fixture.status("log").as_ref()), "{want}: the running one goes on");
        }
        fixture.replace("log.wasm", &text.wasm());
        fixture
            .until("log", |it| {
                it.is_some_and(|it| {
                    it.version.as_deref() == Some(text.version) && it.last_error.is_none()
                })
            })
            .await;
        assert_eq!(version_that_answers(&fixture, "log").await, text.version);
    }
    stop.store(true, Ordering::Relaxed);
    producer.await.expect("no batch failed");
    assert!(batches.load(Ordering::Relaxed) > 0);
    assert_eq!(
        fixture.metric("klamm_plugin_reloads_total{plugin=\"log\",result=\"failed\"}"),
        Some(6.0)
    );
}

#[tokio::test]
async fn a_half_written_file_is_never_loaded() {
    let fixture = Fixture::start(&[], &[("mine.wasm", &transform("1.0.0").wasm())]).await;
    let new = transform("2.0.0").wasm();
    let mut changes = fixture.host.watch();
    // Written in place, with a look of the room after each piece at the latest.
    let mut file = std::fs::File::create(fixture.path("mine.wasm")).expect("create");
    for piece in new.chunks(new.len() / 8 + 1) {
        std::io::Write::write_all(&mut file, piece).expect("write");
        assert_eq!(version_that_answers(&fixture, "mine").await, "1.0.0");
    }
    drop(file);
    fixture.until_version("mine", "2.0.0").await;
    changes.mark_unchanged();
    assert_eq!(fixture.status("mine").expect("known").last_error, None);
}

#[tokio::test]
async fn shutting_down_answers_the_calls_that_wait() {
    let fixture = Fixture::start(&[embed("place", &Text::good(HookKind::Partitioner))], &[]).await;
    let face = fixture.host.partitioner(&"place".into()).expect("known");
    fixture.host.shutdown().await;
    assert!(matches!(face.place(placing(&["a"])).await, PartitionerVerdict::Failed(_)));
}
