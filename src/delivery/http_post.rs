//! POSTs JSON over plain HTTP, with a limit on everything.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{Request, StatusCode, header::CONTENT_TYPE};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};

/// Longest that a post may take.
const POST_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of an answer that are read, for the message.
const ANSWER_BYTES_MAX: usize = 4_096;

/// Why a sink did not take alerts. They are posted again.
#[derive(Debug, thiserror::Error)]
pub(super) enum PostError {
    #[error("{0} is no address to post to")]
    BadUrl(String),
    #[error("post to {url}")]
    Unreachable { url: String, source: hyper_util::client::legacy::Error },
    #[error("{url} did not answer in time")]
    TimedOut { url: String },
    #[error("{url} answered {status}: {answer}")]
    Refused { url: String, status: StatusCode, answer: String },
}

impl PostError {
    /// Whether the sink is there and says that it will not take this, however often it is posted.
    pub(super) fn is_final(&self) -> bool {
        let told = match self {
            Self::Refused { status, .. } => *status,
            Self::BadUrl(_) | Self::Unreachable { .. } | Self::TimedOut { .. } => return false,
        };
        [StatusCode::BAD_REQUEST, StatusCode::PAYLOAD_TOO_LARGE, StatusCode::UNPROCESSABLE_ENTITY]
            .contains(&told)
    }
}

/// One address that is posted to.
pub(super) struct HttpPost {
    client: Client<HttpConnector, Full<Bytes>>,
    url: String,
}

impl HttpPost {
    pub(super) fn new(url: String) -> Self {
        Self { client: Client::builder(TokioExecutor::new()).build_http(), url }
    }

    pub(super) async fn post(&self, json: Vec<u8>) -> Result<(), PostError> {
        let url = || self.url.clone();
        let request = Request::post(&self.url)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::from(json))
            .map_err(|_| PostError::BadUrl(url()))?;
        let answered = tokio::time::timeout(POST_TIMEOUT, self.client.request(request)).await;
        let answer = answered
            .map_err(|_| PostError::TimedOut { url: url() })?
            .map_err(|source| PostError::Unreachable { url: url(), source })?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect();
        let body = tokio::time::timeout(POST_TIMEOUT, body).await;
        let text = body.ok().and_then(Result::ok).map(http_body_util::Collected::to_bytes);
        let answer = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
        Err(PostError::Refused { url: url(), status, answer })
    }
}

/// What is posted.
pub(super) fn json(value: &(impl serde::Serialize + ?Sized)) -> Vec<u8> {
    serde_json::to_vec(value).expect("alerts are plain data")
}
