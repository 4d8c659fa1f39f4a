//! Kafka's names of the files of a partition's folder: the base offset in twenty digits, and a suffix.

use std::path::{Path, PathBuf};

use crate::base::{Offset, TopicPartition};

pub(super) const LOG: &str = ".log";
pub(super) const INDEX: &str = ".index";
pub(super) const TIME_INDEX: &str = ".timeindex";
pub(super) const SNAPSHOT: &str = ".snapshot";
pub(super) const DELETED: &str = ".deleted";
/// Ends the names of a segment that the cleaner has not finished.
pub(super) const CLEANED: &str = ".cleaned";
/// Ends the names of a cleaned segment that is not in its place yet.
pub(super) const SWAP: &str = ".swap";
/// Ends the names of segments whose place a cleaned one takes, until it has it.
pub(super) const REPLACED: &str = ".replaced";
const TEMPORARY: &str = ".tmp";
const ORPHAN: &str = ".orphan";
const DAMAGED: &str = ".damaged";
/// Ends the names of folders that wait to be deleted.
pub(super) const DELETE: &str = "-delete";
/// Ends the names of folders that belong to no topic.
pub(super) const STRAY: &str = "-stray";
/// Ends the names of folders that a log is being moved to.
pub(super) const FUTURE: &str = "-future";
/// Of a name in a file system.
const NAME_BYTES_MAX: usize = 255;
/// Of a dot and a UUID.
const MARK_BYTES: usize = 33;

/// `00000000000000000042.log` for offset 42.
pub(super) fn of(offset: Offset, suffix: &str) -> String {
    format!("{:020}{suffix}", offset.0)
}

/// The offset in a name with this suffix; `None` for any other name.
pub(super) fn offset(name: &str, suffix: &str) -> Option<Offset> {
    let digits = name.strip_suffix(suffix)?;
    let is_name = digits.len() == 20 && digits.bytes().all(|it| it.is_ascii_digit());
    is_name.then(|| digits.parse().ok().map(Offset)).flatten()
}

/// The name of a file that waits to be deleted; its own if it does already.
pub(super) fn deleted(path: &Path) -> PathBuf {
    if ends_with(path, DELETED) {
        return path.to_owned();
    }
    with_suffix(&in_place(path), DELETED)
}

/// The name of a file of a cleaned segment that is whole and not in its place; its own if it has that already.
pub(super) fn swap(path: &Path) -> PathBuf {
    if ends_with(path, SWAP) {
        return path.to_owned();
    }
    let in_place = if ends_with(path, CLEANED) { path.with_extension("") } else { path.to_owned() };
    with_suffix(&in_place, SWAP)
}

/// The name of a file whose place another one is about to take; its own if it has that already.
pub(super) fn replaced(path: &Path) -> PathBuf {
    if ends_with(path, REPLACED) { path.to_owned() } else { with_suffix(path, REPLACED) }
}

/// The name that a file had before it was to be replaced.
pub(super) fn in_place(path: &Path) -> PathBuf {
    if ends_with(path, REPLACED) { path.with_extension("") } else { path.to_owned() }
}

fn ends_with(path: &Path, suffix: &str) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(suffix.as_bytes())
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The name of a file that is not whole yet.
pub(super) fn temporary(path: &Path) -> PathBuf {
    with_suffix(path, TEMPORARY)
}

/// Whether a file holds what a start has set aside for people to look at.
pub(super) fn is_set_aside(name: &str) -> bool {
    [ORPHAN, DAMAGED].iter().any(|suffix| name.ends_with(suffix))
}

/// The name of an index whose segment is missing.
pub(super) fn orphan(path: &Path) -> PathBuf {
    with_suffix(path, ORPHAN)
}

/// The name of what a damaged segment held from a position on.
pub(super) fn damaged(segment: &Path, position: u64) -> PathBuf {
    with_suffix(segment, &format!(".{position}{DAMAGED}"))
}

/// `topic-0.UUID-delete`: the name of a folder that is put out of the way, for `why`. As in Kafka the topic's part is cut where
/// the whole would be longer than file systems allow.
pub(super) fn out_of_the_way(folder: &str, why: &str) -> String {
    let suffix = format!(".{}{why}", uuid::Uuid::new_v4().simple());
    let kept = folder.get(..NAME_BYTES_MAX - suffix.len()).unwrap_or(folder);
    format!("{kept}{suffix}")
}

