//! `partition.metadata`: which topic a folder belongs to. A topic made again under its old name must not find the old
//! one's records.

use std::path::Path;

use super::{LogError, file::Disk};
use crate::base::{TopicId, kafka_uuid};

pub(super) const FILE_NAME: &str = "partition.metadata";

/// `None` if the file is absent or damaged.
pub(super) fn read(disk: &dyn Disk, dir: &Path) -> Result<Option<TopicId>, LogError> {
    let path = dir.join(FILE_NAME);
    let bytes = disk.read_small(&path).map_err(LogError::storage("read", &path))?;
    Ok(bytes.and_then(|it| decode(&it)))
}

pub(super) fn write(disk: &dyn Disk, dir: &Path, topic_id: TopicId) -> Result<(), LogError> {
    let path = dir.join(FILE_NAME);
    let text = format!("version: 0\ntopic_id: {}\n", kafka_uuid::encode(topic_id.0));
    // Not durable: written anew when it is missing.
    disk.replace(&path, text.as_bytes(), false).map_err(LogError::storage("write", &path))
}

fn decode(bytes: &[u8]) -> Option<TopicId> {
    let mut lines = std::str::from_utf8(bytes).ok()?.lines();
    lines.next().filter(|&it| it == "version: 0")?;
    let id = lines.next()?.strip_prefix("topic_id: ")?;
    kafka_uuid::decode(id.trim()).map(TopicId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_file_names_a_topic() {
        let id = TopicId(uuid::Uuid::from_u128(77));
        let text = format!("version: 0\ntopic_id: {}\n", kafka_uuid::encode(id.0));
        assert_eq!(decode(text.as_bytes()), Some(id));
        for broken in ["", "version: 0\n", "version: 1\ntopic_id: AAAA", "topic_id: x"] {
            assert_eq!(decode(broken.as_bytes()), None, "{broken:?}");
        }
    }
}
