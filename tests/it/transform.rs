//! The transform hook: what becomes of a batch whose records are kept, dropped, changed or refused.

use klamm::wire::record_batch::Compression;

use crate::support::{
    Broker, Client, KeyValue, Session, TIMESTAMP_MS, compressed, guests, with_headers,
};

const INVALID_RECORD: i16 = 87;

/// A node with the plugin `letter`, and a topic `t` under it.
fn start(configs: &[(&str, &str)]) -> (Broker, Client) {
    let broker = Broker::start();
    broker.load_plugin("letter", &guests::by_first_letter());
    let mut client = broker.client();
    let configs: Vec<_> = [("klamm.transforms", "letter")].iter().chain(configs).copied().collect();
    client.create_topic("t", 1, &configs);
    (broker, client)
}

fn values<'a>(values: &[&'a str]) -> Vec<KeyValue<'a>> {
    values.iter().map(|it| (Some("key"), Some(*it))).collect()
}

/// Records that are left, by offset in the batch.
type Left = &'static [(i64, &'static str)];

#[test]
fn filtered_batches_keep_sequences_and_offsets_also_over_a_crash() {
    let (mut broker, mut client) = start(&[]);
    let session = Session::new(&mut client);
    // What is sent, and what is left with its offset in the batch: the last one takes the batch's last.
    let cases: [(&[&str], Left); 6] = [
        (&["d", "k1", "k2"], &[(1, "k1"), (2, "k2")]),
        (&["k3", "k4", "d"], &[(0, "k3"), (2, "k4")]),
        (&["k5", "d", "k6"], &[(0, "k5"), (2, "k6")]),
        (&["d", "d", "d"], &[]),
        (&["x1", "d", "x2"], &[(0, "new"), (2, "new")]),
        (&["k7", "k8", "k9"], &[(0, "k7"), (1, "k8"), (2, "k9")]),
    ];
    let mut want = Vec::new();
    for (at, (sent, left)) in (0..).zip(cases) {
        let batch = session.batch(3 * at, &values(sent));
        let base = client.must_produce("t", 0, batch.clone());
        assert_eq!(base, i64::from(3 * at));
        if at == 3 {
            broker.kill_and_restart();
            client = broker.client();
        }
        assert_eq!(client.must_produce("t", 0, batch), base, "a duplicate");
        want.extend(left.iter().map(|(delta, value)| (base + delta, (*value).to_owned())));
    }
    let stored: Vec<_> =
        client.read("t", 0).into_iter().map(|it| (it.offset, it.value.unwrap())).collect();
    assert_eq!(stored, want);
    let ends: Vec<_> =
        client.read_batches("t", 0).iter().map(|it| it.header.last_offset().0).collect();
    assert_eq!(ends, [2, 5, 8, 11, 14, 17]);
}

#[test]
fn a_rebuilt_batch_keeps_its_codec_keys_and_timestamps() {
    let (_broker, mut client) = start(&[]);
    for codec in Compression::ALL {
        client.must_produce("t", 0, compressed(codec, &values(&["d", "k", "x"])));
    }
    let batches = client.read_batches("t", 0);
    let kept: Vec<_> =
        batches.iter().map(|it| it.header.attributes.compression().unwrap()).collect();
    assert_eq!(kept, Compression::ALL);
    for (at, record) in client.read("t", 0).into_iter().enumerate() {
        let (value, timestamp_ms) = [("k", 1), ("new", 2)][at % 2];
        assert_eq!(record.key.as_deref(), Some("key"));
        assert_eq!(record.value.as_deref(), Some(value));
        assert_eq!(record.timestamp_ms, TIMESTAMP_MS + timestamp_ms);
    }
}

