//! An answer that is under way is what was there when it was asked for, however slowly it is taken and whatever becomes of the
//! topic meanwhile.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
};

use bytes::Bytes;
use kafka_protocol::{
    messages::{
        FetchRequest, FetchResponse,
        fetch_request::{FetchPartition, FetchTopic},
    },
    protocol::{Decodable as _, Encodable as _, StrBytes},
};
use klamm::wire::record_batch::split;
use socket2::{Domain, SockRef, Socket, Type};

use crate::support::{Broker, Client, PATIENCE, batch, eventually, frame_of};

/// More than the system keeps for a connection.
const SEGMENT_BYTES: usize = 16 << 20;
const VALUE_BYTES: usize = 1_000_000;
const FETCH_VERSION: i16 = 11;

/// A broker that does at once what it does now and then.
fn broker() -> Broker {
    Broker::with(&[("log.retention.check.interval.ms", "50"), ("log.cleaner.backoff.ms", "50")])
}

/// Two keys again and again, until the first segment is full and another one begun.
fn fill(client: &mut Client) {
    let configs = [
        ("segment.bytes", SEGMENT_BYTES.to_string()),
        ("retention.ms", "-1".to_owned()),
        ("file.delete.delay.ms", "0".to_owned()),
        ("min.cleanable.dirty.ratio", "0.01".to_owned()),
    ];
    client.create_topic("t", 1, &configs.each_ref().map(|(name, value)| (*name, value.as_str())));
    for at in 0..SEGMENT_BYTES / VALUE_BYTES + 2 {
        let (key, value) = (format!("k{}", at % 2), format!("{at:08}").repeat(VALUE_BYTES / 8));
        client.must_produce("t", 0, batch(&[(Some(&key), Some(&value))]));
    }
}

fn request() -> FetchRequest {
    let max_bytes = i32::try_from(2 * SEGMENT_BYTES).unwrap();
    let partition = FetchPartition::default().with_partition_max_bytes(max_bytes);
    let topic = FetchTopic::default()
        .with_topic(StrBytes::from_static_str("t").into())
        .with_partitions(vec![partition]);
    FetchRequest::default().with_max_bytes(max_bytes).with_topics(vec![topic])
}

fn records(response: &FetchResponse) -> Bytes {
    let answered = &response.responses[0].partitions[0];
    assert_eq!(answered.error_code, 0);
    answered.records.clone().unwrap()
}

/// An answer of which little was taken so far.
struct Slow {
    stream: TcpStream,
    taken: Vec<u8>,
}

impl Slow {
    fn ask(broker: &Broker) -> Self {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        // Before it is connected: the window that it announces follows from it.
        SockRef::from(&socket).set_recv_buffer_size(4096).unwrap();
        socket.connect(&broker.address().into()).unwrap();
        let mut stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut body = bytes::BytesMut::new();
        request().encode(&mut body, FETCH_VERSION).unwrap();
        stream.write_all(&frame_of(1, FETCH_VERSION, 1, &body)).unwrap();
        let mut taken = vec![0; 1_000];
        stream.read_exact(&mut taken).unwrap();
        Self { stream, taken }
    }

    fn take_the_rest(mut self) -> FetchResponse {
        let length = i32::from_be_bytes(*self.taken.first_chunk().unwrap());
        let begun = self.taken.len();
        self.taken.resize(4 + usize::try_from(length).unwrap(), 0);
        SockRef::from(&self.stream).set_recv_buffer_size(1 << 20).unwrap();
        self.stream.read_exact(&mut self.taken[begun..]).unwrap();
        // The length, and the header of its answer: the number of its request.
        let mut body = Bytes::from(self.taken).slice(8..);
        FetchResponse::decode(&mut body, FETCH_VERSION).unwrap()
    }
}

/// Whether the broker holds a file open that is gone: what is still to be sent is nowhere else.
fn holds_a_file_that_is_gone(broker: &Broker) -> bool {
    let open = fs::read_dir(broker.proc("fd")).unwrap().map(|it| it.unwrap().path());
    let mut targets = open.filter_map(|it| fs::read_link(it).ok());
    targets.any(|it| {
        let name = it.to_string_lossy().into_owned();
        name.contains("00000000000000000000.log") && name.ends_with("(deleted)")
    })
}

/// Changes the topic while an answer is under way, which is the same as before then.
fn check(change: impl FnOnce(&mut Client)) {
    let broker = broker();
    let mut client = broker.client();
    fill(&mut client);
    let want = records(&client.call(FETCH_VERSION, &request()));
    assert!(want.len() > SEGMENT_BYTES - 2 * VALUE_BYTES, "{}", want.len());
    let slow = Slow::ask(&broker);

    change(&mut client);
    eventually("its file is gone", || holds_a_file_that_is_gone(&broker).then_some(()));

    let got = records(&slow.take_the_rest());
    assert!(got == want, "{} of {} bytes are others", got.len(), want.len());
    let batches = split(got).unwrap();
    assert_eq!(batches.len(), SEGMENT_BYTES / VALUE_BYTES);
    for batch in batches {
        batch.validate().unwrap();
    }
}

#[test]
fn an_answer_arrives_whole_though_its_topic_is_deleted() {
    check(|client| client.delete_topic("t"));
}

#[test]
fn an_answer_arrives_whole_though_its_topic_is_compacted() {
    check(|client| client.set_topic_config("t", "cleanup.policy", "compact"));
}

#[test]
fn an_answer_arrives_whole_though_retention_takes_its_segment() {
    check(|client| client.set_topic_config("t", "retention.bytes", "1"));
}
