//! How large the file system of a log directory is, and how much of it is left.

use super::{LogDir, LogError};

/// Bytes of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    pub total_bytes: u64,
    /// What this process may still use.
    pub usable_bytes: u64,
}

impl LogDir {
    /// Asks the file system.
    pub fn space(&self) -> Result<Space, LogError> {
        let found = rustix::fs::statvfs(&self.path)
            .map_err(|it| LogError::storage("ask for the room of", &self.path)(it.into()))?;
        Ok(Space {
            total_bytes: found.f_blocks.saturating_mul(found.f_frsize),
            usable_bytes: found.f_bavail.saturating_mul(found.f_frsize),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::BrokerId;

    #[test]
    fn no_more_is_usable_than_there_is() {
        let root = tempfile::tempdir().unwrap();
        let space = LogDir::open(root.path(), BrokerId(1)).unwrap().space().unwrap();
        assert!(space.total_bytes > 0);
        assert!(space.usable_bytes <= space.total_bytes);
    }
}
