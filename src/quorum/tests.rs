//! A quorum of one voter, stopped or killed anywhere, comes back with what it had acknowledged.

use std::{convert::Infallible, fs, path::Path};

use tempfile::TempDir;

use super::*;
use crate::{
    base::BrokerId,
    machine::Decision,
    metadata::{ConfigResource, MetadataRecord},
};

async fn start(dir: &Path) -> std::sync::Arc<Quorum> {
    Quorum::start(dir.to_owned(), BrokerId(1)).await.unwrap()
}

/// Sets a group config, so that the number of configs tells how many changes were applied.
async fn set(quorum: &Quorum, name: &str) {
    let record = MetadataRecord::Config {
        resource: ConfigResource::Group("g".into()),
        name: name.into(),
        value: Some("v".into()),
    };
    let decide = |_: &_| Ok::<_, Infallible>(Decision::new(vec![record], ()));
    quorum.change(decide).await.unwrap().unwrap();
}

fn names(quorum: &Quorum) -> Vec<String> {
    let image = quorum.image();
    image.group_configs(&"g".into()).map(|it| it.keys().cloned().collect()).unwrap_or_default()
}

/// What a kill leaves: the files as they are at this moment.
fn copy(from: &Path) -> TempDir {
    let to = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.path().join(entry.file_name())).unwrap();
    }
    to
}

#[tokio::test]
async fn the_first_start_names_the_cluster_and_later_ones_keep_the_name() {
    let dir = tempfile::tempdir().unwrap();
    let quorum = start(dir.path()).await;
    let name = quorum.image().cluster_id.clone();
    assert_eq!(name.len(), 22);
    quorum.shutdown().await.unwrap();
    drop(quorum);

    assert_eq!(start(dir.path()).await.image().cluster_id, name);
}

#[tokio::test]
async fn a_change_is_in_the_image_when_it_is_answered() {
    let dir = tempfile::tempdir().unwrap();
    let quorum = start(dir.path()).await;
    let version = quorum.image().version;

    set(&quorum, "a").await;

    assert_eq!(names(&quorum), ["a"]);
    assert!(quorum.image().version > version);
}

#[tokio::test]
async fn a_refusal_and_an_empty_decision_write_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let quorum = start(dir.path()).await;
    let version = quorum.image().version;

    let refused = quorum.change(|_| Err::<Decision<_, ()>, _>("no")).await.unwrap();
    let empty = quorum.change(|_| Ok::<_, Infallible>(Decision::response(7))).await.unwrap();

    assert_eq!((refused, empty), (Err("no"), Ok(7)));
    assert_eq!(quorum.image().version, version);
}

#[tokio::test]
async fn changes_at_the_same_time_decide_one_after_another() {
    let dir = tempfile::tempdir().unwrap();
    let quorum = start(dir.path()).await;
    let tasks: Vec<_> = (0..50)
        .map(|_| {
            let quorum = quorum.clone();
            tokio::spawn(async move {
                let allocate = crate::controller::allocate_producer_ids;
                quorum.change(allocate).await.unwrap().unwrap().start
            })
        })
        .collect();
    let mut starts = Vec::new();
    for task in tasks {
        starts.push(task.await.unwrap());
    }
    starts.sort_unstable();
    assert_eq!(starts, (0..50).map(|it| it * 1_000).collect::<Vec<i64>>());
}

