//! Who coordinates a group, asked for until there is one.

use std::time::Duration;

use kafka_protocol::messages::FindCoordinatorRequest;

use super::client::{Client, check, text};
use crate::base::ErrorCode;

const ATTEMPTS_MAX: usize = 50;
const ATTEMPT_PAUSE: Duration = Duration::from_millis(100);

/// Its node's id, and how it is shown.
pub(super) fn coordinator(client: &mut Client, group: &str) -> anyhow::Result<(i32, String)> {
    let request = FindCoordinatorRequest::default().with_key(text(group));
    let answer = patiently(|| client.call(3, &request).map(|it| (it.error_code, it)))?;
    check(group, answer.error_code, answer.error_message.as_ref())?;
    let node = answer.node_id.0;
    Ok((node, format!("{}:{} ({node})", answer.host, answer.port)))
}

/// Asks again for a while: the first look for a coordinator makes the topic that it works with.
pub(super) fn patiently<T>(mut ask: impl FnMut() -> anyhow::Result<(i16, T)>) -> anyhow::Result<T> {
    use ErrorCode::{CoordinatorLoadInProgress, CoordinatorNotAvailable, NotCoordinator};
    for _ in 1..ATTEMPTS_MAX {
        let (code, answer) = ask()?;
        match ErrorCode::from_code(code) {
            CoordinatorLoadInProgress | CoordinatorNotAvailable | NotCoordinator => {
                std::thread::sleep(ATTEMPT_PAUSE);
            }
            _ => return Ok(answer),
        }
    }
    Ok(ask()?.1)
}
