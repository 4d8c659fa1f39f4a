//! A frame's way to its handler and back: header, version check, guard, decode; then encode, with panics caught and
//! requests counted. All of it stands here once, around the table of `api`.

use std::{any::Any, panic::AssertUnwindSafe, sync::Arc, time::Instant};

use bytes::Bytes;
use futures_util::{FutureExt, future::BoxFuture};
use kafka_protocol::{
    messages::{ApiKey, FetchResponse},
    protocol::{Decodable, Encodable},
};
use prometheus_client::metrics::{
    counter::Counter,
    family::Family,
    histogram::{Histogram, exponential_buckets},
};

use super::{
    Answer, Api, Client, CloseReason, Context, Outcome, Part, Rooms, api_versions, begin,
    error_codes::ErrorCodes, served, throttle_time::ThrottleTime,
};
use crate::{
    base::ErrorCode,
    produce::Soon,
    replica::Records,
    telemetry::Metrics,
    wire::{DecodeError, fetch_response, frame, guard, header::RequestHeader},
};

/// Serves the requests of all connections.
pub struct Requests {
    rooms: Arc<Rooms>,
    metrics: RequestMetrics,
}

impl Requests {
    /// Registers its metrics, so it is made once.
    pub fn new(rooms: Arc<Rooms>) -> Self {
        let metrics = RequestMetrics::register(&rooms.metrics);
        Self { rooms, metrics }
    }

    /// Begins a request. A handler that panics, at once or later, closes its connection and nothing else.
    pub fn call(&self, client: &Client, frame: Bytes) -> Outcome {
        self.try_call(client, frame).unwrap_or_else(|reason| Outcome::Ready(Answer::Close(reason)))
    }

    /// Whether the time that connections take is counted now, for quotas of it.
    pub fn counts_time(&self) -> bool {
        self.rooms.throttling.counts_time()
    }

    /// Charges a connection that has ended for what is left.
    pub fn ended(&self, client: &Client) {
        self.rooms.throttling.ended(client);
    }

    fn try_call(&self, client: &Client, mut frame: Bytes) -> Result<Outcome, CloseReason> {
        let header = RequestHeader::parse(&mut frame)?;
        let Some(api) = served(header.api_key, header.api_version) else {
            return refuse(&header);
        };
        guard::check(api.key, header.api_version, &frame)?;
        let mut context = client.context(&header);
        context.throttle = self.rooms.throttling.of(client, &context.client_id, frame.len());
        let request = Request {
            api_key: api.key,
            api: api.name,
            correlation_id: header.correlation_id,
            context,
            errors: self.metrics.errors.clone(),
        };
        let started = Instant::now();
        let begun =
            std::panic::catch_unwind(AssertUnwindSafe(|| begin(&self.rooms, request, frame)))
                .unwrap_or_else(|panic| Err(panicked(api.name, &*panic)))?;
        Ok(self.metrics.observe(api, started, begun))
    }
}

/// A version that nobody serves closes the connection, but for `ApiVersions`: its answer in version 0 tells a client
/// which version to ask in (KIP-35, KIP-511).
fn refuse(header: &RequestHeader) -> Result<Outcome, CloseReason> {
    let (key, version) = (header.api_key, header.api_version);
    if key != ApiKey::ApiVersions {
        return Err(CloseReason::Unserved { key: key as i16, version });
    }
    let response = api_versions::unsupported_version();
    let frame = frame::encode_response(header.correlation_id, 0, &response, 0)
        .map_err(|error| CloseReason::unencodable("ApiVersions", &error))?;
    Ok(Outcome::Ready(Answer::Frame(frame)))
}

/// Decodes a body that the guard has let pass. What follows the body is ignored, as Kafka does.
pub(super) fn decode<T: Decodable>(mut body: Bytes, version: i16) -> Result<T, DecodeError> {
    T::decode(&mut body, version).map_err(|error| DecodeError::Body(format!("{error:#}")))
}

/// A request on its way: what its answer needs.
pub(super) struct Request {
    pub(super) api_key: ApiKey,
    api: &'static str,
    correlation_id: i32,
    pub(super) context: Context,
    errors: Family<ErrorLabels, Counter>,
}

impl Request {
    /// The outcome of a handler that the connection's next request waits for.
    pub(super) fn exclusive<R: Encodable + ErrorCodes + ThrottleTime>(
        self,
        response: impl Future<Output = R> + Send + 'static,
    ) -> Outcome {
        Outcome::Exclusive(async move { self.answer_in_quota(response.await) }.boxed())
    }

