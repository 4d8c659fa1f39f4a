//! The task of one partition's machine: loads it, feeds it events and time, appends what it decides.

use std::{sync::Arc, time::Duration};

use tokio::sync::mpsc;

use super::{
    append::batches,
    clock::Clock,
    commit_queue::CommitQueue,
    driver::{Driver, Unavailable, Work},
    loader,
};
use crate::{
    base::{TimestampMs, TopicPartition},
    replica::{Acks, Partition, ReplicaError, ReplicaManager},
};

/// Where a machine's task runs, and how it makes the machine.
pub(crate) struct Seat<M> {
    pub(crate) topic_partition: TopicPartition,
    pub(crate) replicas: Arc<ReplicaManager>,
    pub(crate) clock: Clock,
    pub(crate) decompressed_max_bytes: usize,
    /// An empty machine.
    pub(crate) make: M,
}

/// Between the first two attempts to load …
const RETRY_MIN: Duration = Duration::from_millis(50);
/// … and between later ones: a log that cannot be read now is told of again and again.
const RETRY_MAX: Duration = Duration::from_secs(5);

enum End {
    /// The coordinator gives the partition up, or stops.
    Closed,
    /// Load again.
    Lost,
}

/// Runs until `events` is closed.
pub(crate) async fn run<D: Driver, M: Fn() -> D>(
    seat: Seat<M>,
    mut events: mpsc::Receiver<D::Event>,
) {
    loop {
        let Some((driver, partition)) = load(&seat, &mut events).await else { return };
        tracing::debug!(partition = %seat.topic_partition, "a coordinator has loaded");
        match serve(&seat, driver, partition, &mut events).await {
            End::Closed => return,
            End::Lost => {
                tracing::warn!(partition = %seat.topic_partition, "a coordinator loads again");
            }
        }
    }
}

/// Refuses events meanwhile. `None` when the channel closed.
async fn load<D: Driver, M: Fn() -> D>(
    seat: &Seat<M>,
    events: &mut mpsc::Receiver<D::Event>,
) -> Option<(D, Arc<Partition>)> {
    let mut retry = RETRY_MIN;
    loop {
        let attempt = attempt(seat, (seat.make)());
        tokio::pin!(attempt);
        let loaded = loop {
            tokio::select! {
                loaded = &mut attempt => break loaded,
                event = events.recv() => D::refuse(event?, Unavailable::Loading),
            }
        };
        if loaded.is_some() {
            return loaded;
        }
        let pause = tokio::time::sleep(retry);
        retry = RETRY_MAX.min(retry * 2);
        tokio::pin!(pause);
        loop {
            tokio::select! {
                () = &mut pause => break,
                event = events.recv() => D::refuse(event?, Unavailable::Loading),
            }
        }
    }
}

async fn attempt<D: Driver, M>(seat: &Seat<M>, mut driver: D) -> Option<(D, Arc<Partition>)> {
    // The image may be ahead of the replicas: the partition is made in a moment.
    let partition = seat.replicas.leader(&seat.topic_partition, None).ok()?;
    let max_bytes = seat.decompressed_max_bytes;
    let replay = tokio::task::spawn_blocking(move || {
        loader::load(&partition, max_bytes, |record| driver.replay(record))?;
        Ok::<_, loader::LoadError>((driver, partition))
    });
    match replay.await {
        Ok(Ok(loaded)) => Some(loaded),
        Ok(Err(error)) => {
            tracing::error!(partition = %seat.topic_partition, %error, "load a coordinator");
            None
        }
        Err(error) => {
            tracing::error!(partition = %seat.topic_partition, %error, "a coordinator's load has ended");
            None
        }
    }
}

async fn serve<D: Driver, M>(
    seat: &Seat<M>,
    mut driver: D,
    partition: Arc<Partition>,
    events: &mut mpsc::Receiver<D::Event>,
) -> End {
    let mut queue = CommitQueue::start(partition.clone());
    let mut work = driver.loaded(seat.clock.now());
    let end = loop {
        if let Err(error) = carry_out(seat, &mut driver, &partition, &queue, work).await {
            tracing::warn!(partition = %seat.topic_partition, %error, "append a coordinator's records");
            break End::Lost;
        }
        let deadline = driver.next_deadline();
        work = tokio::select! {
            _ = &mut queue.lost => break End::Lost,
            event = events.recv() => match event {
                Some(event) => driver.handle(event, seat.clock.now()),
                None => break End::Closed,
            },
            () = sleep_until(seat.clock, deadline) => driver.tick(seat.clock.now()),
        };
    };
    queue.finish().await;
    end
}

async fn sleep_until(clock: Clock, deadline: Option<TimestampMs>) {
    match deadline {
        Some(at) => tokio::time::sleep(clock.until(at)).await,
        None => std::future::pending().await,
    }
}

/// Appends, replays what was appended, and hands the answers to the queue.
async fn carry_out<D: Driver, M>(
    seat: &Seat<M>,
    driver: &mut D,
    partition: &Partition,
    queue: &CommitQueue,
    work: Work,
) -> Result<(), ReplicaError> {
    let mut last_offset = None;
    if !work.records.is_empty() {
        let max_bytes = partition.config().max_message_bytes;
        let appended =
            partition.append(batches(&work.records, max_bytes, seat.clock.now()), Acks::All);
        match appended {
            Ok(appended) => last_offset = Some(appended.last_offset),
            Err(error) => {
                work.replies.into_iter().for_each(|reply| reply(Err(Unavailable::Lost)));
                return Err(error);
            }
        }
        for record in &work.records {
            driver.replay(record);
        }
    }
    queue.hold(last_offset, work.replies).await;
    Ok(())
}