#[test]
fn a_batch_that_nothing_changes_is_stored_as_received() {
    let (_broker, mut client) = start(&[]);
    let sent = compressed(Compression::Zstd, &values(&["k1", "k2"]));
    client.must_produce("t", 0, sent);
    let batch = &client.read_batches("t", 0)[0];
    assert_eq!(batch.header.attributes.compression().unwrap(), Compression::Zstd);
    assert_eq!(client.values("t", 0), ["k1", "k2"]);
}

#[test]
fn headers_stay_with_a_changed_record() {
    let (_broker, mut client) = start(&[]);
    client.must_produce(
        "t",
        0,
        with_headers("x", &[("a", Some("1")), ("a", None), ("", Some(""))]),
    );
    let record = client.read("t", 0).remove(0);
    assert_eq!(record.value.as_deref(), Some("new"));
    let owned = |name: &str, value: Option<&str>| (name.to_owned(), value.map(str::to_owned));
    assert_eq!(record.headers, [owned("a", Some("1")), owned("a", None), owned("", Some(""))]);
}

#[test]
fn a_rejected_record_refuses_its_batch_and_takes_no_sequence_number() {
    let (_broker, mut client) = start(&[]);
    let session = Session::new(&mut client);
    let refused = client.produce("t", 0, session.batch(0, &values(&["k", "r", "d", "r"])));
    assert_eq!(refused.error_code, INVALID_RECORD);
    let indices: Vec<_> = refused.record_errors.iter().map(|it| it.batch_index).collect();
    assert_eq!(indices, [1, 3]);
    let message = refused.record_errors[0].batch_index_error_message.as_ref().unwrap();
    assert_eq!(message.as_str(), "test guest");
    assert_eq!(client.values("t", 0), Vec::<String>::new());
    client.must_produce("t", 0, session.batch(0, &values(&["k"])));
    client.must_produce("t", 0, session.batch(1, &values(&["k"])));
}

#[test]
fn a_second_transform_sees_what_the_first_one_left() {
    let (broker, mut client) = start(&[]);
    broker.load_plugin("second", &guests::by_first_letter());
    client.set_topic_config("t", "klamm.transforms", "letter,second");
    let refused = client.produce("t", 0, compressed(Compression::None, &values(&["d", "x", "r"])));
    assert_eq!(refused.record_errors[0].batch_index, 2, "by its index in the batch as sent");
    client.must_produce("t", 0, compressed(Compression::Gzip, &values(&["d", "x", "k", "d"])));
    assert_eq!(client.values("t", 0), ["new", "k"]);
    let seen = |name: &str| {
        broker.metric(&format!("klamm_plugin_records_total{{plugin=\"{name}\"}}")) as u64
    };
    // Not the records of the first batch: the first transform refused it. Each smoke call counts nothing.
    assert_eq!((seen("letter"), seen("second")), (7, 2));
}

#[test]
fn what_a_transform_left_is_routed_once_also_over_a_crash() {
    let (mut broker, mut client) = start(&[]);
    broker.load_plugin("digit", &guests::by_last_digit("1.0.0", false));
    client.create_topic(
        "both",
        3,
        &[("klamm.transforms", "letter"), ("klamm.partitioner", "digit")],
    );
    let session = Session::new(&mut client);
    let records: [KeyValue<'_>; 5] = [
        (Some("k1"), Some("d")),
        (Some("k1"), Some("x")),
        (Some("k2"), Some("keep")),
        (Some("k0"), Some("d")),
        (Some("k1"), Some("keep")),
    ];
    let sent = session.batch(0, &records);
    client.must_produce("both", 0, sent.clone());
    broker.kill_and_restart();
    let mut client = broker.client();
    client.must_produce("both", 0, sent);
    client.must_produce("both", 0, session.batch(5, &[(Some("k2"), Some("d"))]));
    client.must_produce("both", 0, session.batch(6, &[(Some("k2"), Some("end"))]));
    let stored: Vec<_> = (0..3).map(|it| client.values("both", it)).collect();
    assert_eq!(stored, [vec![], vec!["new", "keep"], vec!["keep", "end"]]);
}
