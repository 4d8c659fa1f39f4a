//! Connections against a service of a few lines: what a frame's first byte asks for is what becomes of it.

use std::{sync::Arc, time::Duration};

use bytes::{BufMut, Bytes, BytesMut};
use futures_util::FutureExt;
use parking_lot::Mutex;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::Semaphore,
    task::JoinHandle,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::{ConnectionQuotas, Limits, Server, Service, bind};
use crate::{
    api::{Answer, Client, CloseReason, Outcome},
    config::{Config, Listener, NetConfig},
    metadata::MetadataImage,
    telemetry::Metrics,
    wire::DecodeError,
};

mod budget;
mod connection_limits;
mod leaving;
mod stopping;

/// Long enough that only a hang takes it.
const HANG: Duration = Duration::from_mins(2);

/// A body's first byte says what to do with the whole.
mod ask {
    /// Answer with the body, at once.
    pub(super) const ECHO: u8 = b'e';
    /// Answer with the body once the gate lets one through; the next request waits.
    pub(super) const EXCLUSIVE: u8 = b'x';
    /// The same, but the request's own bytes are not needed for the answer.
    pub(super) const WAITING: u8 = b'w';
    /// Answer with the body once the client has said all.
    pub(super) const LONG_POLL: u8 = b'l';
    /// As exclusive, but the next request need not wait.
    pub(super) const PIPELINED: u8 = b'p';
    /// Pipelined, and there will be no answer.
    pub(super) const SILENT: u8 = b's';
    pub(super) const CLOSE: u8 = b'c';
    /// Answer with 64 MiB.
    pub(super) const HUGE: u8 = b'h';
    /// Answer with the body, and read no further for an hour.
    pub(super) const MUTE: u8 = b'm';
    /// Twice: an API of short requests.
    pub(super) const SHORT: u8 = b'b';
}

/// Bytes of a request that begins with [`ask::SHORT`].
const SHORT_BYTES_MAX: usize = 50;

struct Asked {
    gate: Arc<Semaphore>,
    begun: Arc<Mutex<Vec<Bytes>>>,
}

impl Asked {
    /// Needs its request until the gate lets it through.
    fn after_gate(&self, frame: Bytes) -> impl Future<Output = Answer> + Send + 'static {
        let gate = Arc::clone(&self.gate);
        async move {
            gate.acquire().await.unwrap().forget();
            Answer::Frame(framed(&frame))
        }
    }
}

impl Service for Asked {
    fn frame_bytes_max(&self, api_key: i16) -> Option<usize> {
        (api_key.to_be_bytes() == [ask::SHORT; 2]).then_some(SHORT_BYTES_MAX)
    }

    fn counts_time(&self) -> bool {
        true
    }

    fn ended(&self, _client: &Client) {}

    fn call(&self, client: &Client, frame: Bytes) -> Outcome {
        self.begun.lock().push(Bytes::copy_from_slice(&frame));
        match frame.first() {
            Some(&ask::ECHO) => Outcome::Ready(Answer::Frame(framed(&frame))),
            Some(&ask::MUTE) => {
                client.mute.hold(Duration::from_hours(1));
                Outcome::Ready(Answer::Frame(framed(&frame)))
            }
            Some(&ask::EXCLUSIVE) => Outcome::Exclusive(self.after_gate(frame).boxed()),
            Some(&ask::WAITING) => {
                let copied = Bytes::copy_from_slice(&frame);
                Outcome::Exclusive(self.after_gate(copied).boxed())
            }
            Some(&ask::LONG_POLL) => {
                let said_all = client.details.said_all.clone();
                let polled = async move {
                    said_all.cancelled().await;
                    Answer::Frame(framed(&frame))
                };
                Outcome::Exclusive(polled.boxed())
            }
            Some(&ask::PIPELINED) => Outcome::Pipelined(self.after_gate(frame).boxed()),
            Some(&ask::SILENT) => Outcome::Pipelined(async { Answer::NoResponse }.boxed()),
            Some(&ask::HUGE) => Outcome::Ready(Answer::Frame(framed(&vec![0; 64 << 20]))),
            _ => {
                Outcome::Ready(Answer::Close(CloseReason::Undecodable(DecodeError::UnknownApi(0))))
            }
        }
    }
}

fn framed(body: &[u8]) -> Bytes {
    let mut frame = BytesMut::new();
    frame.put_i32(body.len() as i32);
    frame.put_slice(body);
    frame.freeze()
}

struct Node {
    port: u16,
    gate: Arc<Semaphore>,
    begun: Arc<Mutex<Vec<Bytes>>>,
    quotas: Arc<ConnectionQuotas>,
    metrics: Metrics,
    stop: CancellationToken,
    serving: JoinHandle<()>,
}

impl Node {
    async fn start() -> Self {
        Self::with(|_| {}).await
    }

