//! The protocol, raw: a request of any version out, its response in; or any bytes at all.

use std::{
    io::{self, Read, Write},
    marker::PhantomData,
    net::{Shutdown, SocketAddr, TcpStream},
    time::Duration,
};

use bytes::{BufMut, Bytes, BytesMut};
use kafka_protocol::{
    messages::{ApiKey, RequestHeader, ResponseHeader},
    protocol::{Decodable, Encodable, HeaderVersion, Request, encode_request_header_into_buffer},
};
use socket2::SockRef;

use super::PATIENCE;

/// One connection. Calls block, at most for [`PATIENCE`].
pub(crate) struct Client {
    stream: TcpStream,
    correlation_id: i32,
}

/// A request whose response has not been read yet. Responses are read in the order of their requests.
#[must_use]
pub(crate) struct Sent<R> {
    version: i16,
    correlation_id: i32,
    request: PhantomData<R>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the broker listens");
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Self { stream, correlation_id: 0 }
    }

    /// Sends a request and waits for its response.
    #[track_caller]
    pub(crate) fn call<R: Request>(&mut self, version: i16, request: &R) -> R::Response {
        let sent = self.send(version, request);
        self.receive(sent)
    }

    /// As [`Client::call`]; `None` when the connection ends.
    pub(crate) fn try_call<R: Request>(
        &mut self,
        version: i16,
        request: &R,
    ) -> Option<R::Response> {
        self.correlation_id += 1;
        let frame = frame(R::KEY, version, self.correlation_id, request);
        self.stream.write_all(&frame).ok()?;
        let mut frame = self.receive_frame().ok()?;
        let header_version = <R::Response as HeaderVersion>::header_version(version);
        ResponseHeader::decode(&mut frame, header_version).unwrap();
        Some(R::Response::decode(&mut frame, version).unwrap())
    }

    /// Sends a request; others may follow before its response is read. Of a producer's request with `acks=0` there is
    /// none: forget what this returns.
    #[track_caller]
    pub(crate) fn send<R: Request>(&mut self, version: i16, request: &R) -> Sent<R> {
        self.correlation_id += 1;
        let frame = frame(R::KEY, version, self.correlation_id, request);
        self.stream.write_all(&frame).expect("the broker takes a request");
        Sent { version, correlation_id: self.correlation_id, request: PhantomData }
    }

    #[track_caller]
    pub(crate) fn receive<R: Request>(&mut self, sent: Sent<R>) -> R::Response {
        let mut frame = self.receive_frame().expect("the broker answers");
        let header_version = <R::Response as HeaderVersion>::header_version(sent.version);
        let header = ResponseHeader::decode(&mut frame, header_version).unwrap();
        assert_eq!(header.correlation_id, sent.correlation_id, "answers come in order");
        let response = R::Response::decode(&mut frame, sent.version).unwrap();
        assert!(frame.is_empty(), "{} bytes are left after a response", frame.len());
        response
    }

    /// Any bytes, their length not put before them.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// The next frame, less its length.
    ///
    /// # Errors
    ///
    /// The connection is closed, or there is none in time.
    pub(crate) fn receive_frame(&mut self) -> io::Result<Bytes> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length)?;
        let mut frame = vec![0; usize::try_from(i32::from_be_bytes(length)).unwrap()];
        self.stream.read_exact(&mut frame)?;
        Ok(frame.into())
    }

    /// Ends what is sent, and goes on to listen.
    pub(crate) fn say_no_more(&mut self) {
        self.stream.shutdown(Shutdown::Write).unwrap();
    }

    /// Leaves as a client does whose process is killed with answers unread.
    pub(crate) fn reset(self) {
        SockRef::from(&self.stream).set_linger(Some(Duration::ZERO)).unwrap();
    }

    /// How long [`Client::receive_frame`] waits.
    pub(crate) fn set_patience(&mut self, patience: Duration) {
        self.stream.set_read_timeout(Some(patience)).unwrap();
    }
}

/// A whole request frame, its length included.
pub(crate) fn frame(
    api_key: i16,
    version: i16,
    correlation_id: i32,
    body: &impl Encodable,
) -> BytesMut {
    let mut encoded = BytesMut::new();
    body.encode(&mut encoded, version).expect("the request fits its version");
    frame_of(api_key, version, correlation_id, &encoded)
}

/// A request frame around any body.
pub(crate) fn frame_of(api_key: i16, version: i16, correlation_id: i32, body: &[u8]) -> BytesMut {
    let header = RequestHeader::default()
        .with_request_api_key(api_key)
        .with_request_api_version(version)
        .with_correlation_id(correlation_id)
        .with_client_id(Some("it".into()));
    let mut frame = BytesMut::new();
    frame.put_i32(0);
    encode_request_header_into_buffer(&mut frame, &header).expect("the key is known");
    frame.put_slice(body);
    let length = i32::try_from(frame.len() - 4).unwrap();
    frame[..4].copy_from_slice(&length.to_be_bytes());
    debug_assert!(ApiKey::try_from(api_key).is_ok());
    frame
}
