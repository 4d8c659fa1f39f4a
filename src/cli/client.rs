//! A small blocking client for the subcommands: one connection, one request at a time.

use std::{
    io::{self, Read, Write},
    net::{TcpStream, ToSocketAddrs as _},
    time::Duration,
};

use anyhow::{Context as _, bail, ensure};
use bytes::{Bytes, BytesMut};
use kafka_protocol::{
    messages::{
        MetadataRequest, MetadataResponse, RequestHeader, ResponseHeader,
        metadata_request::MetadataRequestTopic, metadata_response::MetadataResponseTopic,
    },
    protocol::{Decodable, Encodable, HeaderVersion, Request, StrBytes},
};

use crate::{base::ErrorCode, config::nearest};

/// Largest answer that it reads.
const RESPONSE_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Longer than any wait that the subcommands ask for.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(1);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Looks at a topic that is being made, and the pause between two of them.
const LOOKS_MAX: usize = 30;
const LOOK_PAUSE: Duration = Duration::from_millis(100);
/// Of a topic's name that is worth a guess.
const HINT_CHARS_MIN: usize = 4;

/// A connection to a broker.
pub(super) struct Client {
    stream: TcpStream,
    address: String,
    correlation_id: i32,
}

impl Client {
    /// To the first address of a list that answers.
    pub(super) fn connect(bootstrap: &str) -> anyhow::Result<Self> {
        let mut failure = io::Error::new(io::ErrorKind::InvalidInput, "no address was given");
        for address in bootstrap.split(',').map(str::trim).filter(|it| !it.is_empty()) {
            match connect(address) {
                Ok(stream) => return Self::over(stream, address),
                Err(error) => failure = error,
            }
        }
        Err(failure).with_context(|| format!("connect to the broker at {bootstrap}"))
    }

    fn over(stream: TcpStream, address: &str) -> anyhow::Result<Self> {
        stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        stream.set_write_timeout(Some(ANSWER_TIMEOUT))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, address: address.to_owned(), correlation_id: 0 })
    }

    /// Sends a request and reads its answer.
    pub(super) fn call<R>(&mut self, version: i16, request: &R) -> anyhow::Result<R::Response>
    where
        R: Request + Encodable + HeaderVersion,
        R::Response: Decodable + HeaderVersion,
    {
        self.correlation_id += 1;
        let frame = self.frame(version, request)?;
        self.stream.write_all(&frame).map_err(in_words).context("send the request")?;
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
        self.stream.read_exact(&mut length).map_err(in_words)?;
        // Another protocol's first bytes, such as `HTTP`, read as an absurd length.
        let length = u32::from_be_bytes(length) as usize;
        let address = &self.address;
        ensure!(length <= RESPONSE_BYTES_MAX, "no Kafka broker answers at {address}");
        let mut body = Vec::new();
        (&mut self.stream).take(length as u64).read_to_end(&mut body).map_err(in_words)?;
        ensure!(body.len() == length, "the broker closed the connection");
        Ok(body.into())
    }

    /// A topic as it is now.
    pub(super) fn topic(&mut self, name: &str) -> anyhow::Result<MetadataResponseTopic> {
        let answer = self.metadata(Some(name), false)?;
        let topic = answer.topics.into_iter().next();
        let topic = topic.context("the broker did not answer for the topic")?;
        if ErrorCode::from_code(topic.error_code) == ErrorCode::UnknownTopicOrPartition {
            bail!("there is no topic {name}{}", self.hint(name)?);
        }
        check(name, topic.error_code, None)?;
        Ok(topic)
    }

    /// Partitions of a topic, sorted; one that is made this moment is waited for.
    pub(super) fn partitions(&mut self, topic: &str) -> anyhow::Result<Vec<i32>> {
        match self.look(topic, false, LOOKS_MAX)? {
            Some(partitions) => Ok(partitions),
            None => bail!("there is no topic {topic}{}", self.hint(topic)?),
        }
    }

    /// As [`Self::partitions`], for a producer: the broker may make the topic. The second part tells whether it did.
    pub(super) fn partitions_to_produce(
        &mut self,
        topic: &str,
    ) -> anyhow::Result<(Vec<i32>, bool)> {
        if let Some(partitions) = self.look(topic, false, 1)? {
            return Ok((partitions, false));
        }
        match self.look(topic, true, LOOKS_MAX)? {
            Some(partitions) => Ok((partitions, true)),
            None => bail!(
                "there is no topic {topic}, and the broker does not make it{}",
                self.hint(topic)?
            ),
        }
    }

    /// `None` for a topic that does not exist, after so many looks.
    fn look(
        &mut self,
        topic: &str,
        create: bool,
        looks: usize,
    ) -> anyhow::Result<Option<Vec<i32>>> {
        for look in 1..=looks {
            let answer = self.metadata(Some(topic), create)?;
            let Some(found) = answer.topics.first() else {
                bail!("the broker did not answer for {topic}")
            };
            match ErrorCode::from_code(found.error_code) {
                ErrorCode::None => {
                    let mut partitions: Vec<i32> =
                        found.partitions.iter().map(|it| it.partition_index).collect();
                    partitions.sort_unstable();
                    return Ok(Some(partitions));
                }
                // It is being made, perhaps.
                ErrorCode::LeaderNotAvailable | ErrorCode::UnknownTopicOrPartition => {
                    if look < looks {
                        std::thread::sleep(LOOK_PAUSE);
                    }
                }
                code => bail!("{topic}: {code}"),
            }
        }
        Ok(None)
    }

    /// What may have been meant by a topic that does not exist, to be put behind a sentence.
    pub(super) fn hint(&mut self, topic: &str) -> anyhow::Result<String> {
        // Short names are all near to each other.
        let says_enough = |name: &str| name.chars().count() >= HINT_CHARS_MIN;
        if !says_enough(topic) {
            return Ok(String::new());
        }
        let topics = self.metadata(None, false)?.topics;
        let names = topics.iter().filter_map(|it| it.name.as_ref()).map(|it| it.as_str());
        let meant = nearest(topic, names.filter(|it| *it != topic && says_enough(it)));
        Ok(meant.map(|it| format!("; did you mean {it}?")).unwrap_or_default())
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

/// To the first of a host's addresses that takes it.
pub(super) fn connect(address: &str) -> io::Result<TcpStream> {
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// What the system says of a broker that dies or dawdles, for people.
fn in_words(error: io::Error) -> io::Error {
    use io::ErrorKind::{
        BrokenPipe, ConnectionAborted, ConnectionReset, TimedOut, UnexpectedEof, WouldBlock,
    };
    let words = match error.kind() {
        UnexpectedEof | BrokenPipe | ConnectionReset | ConnectionAborted => {
            "the broker closed the connection".into()
        }
        TimedOut | WouldBlock => format!("nothing for {} s", ANSWER_TIMEOUT.as_secs()),
        _ => return error,
    };
    io::Error::new(error.kind(), words)
}

/// Text as the protocol's messages have it.
pub(super) fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

/// The partition that was asked for, if there is one of that index.
pub(super) fn known_partition(topic: &str, partitions: &[i32], index: i32) -> anyhow::Result<i32> {
    if partitions.contains(&index) {
        return Ok(index);
    }
    match partitions {
        [] => bail!("{topic} has no partitions"),
        [only] => bail!("{topic} has no partition {index}, but {only} alone"),
        [first, .., last] => bail!("{topic} has no partition {index}, but {first} to {last}"),
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
