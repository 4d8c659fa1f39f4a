//! Answers around records, over sockets and over what is none.

use std::path::{Path, PathBuf};

use tokio::{
    io::{AsyncReadExt, DuplexStream, duplex},
    net::TcpListener,
    time::timeout,
};

use super::*;
use crate::{
    base::{LeaderEpoch, Offset, TimestampMs},
    config::{Config, TopicConfig, TopicConfigs},
    log::{AppendContext, Log, LogSettings},
    replica::Records,
    wire::record_batch::{BatchBuilder, Compression, RecordParts, TimestampType},
};

/// Long enough that only a hang takes it.
const HANG: Duration = Duration::from_mins(2);

impl Sink for DuplexStream {
    fn plain_socket(&self) -> Option<&TcpStream> {
        None
    }
}

/// A log of one batch for each size of a record's value.
struct Stored {
    dir: tempfile::TempDir,
    log: Log,
}

impl Stored {
    fn new(values: &[usize]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = Config::default();
        let topic = TopicConfig::resolve(&config, &"t".into(), &TopicConfigs::default());
        let settings = LogSettings::new(&topic, &config.log);
        let now = TimestampMs(1);
        let log = Log::open(dir.path().join("t-0"), settings, now).unwrap();
        for (at, &size) in values.iter().enumerate() {
            let mut builder = BatchBuilder::new(now, Compression::None);
            let value: Vec<u8> = (0..size).map(|it| (it * 31 + at) as u8).collect();
            builder.push(&RecordParts {
                offset_delta: 0,
                timestamp_delta: 0,
                key: None,
                value: Some(&value),
                headers: Vec::new(),
            });
            let timestamp_type = TimestampType::CreateTime;
            let context = AppendContext { leader_epoch: LeaderEpoch(0), now, timestamp_type };
            log.append(vec![builder.build().unwrap()], context).unwrap();
        }
        Self { dir, log }
    }

    /// Each batch between two pieces of a frame.
    fn parts(&self) -> Vec<Part> {
        let mut parts = vec![Part::Bytes(Bytes::from_static(b"begin"))];
        for offset in 0..self.log.log_end_offset().0 {
            let slice = self.log.slice(Offset(offset), Offset(offset + 1), 1, true).unwrap();
            parts.push(Part::Records(Records::from(slice.unwrap())));
            parts.push(Part::Bytes(format!("after {offset}").into()));
        }
        parts
    }

    /// What the client is to get.
    fn wanted(&self) -> Vec<u8> {
        let parts = self.parts().into_iter().map(|it| match it {
            Part::Bytes(bytes) => bytes,
            Part::Records(records) => records.slice.read().unwrap(),
        });
        parts.collect::<Vec<_>>().concat()
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join(Path::new("t-0/00000000000000000000.log"))
    }

    fn shorten_to(&self, bytes: u64) {
        let file = std::fs::OpenOptions::new().write(true).open(self.file()).unwrap();
        file.set_len(bytes).unwrap();
    }
}

async fn sockets() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    (listener.accept().await.unwrap().0, client)
}

/// Sends, and closes.
async fn send(mut socket: TcpStream, parts: Vec<Part>, stall: Duration) -> Result<(), End> {
    let (_, mut writer) = socket.split();
    Sending { writer: &mut writer, stall }.send(parts).await
}

async fn read_all(mut from: impl tokio::io::AsyncRead + Unpin) -> Vec<u8> {
    let mut bytes = Vec::new();
    timeout(HANG, from.read_to_end(&mut bytes)).await.unwrap().unwrap();
    bytes
}

/// Sizes on both sides of every limit.
const SIZES: &[&[usize]] = &[
    &[],
    &[0],
    &[10, 20, 30],
    &[COPIED_BYTES_MAX - 200, COPIED_BYTES_MAX + 1, COPIED_BYTES_MAX],
    &[GATHERED_BYTES / 5; 9],
    &[5_000_000, 1, STEP_BYTES, 3, 2 * STEP_BYTES + 7],
    &[STEP_BYTES * 3],
];

#[tokio::test]
async fn a_socket_is_sent_every_part_in_its_order() {
    for sizes in SIZES {
        let stored = Stored::new(sizes);
        let (server, client) = sockets().await;
        let (sent, got) = tokio::join!(send(server, stored.parts(), HANG), read_all(client));
        sent.unwrap();
        assert!(got == stored.wanted(), "{sizes:?}");
    }
}

#[tokio::test]
async fn what_is_not_in_the_page_cache_is_sent_all_the_same() {
    let stored = Stored::new(&[3_000_000, 10_000, 700_000]);
    let parts = stored.parts();
    let wanted = stored.wanted();
    let file = std::fs::File::open(stored.file()).unwrap();
    file.sync_all().unwrap();
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    let (server, client) = sockets().await;
    let (sent, got) = tokio::join!(send(server, parts, HANG), read_all(client));
    sent.unwrap();
    assert!(got == wanted);
}

#[tokio::test]
async fn what_is_no_plain_socket_gets_the_same() {
    for sizes in SIZES {
        let stored = Stored::new(sizes);
        let (mut server, client) = duplex(100_000);
        let sending = async {
            Sending { writer: &mut server, stall: HANG }.send(stored.parts()).await.unwrap();
            drop(server);
        };
        let ((), got) = tokio::join!(sending, read_all(client));
        assert!(got == stored.wanted(), "{sizes:?}");
    }
}

#[tokio::test]
async fn records_that_are_gone_end_the_connection_and_nothing_stands_for_them() {
    for (sizes, kept) in [(&[2_000_000][..], 1_000_000), (&[100, 2_000], 300), (&[40_000], 0)] {
        let stored = Stored::new(sizes);
        let (parts, wanted) = (stored.parts(), stored.wanted());
        stored.shorten_to(kept);
        let (server, client) = sockets().await;
        let (sent, got) = tokio::join!(send(server, parts, HANG), read_all(client));
        assert!(matches!(sent, Err(End::Unreadable(_))), "{sizes:?}: {sent:?}");
        assert!(got.len() < wanted.len() && wanted.starts_with(&got), "{sizes:?}");
    }
}

#[tokio::test]
async fn a_client_that_takes_nothing_is_left() {
    let stored = Stored::new(&[30_000_000]);
    let (server, client) = sockets().await;
    let sent = timeout(HANG, send(server, stored.parts(), Duration::from_millis(20))).await;
    assert!(matches!(sent.unwrap(), Err(End::Stalled(_))));
    drop(client);
}

#[tokio::test]
async fn a_client_that_leaves_is_no_trouble_with_records() {
    let stored = Stored::new(&[30_000_000]);
    let (server, client) = sockets().await;
    let leaving = async {
        let mut client = client;
        client.read_exact(&mut [0; 1000]).await.unwrap();
    };
    let (sent, ()) = tokio::join!(send(server, stored.parts(), HANG), leaving);
    assert!(matches!(sent, Err(End::Io(_))), "{sent:?}");
}