    /// The outcome of a call that has fixed its place in the order already.
    pub(super) fn pipelined<R: Encodable + ErrorCodes + ThrottleTime + Send + 'static>(
        self,
        response: Soon<Result<Option<R>, CloseReason>>,
    ) -> Outcome {
        match response.map(move |it| self.answer_if_any(it)) {
            Soon::Now(answer) => Outcome::Ready(answer),
            Soon::Later(answer) => Outcome::Pipelined(answer),
        }
    }

    fn answer_if_any<R: Encodable + ErrorCodes + ThrottleTime>(
        &self,
        response: Result<Option<R>, CloseReason>,
    ) -> Answer {
        match response {
            Ok(Some(response)) => self.answer_in_quota(response),
            Ok(None) => {
                self.context.throttle.as_ref().inspect(|it| it.unanswered());
                Answer::NoResponse
            }
            Err(reason) => {
                if let CloseReason::Unanswered(code) = reason {
                    self.count_error(code);
                }
                Answer::Close(reason)
            }
        }
    }

    /// The outcome of a fetch, whose records are sent from where they are.
    pub(super) fn fetched(
        self,
        response: impl Future<Output = (FetchResponse, Vec<Records>)> + Send + 'static,
    ) -> Outcome {
        let answer = async move {
            let (response, records) = response.await;
            self.answer_around(&response, records)
        };
        Outcome::Exclusive(answer.boxed())
    }

    fn count_error(&self, code: ErrorCode) {
        let labels = [("api", self.api.to_owned()), ("error", code.to_string())];
        self.errors.get_or_create(&labels).inc();
    }

    fn count_errors(&self, response: &impl ErrorCodes) {
        for code in response.error_codes().filter(|it| *it != 0) {
            self.count_error(ErrorCode::from_code(code));
        }
    }

    /// Tells the client for how long it is held back for the time that the request has taken; a fetch has asked before.
    fn answer_in_quota(&self, mut response: impl Encodable + ErrorCodes + ThrottleTime) -> Answer {
        if let Some(throttle) = &self.context.throttle {
            let told = response.throttle_time_ms();
            let ms = throttle.answered(told.as_deref().copied().unwrap_or(0));
            if let Some(told) = told {
                *told = ms;
            }
        }
        self.answer(&response)
    }

    fn answer(&self, response: &(impl Encodable + ErrorCodes)) -> Answer {
        self.count_errors(response);
        let version = self.context.api_version;
        let header_version = self.api_key.response_header_version(version);
        match frame::encode_response(self.correlation_id, header_version, response, version) {
            Ok(frame) => Answer::Frame(frame),
            Err(error) => Answer::Close(CloseReason::unencodable(self.api, &error)),
        }
    }

    fn answer_around(&self, response: &FetchResponse, records: Vec<Records>) -> Answer {
        if records.is_empty() {
            return self.answer(response);
        }
        self.count_errors(response);
        let version = self.context.api_version;
        let header_version = self.api_key.response_header_version(version);
        let lengths: Vec<_> = records.iter().map(|it| it.slice.len()).collect();
        let pieces = fetch_response::encode_around(
            self.correlation_id,
            header_version,
            response,
            version,
            &lengths,
        );
        match pieces {
            Ok(pieces) => Answer::Parts(alternate(pieces, records)),
            Err(error) => Answer::Close(CloseReason::unencodable(self.api, &error)),
        }
    }
}

/// Records between the pieces of their frame.
fn alternate(pieces: Vec<Bytes>, records: Vec<Records>) -> Vec<Part> {
    let mut records = records.into_iter();
    let parts = pieces.into_iter().flat_map(|piece| {
        [Some(Part::Bytes(piece)), records.next().map(Part::Records)].into_iter().flatten()
    });
    parts.filter(|it| it.len() > 0).collect()
}

/// Counts requests and how long they take, waiting included; `Fetch` and `JoinGroup` wait on purpose.
struct RequestMetrics {
    requests: Family<ApiLabel, Counter>,
    errors: Family<ErrorLabels, Counter>,
    seconds: Family<ApiLabel, Histogram>,
}

type ApiLabel = [(&'static str, &'static str); 1];
/// As many as there are APIs and Kafka's codes.
type ErrorLabels = [(&'static str, String); 2];

impl RequestMetrics {
    fn register(metrics: &Metrics) -> Self {
        let requests = Family::default();
        let errors = Family::default();
        let seconds = Family::new_with_constructor(request_seconds as fn() -> Histogram);
        metrics.register(|registry| {
            let help = "Requests begun, by API";
            registry.register("klamm_requests", help, requests.clone());
            let help =
                "Errors in answers, by API and Kafka's code; one for each partition or other part";
            registry.register("klamm_request_errors", help, errors.clone());
            let help = "Seconds from a request's arrival to its answer, by API";
            registry.register("klamm_request_seconds", help, seconds.clone());
        });
        Self { requests, errors, seconds }
    }

    /// Counts a request and wraps what is still to come of it.
    fn observe(&self, api: &'static Api, started: Instant, outcome: Outcome) -> Outcome {
        let label = [("api", api.name)];
        self.requests.get_or_create(&label).inc();
        let seconds = self.seconds.get_or_create(&label).clone();
        match outcome {
            Outcome::Ready(answer) => {
                seconds.observe(started.elapsed().as_secs_f64());
                Outcome::Ready(answer)
            }
            Outcome::Exclusive(it) => Outcome::Exclusive(watched(api.name, it, started, seconds)),
            Outcome::Pipelined(it) => Outcome::Pipelined(watched(api.name, it, started, seconds)),
        }
    }
}

/// From half a millisecond to a minute.
fn request_seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.0005, 2.0, 18))
}

