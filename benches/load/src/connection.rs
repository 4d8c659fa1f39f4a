//! Frames of the Kafka protocol over one TCP connection.

use anyhow::{Context as _, Result, ensure};
use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use kafka_protocol::{
    messages::{RequestHeader, ResponseHeader},
    protocol::{Decodable as _, Encodable as _, HeaderVersion as _, Request, StrBytes},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

const LENGTH_BYTES: usize = 4;

pub(crate) async fn connect(bootstrap: &str) -> Result<TcpStream> {
    let stream = TcpStream::connect(bootstrap).await;
    let stream = stream.with_context(|| format!("connect to {bootstrap}"))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Sends one request and waits for its answer.
pub(crate) async fn call<R: Request>(
    stream: &mut TcpStream,
    version: i16,
    request: &R,
) -> Result<R::Response> {
    stream.write_all(&frame(version, request)?).await?;
    let answer = Answers::new(stream).next().await?;
    decode::<R>(version, answer)
}

/// A request as it goes over the wire. All have the correlation id 0: answers come in the order of requests.
pub(crate) fn frame<R: Request>(version: i16, request: &R) -> Result<Bytes> {
    let header = RequestHeader::default()
        .with_request_api_key(R::KEY)
        .with_request_api_version(version)
        .with_client_id(Some(StrBytes::from_static_str("load")));
    let mut frame = BytesMut::new();
    frame.put_i32(0);
    header.encode(&mut frame, R::header_version(version))?;
    request.encode(&mut frame, version)?;
    let length = i32::try_from(frame.len() - LENGTH_BYTES)?;
    frame[..LENGTH_BYTES].copy_from_slice(&length.to_be_bytes());
    Ok(frame.freeze())
}

pub(crate) fn decode<R: Request>(version: i16, mut answer: Bytes) -> Result<R::Response> {
    ResponseHeader::decode(&mut answer, R::Response::header_version(version))?;
    R::Response::decode(&mut answer, version)
}

/// The reading half of a connection. Its buffer is used again once an answer was dropped.
pub(crate) struct Answers<R> {
    stream: R,
    buffer: BytesMut,
}

impl<R: AsyncRead + Unpin> Answers<R> {
    pub(crate) fn new(stream: R) -> Self {
        Self { stream, buffer: BytesMut::new() }
    }

    /// The next answer, less its length.
    pub(crate) async fn next(&mut self) -> Result<Bytes> {
        self.fill(LENGTH_BYTES).await?;
        let length = usize::try_from(self.buffer.get_i32()).context("a negative length")?;
        self.fill(length).await?;
        Ok(self.buffer.split_to(length).freeze())
    }

    async fn fill(&mut self, bytes: usize) -> Result<()> {
        self.buffer.reserve(bytes.saturating_sub(self.buffer.len()));
        while self.buffer.len() < bytes {
            let read = self.stream.read_buf(&mut self.buffer).await?;
            ensure!(read > 0, "the broker closed the connection");
        }
        Ok(())
    }
}