/// Whether a folder was renamed to be deleted.
pub(super) fn is_deleted_folder(name: &str) -> bool {
    without_mark(name, DELETE).is_some()
}

/// The partition that is being moved to a folder of this name: `topic-0.UUID-future`.
pub(super) fn future_partition(name: &str) -> Option<TopicPartition> {
    without_mark(name, FUTURE).and_then(partition)
}

/// Whether the name of a folder that a partition is moved to can be told from others: it is not cut.
pub(super) fn can_be_future(partition: &str) -> bool {
    partition.len() + MARK_BYTES + FUTURE.len() <= NAME_BYTES_MAX
}

/// What stands before the mark in a name of [`out_of_the_way`].
fn without_mark<'a>(name: &'a str, why: &str) -> Option<&'a str> {
    let (before, id) = name.strip_suffix(why)?.rsplit_once('.')?;
    let is_id = id.len() + 1 == MARK_BYTES && id.bytes().all(|it| it.is_ascii_hexdigit());
    is_id.then_some(before)
}

/// Whether a file is a left-over of an unfinished change: a replacement never renamed, or a file never deleted.
pub(super) fn is_left_over(name: &str) -> bool {
    [DELETED, REPLACED, TEMPORARY, SWAP, CLEANED].iter().any(|suffix| name.ends_with(suffix))
}

/// The partition of a folder's name: `topic-0`.
pub(super) fn partition(name: &str) -> Option<TopicPartition> {
    let (topic, partition) = name.rsplit_once('-')?;
    let partition = partition.parse().ok().filter(|&it: &i32| it >= 0)?;
    (!topic.is_empty()).then(|| TopicPartition::new(topic, partition))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_out_of_the_way_has_a_name_that_fits() {
        let longest = format!("{}-99999", "a".repeat(249));
        for folder in ["a-0", &longest] {
            let deleted = out_of_the_way(folder, DELETE);
            assert!(deleted.len() <= 255 && is_deleted_folder(&deleted), "{deleted}");
            assert!(!is_deleted_folder(&out_of_the_way(folder, STRAY)));
        }
        for other in ["my-delete", "a.b-delete", "a-0"] {
            assert!(!is_deleted_folder(other), "{other}");
        }
    }

    #[test]
    fn the_folder_that_a_partition_is_moved_to_tells_which_it_is() {
        let name = out_of_the_way("a.b-3", FUTURE);
        assert_eq!(future_partition(&name), Some(TopicPartition::new("a.b", 3)));
        assert_eq!(partition(&name), None);
        for other in ["a-3", "a-3.0011-future", &out_of_the_way("a-3", DELETE)] {
            assert_eq!(future_partition(other), None, "{other}");
        }
        let fits = |topic: usize| can_be_future(&format!("{}-0", "a".repeat(topic)));
        assert_eq!([213, 214].map(fits), [true, false]);
    }

    #[test]
    fn folders_are_named_as_kafka_names_them() {
        assert_eq!(partition("a-b-3"), Some(TopicPartition::new("a-b", 3)));
        for other in ["plugins", "a-x", "-1", "a-3.0011-delete"] {
            assert_eq!(partition(other), None, "{other}");
        }
    }

    #[test]
    fn a_name_is_its_offset_in_twenty_digits() {
        assert_eq!(of(Offset(42), LOG), "00000000000000000042.log");
        assert_eq!(deleted(&deleted(Path::new("a.log"))), Path::new("a.log.deleted"));
        assert_eq!(deleted(&replaced(Path::new("a.log"))), Path::new("a.log.deleted"));
        assert_eq!(in_place(&replaced(&replaced(Path::new("a.log")))), Path::new("a.log"));
        assert_eq!(in_place(Path::new("a.log")), Path::new("a.log"));
        for path in ["a.log", "a.log.cleaned", "a.log.swap"] {
            assert_eq!(swap(Path::new(path)), Path::new("a.log.swap"));
        }
        assert_eq!(offset("00000000000000000042.log", LOG), Some(Offset(42)));
        for other in ["42.log", "0000000000000000004x.log", "99999999999999999999.log", "a.index"] {
            assert_eq!(offset(other, LOG), None, "{other}");
        }
    }
}
