//! A quorum of one with a registered broker, for the tests of handlers that read or change metadata.

use std::{fmt::Debug, sync::Arc, time::Duration};

use bytes::BytesMut;
use kafka_protocol::protocol::{Decodable, Encodable};
use tokio::sync::watch;

use super::{Busy, Client, Context, Mute, Published, Throttling, metadata_change::MetadataChange};
use crate::{
    base::{BrokerId, LeaderEpoch, TopicId},
    config::{Config, Listener},
    controller::{Registration, register_broker},
    coordinator::{AlertIntake, Notice},
    metadata::{
        BrokerImage, MetadataImage, MetadataRecord, PartitionImage, QuotaEntityType, QuotaValue,
        TopicImage,
    },
    quorum::Quorum,
    telemetry::Metrics,
};

pub(super) struct TestNode {
    pub(super) quorum: Arc<Quorum>,
    pub(super) config: Config,
    published: Published,
    alerts: AlertIntake,
    /// Dropped, it would end every wait.
    _publisher: watch::Sender<u64>,
    _dir: tempfile::TempDir,
}

impl TestNode {
    pub(super) async fn start() -> Self {
        Self::publishing(u64::MAX).await
    }

    /// A node whose rooms never work with a version above `version`.
    pub(super) async fn publishing(version: u64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let quorum = Quorum::start(dir.path().to_owned(), BrokerId(1)).await.unwrap();
        let registration = Registration {
            broker_id: BrokerId(1),
            listeners: vec![Listener { name: "PLAINTEXT".into(), host: "h".into(), port: 9092 }],
            rack: Some("r".into()),
        };
        let register =
            |image: &_| Ok::<_, std::convert::Infallible>(register_broker(image, registration));
        quorum.change(register).await.unwrap().unwrap();
        let (publisher, versions) = watch::channel(version);
        let (alerts, mut notices) = AlertIntake::new();
        tokio::spawn(async move {
            // Nothing is known of any transform, so there is nothing to forget.
            while let Some(Notice::Forget { done, .. }) = notices.recv().await {
                let _ = done.send(());
            }
        });
        Self {
            quorum,
            config: Config::default(),
            published: Published::new(versions),
            alerts,
            _publisher: publisher,
            _dir: dir,
        }
    }

    pub(super) fn change(&self) -> MetadataChange<'_> {
        MetadataChange {
            quorum: &self.quorum,
            config: &self.config,
            published: &self.published,
            alerts: &self.alerts,
            validate_only: false,
            timeout: Duration::from_millis(20),
        }
    }

    pub(super) fn validating(&self) -> MetadataChange<'_> {
        MetadataChange { validate_only: true, ..self.change() }
    }
}

pub(super) fn context(api_version: i16) -> Context {
    Context {
        api_version,
        throttle: None,
        details: Arc::default(),
        client_id: "".into(),
        client_host: [127, 0, 0, 1].into(),
        connection_id: 1,
        listener: "PLAINTEXT".into(),
    }
}

/// A request of a client that has this quota and has used nothing of it.
pub(super) fn throttled(api_version: i16, quota: &str, value: f64) -> Context {
    let throttling = Arc::new(Throttling::new(&Config::default().quota, &Metrics::default()));
    let mut image = MetadataImage::default();
    image.replay(&MetadataRecord::ClientQuota {
        entity: [(QuotaEntityType::User, None)].into(),
        key: quota.into(),
        value: Some(QuotaValue(value)),
    });
    throttling.apply(&image);
    let client = Client {
        host: [127, 0, 0, 1].into(),
        connection_id: 1,
        listener: "PLAINTEXT".into(),
        mute: Mute::default(),
        busy: Busy::default(),
        details: Arc::default(),
    };
    Context { throttle: throttling.of(&client, &"c".into(), 100), ..context(api_version) }
}

/// A response that sets a field which its version lacks does not encode, and the client would get nothing.
#[track_caller]
pub(super) fn encodes<R: Encodable + Decodable + PartialEq + Debug>(response: &R, version: i16) {
    let mut bytes = BytesMut::new();
    response.encode(&mut bytes, version).unwrap_or_else(|it| panic!("version {version}: {it}"));
    let mut bytes = bytes.freeze();
    R::decode(&mut bytes, version).unwrap_or_else(|it| panic!("version {version}: {it}"));
    assert!(bytes.is_empty(), "version {version} leaves {} bytes", bytes.len());
}

/// An image of one broker, which leads every partition of one topic.
pub(super) fn one_topic(name: &str, partitions: usize) -> MetadataImage {
    let mut image = MetadataImage::default();
    let listener = Listener { name: "PLAINTEXT".into(), host: "h".into(), port: 9092 };
    let broker = BrokerImage { epoch: 1, listeners: vec![listener], rack: None, fenced: false };
    image.brokers.insert(BrokerId(1), broker);
    add_topic(&mut image, name, partitions);
    image
}

pub(super) fn add_topic(image: &mut MetadataImage, name: &str, partitions: usize) {
    let partition = PartitionImage {
        leader: Some(BrokerId(1)),
        leader_epoch: LeaderEpoch(4),
        partition_epoch: 0,
        replicas: vec![BrokerId(1)],
        isr: vec![BrokerId(1)],
    };
    let id = TopicId(uuid::Uuid::from_u128(7));
    let partitions = vec![partition; partitions];
    image.topics.insert(name.into(), Arc::new(TopicImage { id, name: name.into(), partitions }));
}