#[tokio::test]
async fn a_caller_that_goes_away_does_not_let_the_next_one_decide_on_an_old_image() {
    let dir = tempfile::tempdir().unwrap();
    let quorum = start(dir.path()).await;
    for at in 0..20 {
        let change = quorum.change(crate::controller::allocate_producer_ids);
        // Polled a few times at most, then dropped: before, while or after it is written.
        let mut change = Box::pin(change);
        for _ in 0..at % 4 {
            if futures_util::poll!(&mut change).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
    let before = quorum.change(|it| Ok::<_, Infallible>(Decision::response(it.next_producer_id)));
    let before = before.await.unwrap().unwrap();
    let block = quorum.change(crate::controller::allocate_producer_ids).await.unwrap().unwrap();
    assert_eq!(block.start, before);
}

#[tokio::test]
async fn a_kill_at_any_time_loses_no_acknowledged_change() {
    let dir = tempfile::tempdir().unwrap();
    let quorum = start(dir.path()).await;
    for name in ["a", "b", "c"] {
        set(&quorum, name).await;
        let killed = copy(dir.path());
        assert_eq!(names(&*start(killed.path()).await), names(&quorum), "after {name}");
    }
}

#[tokio::test]
async fn a_log_cut_at_any_byte_of_its_tail_keeps_what_is_before_and_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let quorum = start(dir.path()).await;
    let log = |dir: &Path| dir.join("quorum.log");
    set(&quorum, "kept").await;
    let kept_bytes = fs::metadata(log(dir.path())).unwrap().len();
    set(&quorum, "torn").await;
    let bytes = fs::read(log(dir.path())).unwrap();

    for cut in kept_bytes..=bytes.len() as u64 {
        let killed = copy(dir.path());
        fs::write(log(killed.path()), &bytes[..cut as usize]).unwrap();
        let again = start(killed.path()).await;
        let whole = cut == bytes.len() as u64;
        let want: &[&str] = if whole { &["kept", "torn"] } else { &["kept"] };
        assert_eq!(names(&again), want, "cut at {cut}");
        set(&again, "new").await;
        again.shutdown().await.unwrap();
        drop(again);
        assert!(names(&*start(killed.path()).await).contains(&"new".into()), "cut at {cut}");
    }
}

/// Starts on a log with these bytes, which must be refused and left alone.
async fn refused(dir: &Path, log: &[u8]) -> String {
    let path = dir.join("quorum.log");
    fs::write(&path, log).unwrap();
    let error = Quorum::start(dir.to_owned(), BrokerId(1)).await.err().unwrap().to_string();
    assert_eq!(fs::read(&path).unwrap(), log);
    assert!(error.contains("from a copy"), "{error}");
    error
}

#[tokio::test]
async fn a_damaged_log_is_refused_and_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let quorum = start(dir.path()).await;
    set(&quorum, "a").await;
    let killed = copy(dir.path());
    let bytes = fs::read(dir.path().join("quorum.log")).unwrap();
    // In the middle, and in the last frame, which was acknowledged like any other.
    for at in [bytes.len() / 2, bytes.len() - 1] {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        let error = refused(killed.path(), &bytes).await;
        assert!(error.contains("damaged"), "byte {at}: {error}");
    }
}

#[tokio::test]
async fn a_log_that_was_shortened_after_a_clean_stop_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let quorum = start(dir.path()).await;
    set(&quorum, "kept").await;
    let kept_bytes = fs::metadata(dir.path().join("quorum.log")).unwrap().len() as usize;
    set(&quorum, "lost").await;
    quorum.shutdown().await.unwrap();
    drop(quorum);

    let bytes = fs::read(dir.path().join("quorum.log")).unwrap();
    let zeroed = [&bytes[..kept_bytes], &vec![0; bytes.len() - kept_bytes]].concat();
    for log in [&bytes[..bytes.len() - 1], &bytes[..kept_bytes], &zeroed] {
        let error = refused(dir.path(), log).await;
        assert!(error.contains("shortened after a clean stop"), "{error}");
    }
    assert!(refused(dir.path(), &[]).await.contains("lost its entries"));

    fs::write(dir.path().join("quorum.log"), &bytes).unwrap();
    let again = start(dir.path()).await;
    assert_eq!(names(&again), ["kept", "lost"]);
    // From the first write on a kill may tear the end again.
    set(&again, "new").await;
    assert!(!dir.path().join("quorum.end").exists());
}

