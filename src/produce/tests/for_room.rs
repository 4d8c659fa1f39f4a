//! Large batches that wait for room to be expanded keep their place, and those behind them theirs.

use super::*;

/// A topic whose records need keys.
fn compacted() -> MetadataImage {
    let mut image = image();
    let configs = [("cleanup.policy".to_owned(), "compact".to_owned())].into();
    image.configs.insert(ConfigResource::Topic(TOPIC.into()), Arc::new(configs));
    image
}

/// One record that begins with `name`, of so many bytes that hardly get fewer.
fn keyed(name: &str, bytes: usize) -> Batch {
    let mut state = 1_u32;
    let noise = (0..bytes).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'a' + (state >> 24) as u8 % 26)
    });
    let value: String = name.chars().chain(noise).collect();
    let mut builder = BatchBuilder::new(TimestampMs(1), Compression::Zstd);
    builder.push(&RecordParts {
        offset_delta: 0,
        timestamp_delta: 0,
        key: Some(b"key"),
        value: Some(value.as_bytes()),
        headers: Vec::new(),
    });
    builder.build().unwrap()
}

/// Lets everything go as far as it can.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[test]
fn a_large_batch_waits_for_room_and_what_comes_behind_it_stays_there() {
    with_host(|runtime, plugins| {
        runtime.block_on(wait_for_room(plugins));
    });
}

async fn wait_for_room(plugins: &Arc<PluginHost>) {
    let node = Node::start(plugins);
    node.replicas.apply(&Arc::new(compacted()));
    let all = node.produce.shared.expansion.take_all();
    let submit = |name, bytes| node.produce.submit(Node::submission(&keyed(name, bytes))).wait();
    let (large, small) = (submit("1", 50_000), submit("2", 0));
    let elsewhere = Submission {
        topic_partition: TopicPartition::new(TOPIC, 1),
        ..Node::submission(&keyed("3", 0))
    };
    node.produce.submit(elsewhere).wait().await.unwrap();
    settle().await;
    assert_eq!(node.values(0), Vec::<String>::new());
    assert_eq!(node.values(1), ["3"], "another partition has a way of its own");

    drop(all);
    assert_eq!(small.await.unwrap().base_offset.0, 1);
    assert_eq!(large.await.unwrap().base_offset.0, 0);
    settle().await;
    assert_eq!(submit("4", 0).await.unwrap().base_offset.0, 2);
    assert!(node.produce.lanes.lock().is_empty(), "nobody needs it any more");
}

#[test]
fn so_many_batches_of_a_partition_wait_for_room_and_no_more() {
    with_host(|runtime, plugins| {
        let _entered = runtime.enter();
        let node = Node::start(plugins);
        node.replicas.apply(&Arc::new(compacted()));
        let all = node.produce.shared.expansion.take_all();
        let batch = keyed("x", 50_000);
        let submit = || node.produce.submit(Node::submission(&batch)).wait();
        let waiting: Vec<_> = (0..LANE_BATCHES_MAX).map(|_| submit()).collect();
        let refused = submit().now_or_never();
        assert!(matches!(refused, Some(Err(ProduceError::Busy))), "{refused:?}");
        drop((waiting, all));
    });
}
