//! `leader-epoch-checkpoint`: where each leader's records begin (KIP-101). A reader whose epoch ended elsewhere has
//! read what was truncated since.

use std::{io, path::PathBuf, sync::Arc};

use super::{LogError, checkpoint, file::Disk};
use crate::base::{LeaderEpoch, Offset};

const FILE_NAME: &str = "leader-epoch-checkpoint";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EpochStart {
    epoch: LeaderEpoch,
    start_offset: Offset,
}

/// Epochs with their first offsets, both rising.
#[derive(Debug)]
pub(super) struct LeaderEpochs {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    starts: Vec<EpochStart>,
    /// Not stored yet.
    changed: bool,
}

impl LeaderEpochs {
    pub(super) fn empty(disk: &Arc<dyn Disk>, dir: &std::path::Path) -> Self {
        Self {
            disk: Arc::clone(disk),
            path: dir.join(FILE_NAME),
            starts: Vec::new(),
            changed: false,
        }
    }

    /// Reads the file. `false` if there is none or it is damaged: the batches then have to tell.
    pub(super) fn load(&mut self) -> Result<bool, LogError> {
        let bytes = self.disk.read_small(&self.path);
        let bytes = bytes.map_err(LogError::storage("read", &self.path))?;
        let Some(bytes) = bytes else { return Ok(false) };
        let starts = checkpoint::decode(&bytes, parse);
        let is_whole = starts.is_some();
        self.starts = starts.unwrap_or_default();
        Ok(is_whole)
    }

    /// Notes that `epoch` begins at `start_offset`, if it is newer than all others.
    pub(super) fn note(&mut self, epoch: LeaderEpoch, start_offset: Offset) {
        if epoch.0 < 0 || self.starts.last().is_some_and(|last| epoch <= last.epoch) {
            return;
        }
        // An epoch that got no record leaves no trace.
        self.starts.retain(|it| it.start_offset < start_offset);
        self.starts.push(EpochStart { epoch, start_offset });
        self.changed = true;
    }

    /// Writes the file, if it does not say the same already.
    pub(super) fn store(&mut self) -> Result<(), LogError> {
        if self.changed {
            self.write().map_err(LogError::storage("write", &self.path))?;
            self.changed = false;
        }
        Ok(())
    }

    /// The same for another folder, not stored yet.
    pub(super) fn copy_of(&self, disk: &Arc<dyn Disk>, dir: &std::path::Path) -> Self {
        Self { starts: self.starts.clone(), changed: true, ..Self::empty(disk, dir) }
    }

    /// Whether both say the same.
    pub(super) fn tells(&self, other: &Self) -> bool {
        self.starts == other.starts
    }

    /// The folder was renamed.
    pub(super) fn moved_to(&mut self, dir: &std::path::Path) {
        self.path = dir.join(FILE_NAME);
    }

    fn write(&self) -> io::Result<()> {
        let lines = self.starts.iter().map(|it| format!("{} {}", it.epoch.0, it.start_offset.0));
        self.disk.replace(&self.path, &checkpoint::encode(lines), true)
    }

    /// Forgets epochs that begin at or after `end`.
    pub(super) fn truncate_from(&mut self, end: Offset) {
        let before = self.starts.len();
        self.starts.retain(|it| it.start_offset < end);
        self.changed |= self.starts.len() != before;
    }

    /// Forgets epochs that ended before `start`, and lets the one that spans it begin there.
    pub(super) fn truncate_to(&mut self, start: Offset) {
        let spanning = self.starts.iter().rposition(|it| it.start_offset <= start).unwrap_or(0);
        self.starts.drain(..spanning);
        self.changed |= spanning > 0;
        if let Some(first) = self.starts.first_mut()
            && first.start_offset < start
        {
            first.start_offset = start;
            self.changed = true;
        }
    }

    pub(super) fn latest(&self) -> Option<LeaderEpoch> {
        self.starts.last().map(|it| it.epoch)
    }

    pub(super) fn earliest(&self) -> Option<LeaderEpoch> {
        self.starts.first().map(|it| it.epoch)
    }

    /// As Kafka's `LeaderEpochFileCache.endOffsetFor`: the largest epoch at or below the one asked for, and where
    /// the next one begins.
    pub(super) fn end_offset_for(
        &self,
        asked: LeaderEpoch,
        log_end: Offset,
    ) -> Option<(LeaderEpoch, Offset)> {
        if asked.0 < 0 {
            return None;
        }
        if self.latest() == Some(asked) {
            return Some((asked, log_end));
        }
        let higher = self.starts.iter().position(|it| it.epoch > asked)?;
        let end = self.starts.get(higher)?.start_offset;
        let floor = higher.checked_sub(1).and_then(|at| self.starts.get(at));
        Some((floor.map_or(asked, |it| it.epoch), end))
    }
}

fn parse(line: &str) -> Option<EpochStart> {
    let (epoch, start) = line.split_once(' ')?;
    let (epoch, start_offset) = (LeaderEpoch(epoch.parse().ok()?), Offset(start.parse().ok()?));
    Some(EpochStart { epoch, start_offset })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::file::RealDisk;

    fn epochs(starts: &[(i32, i64)]) -> LeaderEpochs {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let mut epochs = LeaderEpochs::empty(&disk, std::path::Path::new("unused"));
        for &(epoch, start) in starts {
            epochs.note(LeaderEpoch(epoch), Offset(start));
        }
        epochs
    }

    #[test]
    fn an_epoch_ends_where_the_next_one_begins() {
        let epochs = epochs(&[(2, 10), (4, 20), (7, 30)]);
        for (asked, want) in [
            (-1, None),
            (1, Some((1, 10))),
            (2, Some((2, 20))),
            (3, Some((2, 20))),
            (6, Some((4, 30))),
            (7, Some((7, 99))),
            (8, None),
        ] {
            let found = epochs.end_offset_for(LeaderEpoch(asked), Offset(99));
            assert_eq!(found.map(|(epoch, end)| (epoch.0, end.0)), want, "epoch {asked}");
        }
    }

    #[test]
    fn an_epoch_without_records_leaves_no_trace() {
        let mut epochs = epochs(&[(1, 0), (2, 5), (3, 5)]);
        assert_eq!(
            epochs.end_offset_for(LeaderEpoch(2), Offset(9)),
            Some((LeaderEpoch(1), Offset(5)))
        );
        epochs.note(LeaderEpoch(3), Offset(8));
        assert_eq!(epochs.starts.len(), 2, "only a newer epoch begins");
    }

    #[test]
    fn truncation_at_either_end_keeps_the_epoch_that_spans_it() {
        let mut front = epochs(&[(1, 0), (2, 10), (3, 20)]);
        front.truncate_to(Offset(15));
        assert_eq!(front.starts[0], EpochStart { epoch: LeaderEpoch(2), start_offset: Offset(15) });
        front.truncate_from(Offset(20));
        assert_eq!(front.latest(), Some(LeaderEpoch(2)));
    }
}