    async fn with(change: impl FnOnce(&mut Limits)) -> Self {
        let config = crate::config::Config::default();
        let mut limits = Limits::new(&NetConfig { request_max_bytes: 1 << 20, ..config.net });
        change(&mut limits);
        let listener = Listener { name: "TEST".into(), host: "127.0.0.1".into(), port: 0 };
        let bound = bind(&listener).await.unwrap();
        let (gate, begun) = (Arc::new(Semaphore::new(0)), Arc::default());
        let asked = Asked { gate: Arc::clone(&gate), begun: Arc::clone(&begun) };
        let (metrics, stop) = (Metrics::default(), CancellationToken::new());
        let port = bound.address().port();
        let quotas = ConnectionQuotas::new(&Config::default(), usize::MAX);
        let server = Server::new(asked, limits, quotas.clone(), &metrics);
        let serving = tokio::spawn(server.serve(bound, stop.clone()));
        Self { port, gate, begun, quotas, metrics, stop, serving }
    }

    /// With other limits of connections.
    async fn with_net(change: impl FnOnce(&mut NetConfig)) -> Self {
        let node = Self::start().await;
        node.alter(change);
        node
    }

    fn alter(&self, change: impl FnOnce(&mut NetConfig)) {
        let mut net = NetConfig::default();
        change(&mut net);
        self.quotas.apply(&net, &MetadataImage::default());
    }

    async fn connect(&self) -> Peer {
        Peer(TcpStream::connect(("127.0.0.1", self.port)).await.unwrap())
    }

    /// What has been begun so far.
    fn begun(&self) -> Vec<Bytes> {
        self.begun.lock().clone()
    }

    /// Waits until so many requests have been begun.
    async fn until_begun(&self, count: usize) {
        let begun = async {
            while self.begun.lock().len() < count {
                tokio::task::yield_now().await;
            }
        };
        timeout(HANG, begun).await.unwrap();
    }

    /// Another client is served meanwhile.
    async fn assert_serves_others(&self) {
        let mut other = self.connect().await;
        other.send(b"echo").await;
        assert_eq!(other.receive().await.as_deref(), Some(b"echo".as_slice()));
    }
}

struct Peer(TcpStream);

impl Peer {
    async fn send(&mut self, body: &[u8]) {
        self.0.write_all(&framed(body)).await.unwrap();
    }

    /// The next answer; `None` once the connection is closed.
    async fn receive(&mut self) -> Option<Vec<u8>> {
        let read = async {
            let length = self.0.read_i32().await.ok()?;
            let mut body = vec![0; length as usize];
            self.0.read_exact(&mut body).await.ok()?;
            Some(body)
        };
        timeout(HANG, read).await.expect("an answer or the end of the connection")
    }

    async fn assert_answer(&mut self, body: &[u8]) {
        assert_eq!(self.receive().await.as_deref(), Some(body));
    }

    async fn assert_closed(&mut self) {
        assert_eq!(self.receive().await, None);
    }
}

#[tokio::test]
async fn a_request_that_trickles_in_is_answered() {
    let node = Node::start().await;
    let mut peer = node.connect().await;
    for byte in framed(b"echo it") {
        peer.0.write_all(&[byte]).await.unwrap();
        peer.0.flush().await.unwrap();
    }
    peer.assert_answer(b"echo it").await;
}

#[tokio::test]
async fn pipelined_requests_begin_at_once_and_are_answered_in_order() {
    let node = Node::start().await;
    let mut peer = node.connect().await;
    peer.send(b"p1").await;
    peer.send(b"silent").await;
    peer.send(b"p2").await;
    peer.send(b"echo").await;
    node.until_begun(4).await;
    node.gate.add_permits(2);
    for want in [b"p1".as_slice(), b"p2", b"echo"] {
        peer.assert_answer(want).await;
    }
}

#[tokio::test]
async fn what_follows_an_exclusive_request_waits_for_its_answer() {
    let node = Node::start().await;
    let mut peer = node.connect().await;
    peer.send(b"x").await;
    peer.send(b"echo").await;
    node.until_begun(1).await;
    // Another connection goes its whole way meanwhile, and the second request still has not begun.
    node.assert_serves_others().await;
    assert_eq!(node.begun(), ["x", "echo"]);
    node.gate.add_permits(1);
    peer.assert_answer(b"x").await;
    peer.assert_answer(b"echo").await;
    assert_eq!(node.begun().len(), 3);
}

#[tokio::test]
async fn a_pipeline_is_bounded() {
    let node = Node::start().await;
    let mut peer = node.connect().await;
    let sent = 4 * super::limits::PIPELINE_MAX;
    for _ in 0..sent {
        peer.send(b"p").await;
    }
    // One queue that is full, one set that is full, one in the reader's hand.
    let most = 2 * super::limits::PIPELINE_MAX + 1;
    node.until_begun(most).await;
    node.assert_serves_others().await;
    assert_eq!(node.begun().len(), most + 1);
    node.gate.add_permits(sent);
    for _ in 0..sent {
        peer.assert_answer(b"p").await;
    }
}

