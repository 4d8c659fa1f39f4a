//! Topics with `cleanup.policy=compact`: of each key the newest record is kept, over restarts and kills, and consumers are
//! shown nothing else.

use kafka_protocol::{
    messages::{
        OffsetCommitRequest, OffsetFetchRequest,
        offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic},
        offset_fetch_request::OffsetFetchRequestTopic,
    },
    protocol::StrBytes,
};

use crate::support::{Broker, Client, Session, eventually};

const INVALID_RECORD: i16 = 87;

/// Configs under which a topic of a few kilobytes is cleaned at once.
const EAGER: [(&str, &str); 3] = [
    ("cleanup.policy", "compact"),
    ("internal.segment.bytes", "2000"),
    ("min.cleanable.dirty.ratio", "0.01"),
];

fn broker() -> Broker {
    Broker::with(&[("log.cleaner.backoff.ms", "50")])
}

/// Sends keys `k0` to `k9` again and again; the values are numbers that rise.
fn send(client: &mut Client, session: Session, range: std::ops::Range<i32>) {
    for at in range {
        let (key, value) = (format!("k{}", at % 10), at.to_string());
        let batch = session.batch(at, &[(Some(&key), Some(&value))]);
        client.must_produce("t", 0, batch);
    }
}

/// The values that a consumer is shown, once it is shown few enough.
fn compacted(client: &mut Client, at_most: usize) -> Vec<String> {
    eventually("the log is compacted", || {
        let values = client.values("t", 0);
        (values.len() <= at_most).then_some(values)
    })
}

/// Records of the active segment stay, whatever their keys.
const UNCLEANED_MAX: usize = 45;

#[test]
fn a_compacted_topic_holds_the_newest_of_each_key_and_keeps_its_producers() {
    let mut broker = broker();
    let mut client = broker.client();
    client.create_topic("t", 1, &EAGER);
    let session = Session::new(&mut client);
    send(&mut client, session, 0..300);
    let check = |values: &[String]| {
        let newest: Vec<_> = (290..300).map(|it| it.to_string()).collect();
        assert_eq!(values[values.len() - 10..], newest[..], "nothing newer is lost");
        let numbers: Vec<i32> = values.iter().map(|it| it.parse().unwrap()).collect();
        assert!(numbers.is_sorted(), "in order: {numbers:?}");
    };
    check(&compacted(&mut client, UNCLEANED_MAX));
    assert!(broker.metric("klamm_cleaner_read_bytes_total") > 0.0);
    assert!(broker.metric("klamm_cleaner_uncleanable_partitions") < 0.5);

    broker.terminate_and_restart();
    check(&compacted(&mut broker.client(), UNCLEANED_MAX));
    broker.kill_and_restart();
    let mut client = broker.client();
    check(&compacted(&mut client, UNCLEANED_MAX));
    let again = client.produce("t", 0, session.batch(299, &[(Some("k9"), Some("299"))]));
    assert_eq!((again.error_code, again.base_offset), (0, 299), "a retry is recognised");
    send(&mut client, session, 300..301);
    assert!(client.values("t", 0).ends_with(&["299".to_owned(), "300".to_owned()]));
    let points = broker.data_dir().join("cleaner-offset-checkpoint");
    let points = std::fs::read_to_string(points).unwrap();
    assert!(points.starts_with("0\n1\nt 0 "), "{points}");
}

#[test]
fn a_record_without_a_key_is_refused_and_named() {
    let broker = broker();
    let mut client = broker.client();
    client.create_topic("t", 1, &EAGER);
    let records = [(Some("k"), Some("v")), (None, Some("no key"))];
    let refused = client.produce("t", 0, crate::support::batch(&records));
    assert_eq!(refused.error_code, INVALID_RECORD);
    let record = &refused.record_errors[0];
    assert_eq!(record.batch_index, 1);
    let reason = record.batch_index_error_message.as_ref().unwrap();
    assert_eq!(
        reason.as_str(),
        "Compacted topic cannot accept message without key in topic partition t-0."
    );
    assert!(client.values("t", 0).is_empty());
    client.set_topic_config("t", "cleanup.policy", "delete");
    client.must_produce("t", 0, crate::support::batch(&records));
}

fn text(it: &str) -> StrBytes {
    StrBytes::from_string(it.to_owned())
}

fn commit(client: &mut Client, offset: i64) {
    let partition = OffsetCommitRequestPartition::default()
        .with_partition_index(0)
        .with_committed_offset(offset)
        .with_committed_metadata(Some(text("where it stands")));
    let topic = OffsetCommitRequestTopic::default()
        .with_name(text("t").into())
        .with_partitions(vec![partition]);
    let request = OffsetCommitRequest::default()
        .with_group_id(text("g").into())
        .with_generation_id_or_member_epoch(-1)
        .with_topics(vec![topic]);
    let answer = client.call(7, &request);
    assert_eq!(answer.topics[0].partitions[0].error_code, 0);
}

fn committed(client: &mut Client) -> i64 {
    let topic = OffsetFetchRequestTopic::default()
        .with_name(text("t").into())
        .with_partition_indexes(vec![0]);
    let request = OffsetFetchRequest::default()
        .with_group_id(text("g").into())
        .with_topics(Some(vec![topic]));
    client.call(7, &request).topics[0].partitions[0].committed_offset
}

#[test]
fn committed_offsets_are_compacted_and_the_newest_is_loaded() {
    let mut broker =
        Broker::with(&[("log.cleaner.backoff.ms", "50"), ("offsets.topic.num.partitions", "1")]);
    let mut client = broker.client();
    client.create_topic("t", 1, &[]);
    client.wait_for_coordinator("g");
    for (name, value) in &EAGER[1..] {
        client.set_topic_config("__consumer_offsets", name, value);
    }
    for offset in 0..200 {
        commit(&mut client, offset);
    }
    let size = "klamm_topic_size_bytes{topic=\"__consumer_offsets\"}";
    // A segment that is active, and what is left of the others.
    eventually("__consumer_offsets is compacted", || (broker.metric(size) < 3_500.0).then_some(()));
    assert_eq!(committed(&mut client), 199);
    for _ in 0..2 {
        broker.kill_and_restart();
        let mut client = broker.client();
        client.wait_for_coordinator("g");
        assert_eq!(committed(&mut client), 199);
    }
}

#[test]
fn max_compaction_lag_rolls_and_cleans_what_nobody_adds_to() {
    let broker = Broker::with(&[
        ("log.cleaner.backoff.ms", "50"),
        ("log.retention.check.interval.ms", "50"),
    ]);
    let mut client = broker.client();
    let configs = [("cleanup.policy", "compact"), ("max.compaction.lag.ms", "300")];
    client.create_topic("t", 1, &configs);
    let session = Session::new(&mut client);
    send(&mut client, session, 0..30);
    assert_eq!(compacted(&mut client, 10).len(), 10);
}
