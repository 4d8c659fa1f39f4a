//! A small blocking client for the subcommands: one connection, one request at a time.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use anyhow::{Context as _, bail, ensure};
use bytes::{Bytes, BytesMut};
use kafka_protocol::{
    messages::{
        MetadataRequest, MetadataResponse, RequestHeader, ResponseHeader,
        metadata_request::MetadataRequestTopic,
    },
    protocol::{Decodable, Encodable, HeaderVersion, Request, StrBytes},
};

use crate::base::ErrorCode;

/// Largest answer that it reads.
const RESPONSE_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Longer than any wait that the subcommands ask for.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(1);

/// A connection to a broker.
pub(super) struct Client {
    stream: TcpStream,
    correlation_id: i32,
}

impl Client {
    pub(super) fn connect(bootstrap: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(bootstrap)
            .with_context(|| format!("connect to the broker at {bootstrap}"))?;
        stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, correlation_id: 0 })
    }

    /// Sends a request and reads its answer.
    pub(super) fn call<R>(&mut self, version: i16, request: &R) -> anyhow::Result<R::Response>
    where
        R: Request + Encodable + HeaderVersion,
        R::Response: Decodable + HeaderVersion,
    {
        self.correlation_id += 1;
        self.stream.write_all(&self.frame(version, request)?).context("send the request")?;
        let mut answer = self.read_frame().context("read the answer")?;
        let header = ResponseHeader::decode(&mut answer, R::Response::header_version(version))?;
        ensure!(header.correlation_id == self.correlation_id, "the broker answered out of order");
        R::Response::decode(&mut answer, version)
    }

    fn frame<R>(&self, version: i16, request: &R) -> anyhow::Result<BytesMut>
    where
        R: Request + Encodable + HeaderVersion,
    {
        let header = RequestHeader::default()
            .with_request_api_key(R::KEY)
            .with_request_api_version(version)
            .with_correlation_id(self.correlation_id)
            .with_client_id(Some(StrBytes::from_static_str("klamm-cli")));
        let mut frame = BytesMut::from(&[0; 4][..]);
        header.encode(&mut frame, R::header_version(version))?;
        request.encode(&mut frame, version)?;
        let length = u32::try_from(frame.len() - 4)?;
        let (prefix, _) = frame.split_at_mut(4);
        prefix.copy_from_slice(&length.to_be_bytes());
        Ok(frame)
    }

    fn read_frame(&mut self) -> anyhow::Result<Bytes> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length)?;
        let length = usize::try_from(i32::from_be_bytes(length))?;
        ensure!(length <= RESPONSE_BYTES_MAX, "an answer of {length} bytes is too large");
        let mut body = Vec::new();
        (&mut self.stream).take(length as u64).read_to_end(&mut body)?;
        ensure!(body.len() == length, "the broker closed the connection");
        Ok(body.into())
    }

    /// Partitions of a topic, sorted; makes it if the broker does so for producers. One that is made this moment is waited for.
    pub(super) fn partitions(&mut self, topic: &str, create: bool) -> anyhow::Result<Vec<i32>> {
        let attempts = if create { 50 } else { 20 };
        for attempt in 1..=attempts {
            let answer = self.metadata(Some(topic), create)?;
            let Some(found) = answer.topics.first() else {
                bail!("the broker did not answer for {topic}")
            };
            match ErrorCode::from_code(found.error_code) {
                ErrorCode::None => {
                    let mut partitions: Vec<i32> =
                        found.partitions.iter().map(|it| it.partition_index).collect();
                    partitions.sort_unstable();
                    return Ok(partitions);
                }
                // It is being made.
                ErrorCode::LeaderNotAvailable | ErrorCode::UnknownTopicOrPartition
                    if attempt < attempts =>
                {
                    std::thread::sleep(Duration::from_millis(100));
                }
                code => bail!("{topic}: {code}"),
            }
        }
        bail!("{topic} was not made in time")
    }

    /// All topics, or one.
    pub(super) fn metadata(
        &mut self,
        topic: Option<&str>,
        create: bool,
    ) -> anyhow::Result<MetadataResponse> {
        let topics = topic.map(|name| {
            let name = StrBytes::from_string(name.to_owned()).into();
            vec![MetadataRequestTopic::default().with_name(Some(name))]
        });
        let request =
            MetadataRequest::default().with_topics(topics).with_allow_auto_topic_creation(create);
        self.call(12, &request)
    }
}

/// Turns a code of an answer, with its message, into an error.
pub(super) fn check(what: &str, code: i16, message: Option<&StrBytes>) -> anyhow::Result<()> {
    match (ErrorCode::from_code(code), message) {
        (ErrorCode::None, _) => Ok(()),
        (code, Some(message)) if !message.is_empty() => bail!("{what}: {code}: {message}"),
        (code, _) => bail!("{what}: {code}"),
    }
}

/// Splits `KEY=VALUE`.
pub(super) fn key_value(text: &str) -> anyhow::Result<(StrBytes, StrBytes)> {
    let (key, value) =
        text.split_once('=').with_context(|| format!("`{text}` is not KEY=VALUE"))?;
    Ok((StrBytes::from_string(key.into()), StrBytes::from_string(value.into())))
}
