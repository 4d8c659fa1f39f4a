//! Where alerts go, and how often it is tried.

use std::time::Duration;

use super::{
    alertmanager::Alertmanager,
    http_post::{HttpPost, PostError, json},
};
use crate::{
    alert::AlertRecord,
    base::TimestampMs,
    config::{SinkConfig, SinkKind},
    telemetry,
};

const BACKOFF_MIN: Duration = Duration::from_secs(1);
const BACKOFF_MAX: Duration = Duration::from_secs(30);

/// One configured sink.
pub(super) enum Sink {
    Alertmanager(Alertmanager),
    Webhook(HttpPost),
    Log,
}

impl Sink {
    pub(super) fn new(config: &SinkConfig) -> Self {
        match config.kind {
            SinkKind::Alertmanager => Self::Alertmanager(Alertmanager::new(&config.url)),
            SinkKind::Webhook => Self::Webhook(HttpPost::new(config.url.clone())),
            SinkKind::Log => Self::Log,
        }
    }

    /// Takes note of an update that was delivered before a restart.
    pub(super) fn recall(&mut self, update: &AlertRecord) {
        if let Self::Alertmanager(sink) = self {
            sink.recall(update);
        }
    }

    /// Delivers updates, in order, for as long as that takes; `failed` hears of each attempt that failed. One that the sink
    /// will never take is passed over, so that it does not hold up those behind it.
    pub(super) async fn deliver_all(
        &mut self,
        name: &str,
        updates: &[AlertRecord],
        failed: &(impl Fn() + Sync),
    ) {
        let mut waiting = vec![updates];
        while let Some(updates) = waiting.pop() {
            let Err(error) = self.deliver_patiently(name, updates, failed).await else { continue };
            failed();
            if let [update] = updates {
                let fingerprint = &update.fingerprint.0;
                tracing::error!(sink = name, fingerprint, %error, "a sink will not take an alert");
                continue;
            }
            let (first, rest) = updates.split_at(updates.len() / 2);
            waiting.extend([rest, first]);
        }
    }

    /// Until the sink takes the updates or says that it never will.
    async fn deliver_patiently(
        &mut self,
        name: &str,
        updates: &[AlertRecord],
        failed: &(impl Fn() + Sync),
    ) -> Result<(), PostError> {
        let mut backoff = BACKOFF_MIN;
        loop {
            match self.deliver(updates, telemetry::now()).await {
                Err(error) if !error.is_final() => {
                    failed();
                    warn(name, &error);
                    tokio::time::sleep(backoff).await;
                    backoff = (backoff * 2).min(BACKOFF_MAX);
                }
                result => return result,
            }
        }
    }

    /// Delivers updates, in order. After an error all of them are delivered again.
    async fn deliver(
        &mut self,
        updates: &[AlertRecord],
        now: TimestampMs,
    ) -> Result<(), PostError> {
        match self {
            Self::Alertmanager(sink) => sink.deliver(updates, now).await,
            Self::Webhook(post) => post.post(json(updates)).await,
            Self::Log => {
                updates.iter().for_each(log);
                Ok(())
            }
        }
    }

    /// Tells again of what still fires, to a sink that forgets.
    pub(super) async fn remind(&mut self, now: TimestampMs) -> Result<(), PostError> {
        match self {
            Self::Alertmanager(sink) => sink.remind(now).await,
            Self::Webhook(_) | Self::Log => Ok(()),
        }
    }
}

fn warn(sink: &str, error: &PostError) {
    let cause = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    tracing::warn!(sink, %error, cause, "deliver alerts; trying again");
}

fn log(update: &AlertRecord) {
    tracing::info!(
        topic = %update.topic, plugin = %update.plugin, severity = ?update.severity, state = ?update.state,
        count = update.count, fingerprint = %update.fingerprint.0, "alert: {}", update.title
    );
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead as _, BufReader, Read as _, Write as _},
        net::{TcpListener, TcpStream},
        sync::mpsc,
    };

    use super::*;
    use crate::alert::{AlertState, Fingerprint, Severity};

    fn update(title: &str) -> AlertRecord {
        AlertRecord {
            fingerprint: Fingerprint(title.into()),
            severity: Severity::Error,
            title: title.into(),
            labels: std::collections::BTreeMap::new(),
            topic: "logs".into(),
            topic_id: None,
            count: 1,
            sources: Vec::new(),
            plugin: "log-alert".into(),
            plugin_version: "1.0.0".into(),
            first_timestamp_ms: 0,
            last_timestamp_ms: 0,
            state: AlertState::Firing,
            updated_ms: 0,
        }
    }

    /// The body of one POST.
    fn body(stream: &TcpStream) -> String {
        let mut lines = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            lines.read_line(&mut line).unwrap();
            if let Some(it) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = it.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        lines.read_exact(&mut body).unwrap();
        String::from_utf8(body).unwrap()
    }

    /// A sink that answers as `status` says, with more of a body than anybody reads; it tells what it took.
    fn sink_that(status: impl Fn(&str) -> u16 + Send + 'static) -> (Sink, mpsc::Receiver<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let (took, taken) = mpsc::channel();
        std::thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                let body = body(&stream);
                let status = status(&body);
                if status < 300 && took.send(body).is_err() {
                    return;
                }
                let head = format!("HTTP/1.1 {status} x\r\nContent-Length: 99999999\r\n\r\n");
                let _ = stream.write_all(head.as_bytes());
                let _ = stream.write_all(&[b'x'; 10_000]);
            }
        });
        (Sink::Webhook(HttpPost::new(url)), taken)
    }

    #[tokio::test]
    async fn what_a_sink_will_never_take_holds_up_nothing_behind_it() {
        let refuse = |body: &str| if body.contains("poison") { 400 } else { 200 };
        let (mut sink, taken) = sink_that(refuse);
        let updates = ["a", "b", "poison", "c", "d"].map(update);
        sink.deliver_all("hook", &updates, &|| ()).await;
        drop(sink);
        let titles: Vec<String> = taken
            .try_iter()
            .flat_map(|body| serde_json::from_str::<Vec<AlertRecord>>(&body).unwrap())
            .map(|it| it.title)
            .collect();
        assert_eq!(titles, ["a", "b", "c", "d"]);
    }

    #[tokio::test]
    async fn a_sink_that_is_broken_is_tried_again() {
        let tries = std::sync::atomic::AtomicUsize::new(0);
        let mend = move |_: &str| match tries.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 => 503,
            _ => 200,
        };
        let (mut sink, taken) = sink_that(mend);
        sink.deliver_all("hook", &[update("a")], &|| ()).await;
        assert_eq!(taken.try_iter().count(), 1);
    }
}
