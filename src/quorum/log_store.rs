//! openraft's view of the log: entries in memory, because snapshots keep them few, and on disk through the [`LogWriter`].

use std::{
    collections::BTreeMap,
    fmt::Debug,
    fs::{File, OpenOptions},
    io,
    ops::RangeBounds,
    sync::Arc,
};

use openraft::{
    LogState, OptionalSend, RaftLogReader,
    storage::{IOFlushed, RaftLogStorage},
};
use parking_lot::Mutex;

use super::{
    consensus::{Consensus, Entry, EntryId, Vote},
    files::{Files, at},
    frame::{self, FrameError},
    log_writer::{LogWriter, log_file},
    stored::{LogFrame, StoredEnd, StoredEntry, StoredVote},
};

/// A log without entries is that of a first start alone: to begin anew would forget every topic.
pub(super) const LOST: &str =
    "it has lost its entries, though the files beside it tell that there were some";

/// The log of a member. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct LogStore {
    log: Arc<Mutex<Log>>,
    writer: LogWriter,
}

#[derive(Debug, Default)]
struct Log {
    vote: Option<Vote>,
    purged: Option<EntryId>,
    /// By index, without gaps, from the one after `purged`.
    entries: BTreeMap<u64, Entry>,
}

impl LogStore {
    /// Reads the files, sets a torn tail aside, and starts the writer.
    pub(super) fn open(files: &Files) -> io::Result<Self> {
        let (mut log, file) = open_log(files)?;
        log.vote = read_vote(files)?;
        let writer = LogWriter::start(files.clone(), file)?;
        Ok(Self { log: Arc::new(Mutex::new(log)), writer })
    }

    /// The last entry that is in the snapshot alone.
    pub(super) fn purged(&self) -> Option<EntryId> {
        self.log.lock().purged
    }

    /// Leaves word of where the log ends, so that the next start can tell whether it is whole.
    pub(super) async fn end(&self) -> io::Result<()> {
        self.writer.end().await
    }

    /// What is left of the log after entries were cut off, to be written anew.
    fn kept(&self) -> (Option<EntryId>, Vec<StoredEntry>) {
        let log = self.log.lock();
        (log.purged, log.entries.values().map(Into::into).collect())
    }

    async fn rewrite(&self) -> io::Result<()> {
        let (purged, entries) = self.kept();
        self.writer.rewrite(purged.map(Into::into), entries).await
    }
}

fn open_log(files: &Files) -> io::Result<(Log, File)> {
    let path = files.log();
    let bytes = match Files::read(&path)? {
        Some(bytes) if !bytes.is_empty() => bytes,
        None if !files.any() => {
            let file = files.replace(&path, &log_file(None, Vec::new()))?;
            return Ok((Log::default(), file));
        }
        _ => return Err(damaged(&path, &LOST)),
    };
    let (frames, error) = frame::decode_all::<LogFrame>(&bytes);
    let end = match error {
        None => bytes.len(),
        // The first frame was replaced as a whole and cannot be torn.
        Some(FrameError::Torn { offset }) if offset > 0 => offset,
        Some(error) => return Err(damaged(&path, &error)),
    };
    check_end(files, end)?;
    let log = Log::replay(frames).map_err(|reason| damaged(&path, &reason))?;
    let file = OpenOptions::new().append(true).open(&path).map_err(at(&path))?;
    if let Some(tail) = bytes.get(end..).filter(|it| !it.is_empty()) {
        cut(files, &file, end, tail)?;
    }
    Ok((log, file))
}

/// A clean stop tears nothing: a log whose whole frames end before it did has lost what was acknowledged.
fn check_end(files: &Files, whole_bytes: usize) -> io::Result<()> {
    let path = files.end();
    let Some(bytes) = Files::read(&path)? else { return Ok(()) };
    let StoredEnd { log_bytes } = frame::decode_one(&bytes).map_err(|it| damaged(&path, &it))?;
    if u64::try_from(whole_bytes).is_ok_and(|it| it >= log_bytes) {
        return Ok(());
    }
    let reason = format!(
        "it was shortened after a clean stop: {whole_bytes} of {log_bytes} bytes are whole"
    );
    Err(damaged(&files.log(), &reason))
}