#[tokio::test]
async fn what_a_kill_tore_is_set_aside_and_told() {
    let warnings = Warnings::default();
    let _guard = warnings.collect();
    let dir = tempfile::tempdir().unwrap();
    let quorum = start(dir.path()).await;
    set(&quorum, "kept").await;
    let bytes = fs::read(dir.path().join("quorum.log")).unwrap();

    for tail in [&b"\0\0\x01"[..], &[0; 700]] {
        let killed = copy(dir.path());
        fs::write(killed.path().join("quorum.log"), [&bytes, tail].concat()).unwrap();
        // In this thread, whose warnings are collected.
        let files = files::Files::open(killed.path().to_owned()).unwrap();
        drop(log_store::LogStore::open(&files).unwrap());
        assert_eq!(names(&*start(killed.path()).await), ["kept"]);
        let aside = killed.path().join(format!("quorum.log.{}.damaged", bytes.len()));
        assert_eq!(fs::read(aside).unwrap(), tail);
        let told = format!("bytes={}", tail.len());
        assert!(warnings.text().contains(&told), "{}", warnings.text());
    }
}

#[tokio::test]
async fn the_log_does_not_grow_without_bound_and_the_snapshot_holds_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let quorum = start(dir.path()).await;
    for at in 0..2_500 {
        set(&quorum, &format!("config-{}", at % 40)).await;
    }
    quorum.shutdown().await.unwrap();
    let version = quorum.image().version;
    drop(quorum);

    for lost in ["quorum.log", "quorum.snapshot"] {
        let killed = copy(dir.path());
        fs::remove_file(killed.path().join(lost)).unwrap();
        let error = Quorum::start(killed.path().to_owned(), BrokerId(1)).await.err().unwrap();
        assert!(error.to_string().contains("restore"), "{lost}: {error}");
    }
    assert!(dir.path().join("quorum.snapshot").exists());
    let bytes = fs::metadata(dir.path().join("quorum.log")).unwrap().len();
    assert!(bytes < 2_000 * 40, "the log has {bytes} bytes");
    let again = start(dir.path()).await;
    assert_eq!(names(&again).len(), 40);
    assert!(again.image().version >= version);
}

#[tokio::test]
async fn producer_ids_are_never_given_out_twice_also_after_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let quorum = start(dir.path()).await;
    let ids = ProducerIds::new(quorum.clone());
    let mut last = ids.next().await.unwrap();
    for _ in 0..2_000 {
        let next = ids.next().await.unwrap();
        assert_eq!(next.0, last.0 + 1);
        last = next;
    }
    let killed = copy(dir.path());
    let again = ProducerIds::new(start(killed.path()).await);
    assert!(again.next().await.unwrap() > last);
}

#[tokio::test]
async fn a_folder_in_use_or_of_another_node_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let quorum = start(dir.path()).await;
    let error = Quorum::start(dir.path().to_owned(), BrokerId(1)).await.err().unwrap();
    assert!(error.to_string().contains("in use"), "{error}");
    quorum.shutdown().await.unwrap();

    let killed = copy(dir.path());
    let error = Quorum::start(killed.path().to_owned(), BrokerId(2)).await.err().unwrap();
    assert!(error.to_string().contains("belongs to node [1]"), "{error}");

    std::fs::remove_file(killed.path().join("quorum.log")).unwrap();
    let error = Quorum::start(killed.path().to_owned(), BrokerId(1)).await.err().unwrap();
    assert!(error.to_string().contains("it has lost its entries"), "{error}");
}

/// What openraft and Klamm log from WARN up.
#[derive(Clone, Default)]
struct Warnings(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Warnings {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Warnings {
    /// Of code that runs in this thread, until the guard is dropped.
    fn collect(&self) -> tracing::subscriber::DefaultGuard {
        let writer = self.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::WARN)
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::set_default(subscriber)
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

#[tokio::test]
async fn a_normal_life_logs_no_warning() {
    let warnings = Warnings::default();
    let _guard = warnings.collect();
    let dir = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        let quorum = start(dir.path()).await;
        set(&quorum, name).await;
        quorum.shutdown().await.unwrap();
    }
    assert_eq!(warnings.text(), "");
}
