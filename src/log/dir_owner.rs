//! Whose a log directory is, found without touching it.

use std::path::Path;

use super::{
    LogError,
    file::{Disk, RealDisk},
    file_name, meta_properties, partition_metadata,
};

/// Who has kept records in a log directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DirOwner {
    /// By the id in `meta.properties`.
    Cluster(String),
    /// There are partitions, and no `meta.properties` that names a cluster.
    Unknown,
}

impl DirOwner {
    /// `None` for a directory that is not there, or that no node was done with starting in.
    pub fn of(path: &Path) -> Result<Option<Self>, LogError> {
        let disk = RealDisk;
        if let Some(id) = meta_properties::cluster_id(&disk, path)? {
            return Ok(Some(Self::Cluster(id)));
        }
        if !path.exists() {
            return Ok(None);
        }
        for name in disk.list(path).map_err(LogError::storage("list", path))? {
            if file_name::partition(&name).is_some() && is_partition(&disk, &path.join(name))? {
                return Ok(Some(Self::Unknown));
            }
        }
        Ok(None)
    }
}

/// Its name alone does not make a folder a partition's.
fn is_partition(disk: &dyn Disk, dir: &Path) -> Result<bool, LogError> {
    if !dir.is_dir() {
        return Ok(false);
    }
    let names = disk.list(dir).map_err(LogError::storage("list", dir))?;
    let is_its_file = |name: &String| {
        name == partition_metadata::FILE_NAME || file_name::offset(name, file_name::LOG).is_some()
    };
    Ok(names.iter().any(is_its_file))
}
