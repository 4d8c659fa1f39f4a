//! The one thread that writes the log and the vote. Writes are in the order in which they were asked for; appends that wait
//! together are one frame, one write and one fdatasync (group commit).
//!
//! After the first failed write nothing is written any more: what the page cache holds then is unknown.

use std::{
    fs::File,
    io::{self, Write},
    thread,
};

use openraft::storage::IOFlushed;
use tokio::sync::{mpsc, oneshot};

use super::{
    consensus::Consensus,
    files::Files,
    frame,
    stored::{LogFrame, StoredEnd, StoredEntry, StoredId, StoredVote},
};

/// Writes that may wait; an append beyond waits for room.
const QUEUE_LIMIT: usize = 1024;

type Done = oneshot::Sender<io::Result<()>>;

pub(super) enum LogWrite {
    Append {
        entries: Vec<StoredEntry>,
        flushed: IOFlushed<Consensus>,
    },
    Vote {
        vote: StoredVote,
        done: Done,
    },
    /// The whole log anew, after entries were cut off at one of its ends.
    Rewrite {
        purged: Option<StoredId>,
        entries: Vec<StoredEntry>,
        done: Done,
    },
    End {
        done: Done,
    },
}

/// Hands writes to the thread, which ends when this is dropped.
#[derive(Clone, Debug)]
pub(super) struct LogWriter {
    queue: mpsc::Sender<LogWrite>,
}

impl LogWriter {
    /// `log` is open at its end.
    pub(super) fn start(files: Files, log: File) -> io::Result<Self> {
        let (queue, asked) = mpsc::channel(QUEUE_LIMIT);
        let has_end = files.end().exists();
        let disk = Disk { files, log, has_end, failed: false };
        thread::Builder::new().name("metadata-log".into()).spawn(move || disk.run(asked))?;
        Ok(Self { queue })
    }

    /// Returns once the append is in line; `flushed` is called when it is durable.
    pub(super) async fn append(
        &self,
        entries: Vec<StoredEntry>,
        flushed: IOFlushed<Consensus>,
    ) -> io::Result<()> {
        self.send(LogWrite::Append { entries, flushed }).await
    }

    /// Returns once the vote is durable.
    pub(super) async fn vote(&self, vote: StoredVote) -> io::Result<()> {
        let (done, written) = oneshot::channel();
        self.send(LogWrite::Vote { vote, done }).await?;
        written.await.map_err(|_| stopped())?
    }

    /// Returns once the log is `entries` alone.
    pub(super) async fn rewrite(
        &self,
        purged: Option<StoredId>,
        entries: Vec<StoredEntry>,
    ) -> io::Result<()> {
        let (done, written) = oneshot::channel();
        self.send(LogWrite::Rewrite { purged, entries, done }).await?;
        written.await.map_err(|_| stopped())?
    }

    /// Returns once it is durable that the log ends where it does now.
    pub(super) async fn end(&self) -> io::Result<()> {
        let (done, written) = oneshot::channel();
        self.send(LogWrite::End { done }).await?;
        written.await.map_err(|_| stopped())?
    }

    async fn send(&self, write: LogWrite) -> io::Result<()> {
        self.queue.send(write).await.map_err(|_| stopped())
    }
}

fn stopped() -> io::Error {
    io::Error::other("the metadata log's writer has stopped")
}

struct Disk {
    files: Files,
    log: File,
    /// The file of a clean stop is there. It must go before anything changes.
    has_end: bool,
    failed: bool,
}

impl Disk {
    fn run(mut self, mut asked: mpsc::Receiver<LogWrite>) {
        let mut batch = Vec::new();
        while asked.blocking_recv_many(&mut batch, QUEUE_LIMIT) > 0 {
            self.write(batch.drain(..));
        }
    }

    /// Appends between two other writes go out together.
    fn write(&mut self, batch: impl Iterator<Item = LogWrite>) {
        let mut group = Group::default();
        for write in batch {
            match write {
                LogWrite::Append { entries, flushed } => group.add(entries, flushed),
                LogWrite::Vote { vote, done } => {
                    self.append(std::mem::take(&mut group));
                    let result = self.attempt(|it| it.save_vote(vote));
                    // Whoever asked may be gone.
                    let _ = done.send(result);
                }
                LogWrite::Rewrite { purged, entries, done } => {
                    self.append(std::mem::take(&mut group));
                    let result = self.attempt(|it| it.rewrite(purged, entries));
                    let _ = done.send(result);
                }
                LogWrite::End { done } => {
                    self.append(std::mem::take(&mut group));
                    let _ = done.send(self.attempt(Self::save_end));
                }
            }
        }
        self.append(group);
    }

    fn append(&mut self, group: Group) {
        if group.flushed.is_empty() {
            return;
        }
        let result = self.attempt(|it| {
            it.log.write_all(&frame::encode(&LogFrame::Entries(group.entries)))?;
            it.log.sync_data()
        });
        for flushed in group.flushed {
            let result =
                result.as_ref().copied().map_err(|it| io::Error::new(it.kind(), it.to_string()));
            flushed.io_completed(result);
        }
    }

    fn save_vote(&mut self, vote: StoredVote) -> io::Result<()> {
        self.files.replace(&self.files.vote(), &frame::encode(&vote)).map(drop)
    }

    fn rewrite(&mut self, purged: Option<StoredId>, entries: Vec<StoredEntry>) -> io::Result<()> {
        self.log = self.files.replace(&self.files.log(), &log_file(purged, entries))?;
        Ok(())
    }

    fn save_end(&mut self) -> io::Result<()> {
        let end = StoredEnd { log_bytes: self.log.metadata()?.len() };
        self.files.replace(&self.files.end(), &frame::encode(&end))?;
        self.has_end = true;
        Ok(())
    }

    fn remove_end(&mut self) -> io::Result<()> {
        if self.has_end {
            self.files.remove(&self.files.end())?;
            self.has_end = false;
        }
        Ok(())
    }

    fn attempt(&mut self, write: impl FnOnce(&mut Self) -> io::Result<()>) -> io::Result<()> {
        if self.failed {
            return Err(io::Error::other("an earlier write of the metadata log failed"));
        }
        let result = self.remove_end().and_then(|()| write(self));
        self.failed = result.is_err();
        result
    }
}

/// The bytes of a log file.
pub(super) fn log_file(purged: Option<StoredId>, entries: Vec<StoredEntry>) -> Vec<u8> {
    let mut bytes = frame::encode(&LogFrame::Start { purged });
    if !entries.is_empty() {
        bytes.extend(frame::encode(&LogFrame::Entries(entries)));
    }
    bytes
}

#[derive(Default)]
struct Group {
    entries: Vec<StoredEntry>,
    flushed: Vec<IOFlushed<Consensus>>,
}

impl Group {
    fn add(&mut self, entries: Vec<StoredEntry>, flushed: IOFlushed<Consensus>) {
        self.entries.extend(entries);
        self.flushed.push(flushed);
    }
}
