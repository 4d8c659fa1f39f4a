//! One of a directory's checkpoints that hold an offset a partition, in Kafka's format: `topic partition offset`.
//!
//! Rule: what a partition that could not be opened had is kept, and who writes last writes the newest.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use parking_lot::Mutex;

use super::{LogError, checkpoint, file::Disk};
use crate::base::{Offset, TopicPartition};

/// A checkpoint file.
#[derive(Debug)]
pub(super) struct OffsetCheckpoint {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// As the file was found, of partitions that were not opened since.
    found: BTreeMap<TopicPartition, Offset>,
    /// What the file holds.
    stored: Vec<u8>,
}

impl OffsetCheckpoint {
    /// Reads the file; none is one without entries, and so is a damaged one, of which `Err` never tells: see
    /// [`OffsetCheckpoint::is_damaged`].
    pub(super) fn read(disk: &dyn Disk, path: PathBuf) -> Result<Self, LogError> {
        let bytes = disk.read_small(&path).map_err(LogError::storage("read", &path))?;
        let stored = bytes.unwrap_or_else(|| encode(&BTreeMap::new()));
        let found = decode(&stored).unwrap_or_default();
        Ok(Self { path, state: Mutex::new(State { found, stored }) })
    }

    /// One without entries, of a directory that is not read.
    pub(super) fn none(path: PathBuf) -> Self {
        let state = State { found: BTreeMap::new(), stored: encode(&BTreeMap::new()) };
        Self { path, state: Mutex::new(state) }
    }

    /// Whether nobody can tell what the file held.
    pub(super) fn is_damaged(&self) -> bool {
        decode(&self.state.lock().stored).is_none()
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The offset of a partition that was not opened since the file was found.
    pub(super) fn found(&self, partition: &TopicPartition) -> Option<Offset> {
        self.state.lock().found.get(partition).copied()
    }

    pub(super) fn forget(&self, partition: &TopicPartition) {
        self.state.lock().found.remove(partition);
    }

    pub(super) fn forget_all_but(&self, is_wanted: impl Fn(&TopicPartition) -> bool) {
        self.state.lock().found.retain(|it, _| is_wanted(it));
    }

    /// Writes what was found and, instead of it, what `opened` partitions have now; `None` is no entry. `opened` is asked
    /// while nobody else writes.
    pub(super) fn store(
        &self,
        disk: &dyn Disk,
        opened: impl FnOnce() -> Vec<(TopicPartition, Option<Offset>)>,
    ) -> Result<(), LogError> {
        let mut state = self.state.lock();
        let mut entries = state.found.clone();
        for (partition, offset) in opened() {
            match offset {
                Some(it) => entries.insert(partition, it),
                None => entries.remove(&partition),
            };
        }
        let bytes = encode(&entries);
        if bytes != state.stored {
            disk.replace(&self.path, &bytes, true)
                .map_err(LogError::storage("write", &self.path))?;
            state.stored = bytes;
        }
        Ok(())
    }
}

fn encode(entries: &BTreeMap<TopicPartition, Offset>) -> Vec<u8> {
    let line = |(partition, offset): (&TopicPartition, &Offset)| {
        format!("{} {} {}", partition.topic, partition.partition, offset.0)
    };
    checkpoint::encode(entries.iter().map(line))
}

fn decode(bytes: &[u8]) -> Option<BTreeMap<TopicPartition, Offset>> {
    Some(checkpoint::decode(bytes, entry)?.into_iter().collect())
}

fn entry(line: &str) -> Option<(TopicPartition, Offset)> {
    let mut words = line.split(' ');
    let partition = TopicPartition::new(words.next()?, words.next()?.parse().ok()?);
    Some((partition, Offset(words.next()?.parse().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::file::RealDisk;

    #[test]
    fn what_was_found_stays_until_the_partition_is_opened_or_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("checkpoint");
        let (a, b) = (TopicPartition::new("a", 3), TopicPartition::new("b", 0));
        let read = || OffsetCheckpoint::read(&RealDisk, path.clone()).unwrap();

        let checkpoint = read();
        let opened = vec![(a.clone(), Some(Offset(9))), (b.clone(), Some(Offset(2)))];
        checkpoint.store(&RealDisk, || opened).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"0\n2\na 3 9\nb 0 2\n");

        let checkpoint = read();
        checkpoint.store(&RealDisk, || vec![(b.clone(), None)]).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"0\n1\na 3 9\n");
        checkpoint.forget(&a);
        checkpoint.forget_all_but(|it| *it != b);
        checkpoint.store(&RealDisk, Vec::new).unwrap();
        assert_eq!((read().found(&a), read().found(&b)), (None, None));
    }

    #[test]
    fn a_damaged_file_is_told_from_an_empty_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("checkpoint");
        let read = || OffsetCheckpoint::read(&RealDisk, path.clone()).unwrap();
        assert!(!read().is_damaged());
        std::fs::write(&path, b"0\n2\na 3 9\n").unwrap();
        assert!(read().is_damaged());
        assert_eq!(read().found(&TopicPartition::new("a", 3)), None);
    }
}