fn watched(
    api: &'static str,
    answer: BoxFuture<'static, Answer>,
    started: Instant,
    seconds: Histogram,
) -> BoxFuture<'static, Answer> {
    let answer = AssertUnwindSafe(answer).catch_unwind();
    let watched = async move {
        let answer = answer.await.unwrap_or_else(|panic| Answer::Close(panicked(api, &*panic)));
        seconds.observe(started.elapsed().as_secs_f64());
        answer
    };
    watched.boxed()
}

fn panicked(api: &'static str, panic: &(dyn Any + Send)) -> CloseReason {
    let text = panic.downcast_ref::<&str>().copied();
    let message = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    CloseReason::Panicked { api, message: message.unwrap_or("no message").to_owned() }
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use bytes::{BufMut, BytesMut};
    use kafka_protocol::messages::{FindCoordinatorResponse, HeartbeatResponse};

    use super::*;

    fn request() -> Request {
        let context = Context {
            api_version: 4,
            throttle: None,
            details: Arc::default(),
            client_id: "test".into(),
            client_host: [127, 0, 0, 1].into(),
            connection_id: 1,
            listener: "PLAINTEXT".into(),
        };
        let errors = Family::default();
        Request { api_key: ApiKey::Heartbeat, api: "Heartbeat", correlation_id: 5, context, errors }
    }

    fn finished(outcome: Outcome) -> Answer {
        match outcome {
            Outcome::Ready(answer) => answer,
            Outcome::Exclusive(answer) | Outcome::Pipelined(answer) => {
                answer.now_or_never().expect("nothing in these tests waits")
            }
        }
    }

    fn observed(outcome: Outcome) -> Answer {
        let api = served(ApiKey::Heartbeat, 4).unwrap();
        finished(RequestMetrics::register(&Metrics::default()).observe(
            api,
            Instant::now(),
            outcome,
        ))
    }

    #[test]
    fn a_response_is_framed_in_its_requests_version() {
        let answer = observed(request().exclusive(async { HeartbeatResponse::default() }));
        let Answer::Frame(frame) = answer else { panic!("{answer:?}") };
        // Length 12: correlation id, no header tags, throttle time, no error, no tags.
        assert_eq!(frame[..], [0, 0, 0, 12, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    fn refused(key: ApiKey, version: i16) -> Result<Outcome, CloseReason> {
        let mut frame = BytesMut::new();
        frame.put_i16(key as i16);
        frame.put_i16(version);
        frame.put_i32(9);
        // No client id; no tagged fields, or the first byte of an old body.
        frame.put_slice(&[0xff, 0xff, 0]);
        refuse(&RequestHeader::parse(&mut frame.freeze()).unwrap())
    }

    #[test]
    fn a_version_to_come_of_api_versions_is_answered_in_version_0() {
        let answer = finished(refused(ApiKey::ApiVersions, 99).unwrap());
        let Answer::Frame(frame) = answer else { panic!("{answer:?}") };
        // Length, correlation id, error 35, one key: 18 from 0 to 4.
        let want = [0, 0, 0, 16, 0, 0, 0, 9, 0, 35, 0, 0, 0, 1, 0, 18, 0, 0, 0, 4];
        assert_eq!(frame[..], want);
    }

    #[test]
    fn another_unserved_version_closes_the_connection_as_a_mistake_of_the_client() {
        let Err(reason) = refused(ApiKey::Produce, 2) else { panic!("it was answered") };
        assert_eq!(reason, CloseReason::Unserved { key: 0, version: 2 });
        assert!(!reason.is_bug());
    }

    #[test]
    fn a_producer_that_asks_for_no_answer_gets_none() {
        let answer = observed(request().pipelined(Soon::Now(Ok(None::<HeartbeatResponse>))));
        assert!(matches!(answer, Answer::NoResponse));
    }

    #[test]
    fn a_response_of_another_version_closes_the_connection_as_a_bug() {
        let misfit = FindCoordinatorResponse::default().with_host("version 4 has none".into());
        let answer = observed(request().exclusive(async { misfit }));
        let Answer::Close(reason) = answer else { panic!("{answer:?}") };
        assert!(reason.is_bug() && reason.name() == "unencodable", "{reason}");
    }

    #[test]
    fn a_handler_that_panics_closes_its_connection_as_a_bug() {
        let panicking =
            std::future::poll_fn(|_| -> Poll<HeartbeatResponse> { panic!("on purpose") });
        let answer = observed(request().exclusive(panicking));
        let Answer::Close(reason) = answer else { panic!("{answer:?}") };
        assert!(reason.is_bug());
        assert_eq!(reason.to_string(), "Heartbeat: the handler panicked: on purpose");
    }
}
