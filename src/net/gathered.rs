//! Answers that are ready at the same time: small frames leave in one system call.
//!
//! Rule: nothing waits for company. What is large, or is no frame, is the last of its group.

use bytes::BytesMut;
use tokio::sync::oneshot;

use super::answers::{Answered, Answers};
use crate::api::Answer;

/// Longer frames are neither copied nor left waiting in numbers; about as much is gathered before it is written.
const SMALL_BYTES: usize = 16 * 1024;

/// Whether an answer takes so little that many may wait to be written.
pub(super) fn is_small(answer: &Answer) -> bool {
    match answer {
        Answer::Frame(frame) => frame.len() <= SMALL_BYTES,
        Answer::NoResponse => true,
        Answer::Parts(_) | Answer::Close(_) => false,
    }
}

/// Answers in their order.
#[derive(Default)]
pub(super) struct Gathered {
    /// Whole frames, one behind the other.
    pub(super) frames: BytesMut,
    /// What comes behind them.
    pub(super) last: Option<Answer>,
    /// How many answers these are.
    pub(super) count: usize,
    /// Told when all of it is written.
    pub(super) written: Option<oneshot::Sender<()>>,
}

impl Gathered {
    /// An answer, and those behind it that need not be waited for.
    pub(super) async fn from(first: Answered, answers: &mut Answers) -> Self {
        let mut gathered = Self::default();
        gathered.add(first);
        while !gathered.is_full()
            && let Some(next) = answers.next_if_ready().await
        {
            gathered.add(next);
        }
        gathered
    }

    /// Somebody who waits for an answer to be written waits for this one: nothing is behind it yet.
    fn is_full(&self) -> bool {
        self.last.is_some() || self.written.is_some() || self.frames.len() >= SMALL_BYTES
    }

    fn add(&mut self, (answer, written): Answered) {
        self.count += 1;
        self.written = written;
        match answer {
            Answer::NoResponse => {}
            Answer::Frame(frame) if frame.len() > SMALL_BYTES => {
                self.last = Some(Answer::Frame(frame));
            }
            Answer::Frame(frame) if self.frames.is_empty() => {
                self.frames = frame.try_into_mut().unwrap_or_else(|it| BytesMut::from(&it[..]));
            }
            Answer::Frame(frame) => self.frames.extend_from_slice(&frame),
            other @ (Answer::Parts(_) | Answer::Close(_)) => self.last = Some(other),
        }
    }
}