/// Cuts off a torn tail; a person may look at what it was.
fn cut(files: &Files, log: &File, end: usize, tail: &[u8]) -> io::Result<()> {
    let aside = files.damaged(end);
    files.replace(&aside, tail)?;
    tracing::warn!(
        bytes = tail.len(), aside = %aside.display(),
        "cut off the end of the metadata log, which was being written when the node was killed"
    );
    log.set_len(u64::try_from(end).map_err(io::Error::other)?)?;
    log.sync_all()
}

fn read_vote(files: &Files) -> io::Result<Option<Vote>> {
    let path = files.vote();
    let Some(bytes) = Files::read(&path)? else { return Ok(None) };
    let vote: StoredVote = frame::decode_one(&bytes).map_err(|it| damaged(&path, &it))?;
    Ok(Some(vote.into()))
}

pub(super) fn damaged(path: &std::path::Path, reason: &dyn std::fmt::Display) -> io::Error {
    let text =
        format!("read {}: {reason}; restore __cluster_metadata-0 from a copy", path.display());
    io::Error::new(io::ErrorKind::InvalidData, text)
}

impl Log {
    fn replay(frames: Vec<LogFrame>) -> Result<Self, String> {
        let mut frames = frames.into_iter();
        let Some(LogFrame::Start { purged }) = frames.next() else {
            return Err("the log does not begin with its start".into());
        };
        let mut log = Self { purged: purged.map(Into::into), ..Self::default() };
        for frame in frames {
            let LogFrame::Entries(entries) = frame else {
                return Err("a second start in the log".into());
            };
            for entry in entries {
                log.push(entry.into())?;
            }
        }
        Ok(log)
    }

    fn push(&mut self, entry: Entry) -> Result<(), String> {
        let index = entry.log_id.index;
        match self.last() {
            Some(last) if index != last.index + 1 => {
                return Err(format!("entry {index} follows entry {}", last.index));
            }
            None if index != 0 => return Err(format!("the log begins with entry {index}")),
            _ => self.entries.insert(index, entry),
        };
        Ok(())
    }

    fn last(&self) -> Option<EntryId> {
        self.entries.last_key_value().map(|(_, it)| it.log_id).or(self.purged)
    }
}

impl RaftLogReader<Consensus> for LogStore {
    async fn try_get_log_entries<R: RangeBounds<u64> + Clone + Debug + OptionalSend>(
        &mut self,
        range: R,
    ) -> io::Result<Vec<Entry>> {
        Ok(self.log.lock().entries.range(range).map(|(_, it)| it.clone()).collect())
    }

    async fn read_vote(&mut self) -> io::Result<Option<Vote>> {
        Ok(self.log.lock().vote)
    }
}

impl RaftLogStorage<Consensus> for LogStore {
    type LogReader = Self;

    async fn get_log_state(&mut self) -> io::Result<LogState<Consensus>> {
        let log = self.log.lock();
        Ok(LogState { last_purged_log_id: log.purged, last_log_id: log.last() })
    }

    async fn get_log_reader(&mut self) -> Self {
        self.clone()
    }

    async fn save_vote(&mut self, vote: &Vote) -> io::Result<()> {
        self.writer.vote(vote.into()).await?;
        self.log.lock().vote = Some(*vote);
        Ok(())
    }

    async fn append<I>(&mut self, entries: I, flushed: IOFlushed<Consensus>) -> io::Result<()>
    where
        I: IntoIterator<Item = Entry> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        let entries: Vec<Entry> = entries.into_iter().collect();
        let stored = entries.iter().map(Into::into).collect();
        // Readable before it is durable: openraft replicates and flushes at the same time.
        self.log.lock().entries.extend(entries.into_iter().map(|it| (it.log_id.index, it)));
        self.writer.append(stored, flushed).await
    }

    async fn truncate_after(&mut self, last: Option<EntryId>) -> io::Result<()> {
        let first_cut = last.map_or(0, |it| it.index + 1);
        self.log.lock().entries.split_off(&first_cut);
        self.rewrite().await
    }

    async fn purge(&mut self, upto: EntryId) -> io::Result<()> {
        {
            let mut log = self.log.lock();
            log.entries = log.entries.split_off(&(upto.index + 1));
            log.purged = Some(upto);
        }
        self.rewrite().await
    }
}