#[tokio::test]
async fn hostile_lengths_close_the_connection_and_no_other() {
    let node = Node::start().await;
    for length in [-1, i32::MIN, i32::MAX, (1 << 20) + 1] {
        let mut peer = node.connect().await;
        peer.0.write_i32(length).await.unwrap();
        peer.assert_closed().await;
        node.assert_serves_others().await;
    }
    assert!(node.metrics.encode().contains("klamm_connections_closed_total{reason=\"frame\"} 4"));
}

#[tokio::test]
async fn a_long_request_of_an_api_of_short_ones_is_not_read() {
    let node = Node::start().await;
    let mut peer = node.connect().await;
    peer.0.write_i32(SHORT_BYTES_MAX as i32 + 1).await.unwrap();
    // Byte by byte, and no more of it than tells what it is.
    for byte in [ask::SHORT; 2] {
        peer.0.write_all(&[byte]).await.unwrap();
        peer.0.flush().await.unwrap();
    }
    peer.assert_closed().await;
    assert!(node.metrics.encode().contains("klamm_request_inflight_bytes 0"));
    let mut peer = node.connect().await;
    peer.send(&[ask::SHORT; SHORT_BYTES_MAX]).await;
    peer.assert_closed().await;
    assert_eq!(node.begun()[0].len(), SHORT_BYTES_MAX);
    assert!(node.metrics.encode().contains("klamm_connections_closed_total{reason=\"frame\"} 1"));
}

#[tokio::test]
async fn a_connection_that_is_closed_for_a_request_has_got_the_answers_before_it() {
    let node = Node::start().await;
    let mut peer = node.connect().await;
    peer.send(b"p").await;
    peer.send(&[ask::CLOSE]).await;
    node.until_begun(2).await;
    node.gate.add_permits(1);
    peer.assert_answer(b"p").await;
    peer.assert_closed().await;
}

#[tokio::test]
async fn what_was_asked_before_a_frame_that_is_none_is_answered() {
    for (ending, reason) in [([255; 4].as_slice(), "frame"), (&[0, 0, 0, 9, ask::ECHO], "io")] {
        let node = Node::start().await;
        let mut peer = node.connect().await;
        peer.send(b"p1").await;
        peer.send(b"p2").await;
        peer.0.write_all(ending).await.unwrap();
        peer.0.shutdown().await.unwrap();
        node.until_begun(2).await;
        node.assert_serves_others().await;
        node.gate.add_permits(2);
        peer.assert_answer(b"p1").await;
        peer.assert_answer(b"p2").await;
        peer.assert_closed().await;
        node.stop.cancel();
        timeout(HANG, node.serving).await.unwrap().unwrap();
        let closed = format!("klamm_connections_closed_total{{reason=\"{reason}\"}} 1");
        assert!(node.metrics.encode().contains(&closed), "{closed}");
    }
}

#[tokio::test]
async fn a_silent_connection_is_closed_unless_it_waits_for_an_answer() {
    let node = Node::with(|it| it.idle = Duration::from_secs(2)).await;
    let mut silent = node.connect().await;
    let mut waiting = node.connect().await;
    waiting.send(b"p").await;
    node.until_begun(1).await;
    silent.assert_closed().await;
    // The other was silent for as long.
    node.gate.add_permits(1);
    waiting.assert_answer(b"p").await;
    waiting.assert_closed().await;
}

#[tokio::test]
async fn a_client_above_its_quota_is_held_no_longer_than_it_stays_or_may_be_idle() {
    let node = Node::with(|it| it.idle = Duration::from_secs(2)).await;
    let mut left = node.connect().await;
    left.send(&[ask::MUTE]).await;
    left.assert_answer(&[ask::MUTE]).await;
    left.0.shutdown().await.unwrap();
    left.assert_closed().await;
    let mut stays = node.connect().await;
    stays.send(&[ask::MUTE]).await;
    stays.send(b"echo").await;
    stays.assert_answer(&[ask::MUTE]).await;
    stays.assert_closed().await;
    assert!(!node.begun().contains(&Bytes::from_static(b"echo")));
    assert!(node.metrics.encode().contains("klamm_connections_closed_total{reason=\"idle\"} 1"));
}

#[tokio::test]
async fn a_client_that_does_not_read_is_left_and_holds_up_nobody() {
    let node = Node::with(|it| it.write_stall = Duration::from_millis(50)).await;
    let mut slow = node.connect().await;
    slow.send(&[ask::HUGE]).await;
    slow.send(&[ask::ECHO]).await;
    node.until_begun(1).await;
    node.assert_serves_others().await;
    let stalled = "klamm_connections_closed_total{reason=\"stalled\"} 1";
    let closed = async {
        while !node.metrics.encode().contains(stalled) {
            tokio::task::yield_now().await;
        }
    };
    timeout(HANG, closed).await.unwrap();
    // Its next request was never begun: large answers do not pile up.
    assert_eq!(node.begun().iter().filter(|it| ***it == [ask::ECHO]).count(), 0);
}
