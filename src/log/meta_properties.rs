//! `meta.properties`: whose a log directory is. A node refuses another one's.

use std::{collections::HashMap, io, path::Path};

use uuid::Uuid;

use super::{LogError, file::Disk};
use crate::base::{BrokerId, kafka_uuid};

const FILE_NAME: &str = "meta.properties";

/// What `meta.properties` says.
#[derive(Clone, Debug)]
#[expect(clippy::struct_field_names, reason = "Kafka's own keys")]
pub(super) struct Meta {
    node_id: BrokerId,
    cluster_id: Option<String>,
    directory_id: Uuid,
}

/// Reads or makes `meta.properties`.
pub(super) fn own(disk: &dyn Disk, path: &Path, node_id: BrokerId) -> Result<Meta, LogError> {
    let meta_path = path.join(FILE_NAME);
    let Some(bytes) = disk.read_small(&meta_path).map_err(LogError::storage("read", &meta_path))?
    else {
        let meta = Meta { node_id, cluster_id: None, directory_id: Uuid::new_v4() };
        meta.store(disk, path)?;
        return Ok(meta);
    };
    let meta = Meta::decode(&bytes).ok_or_else(|| {
        let reason =
            "it is damaged: it needs version=1, node.id and directory.id; restore it from a copy";
        LogError::storage("read", &meta_path)(io::Error::new(io::ErrorKind::InvalidData, reason))
    })?;
    if meta.node_id != node_id {
        let reason = format!("it belongs to node {}, this is node {}", meta.node_id.0, node_id.0);
        return Err(LogError::DirectoryRefused { path: path.to_owned(), reason });
    }
    Ok(meta)
}

/// The cluster that a directory belongs to, as far as `meta.properties` tells.
pub(super) fn cluster_id(disk: &dyn Disk, path: &Path) -> Result<Option<String>, LogError> {
    let path = path.join(FILE_NAME);
    let bytes = disk.read_small(&path).map_err(LogError::storage("read", &path))?;
    Ok(bytes.and_then(|it| Meta::decode(&it)).and_then(|it| it.cluster_id))
}

impl Meta {
    /// Ties the directory to a cluster, for good.
    ///
    /// # Errors
    ///
    /// [`LogError::DirectoryRefused`] if it belongs to another one.
    pub(super) fn claim(
        &mut self,
        disk: &dyn Disk,
        dir: &Path,
        cluster_id: &str,
    ) -> Result<(), LogError> {
        match &self.cluster_id {
            Some(known) if known == cluster_id => Ok(()),
            Some(known) => {
                let reason = format!("it belongs to cluster {known}, this node is of {cluster_id}");
                Err(LogError::DirectoryRefused { path: dir.to_owned(), reason })
            }
            None => {
                self.cluster_id = Some(cluster_id.to_owned());
                self.store(disk, dir)
            }
        }
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let properties: HashMap<_, _> = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split_once('='))
            .map(|(key, value)| (key.trim(), value.trim()))
            .collect();
        let id = *properties.get("node.id").or_else(|| properties.get("broker.id"))?;
        Some(Self {
            node_id: BrokerId(id.parse().ok()?),
            cluster_id: properties.get("cluster.id").map(ToString::to_string),
            directory_id: properties
                .get("directory.id")
                .and_then(|it| kafka_uuid::decode(it))
                .unwrap_or_else(Uuid::new_v4),
        })
    }

    fn store(&self, disk: &dyn Disk, dir: &Path) -> Result<(), LogError> {
        let path = dir.join(FILE_NAME);
        let cluster_id = self.cluster_id.as_ref().map(|it| format!("cluster.id={it}\n"));
        let text = format!(
            "version=1\nnode.id={}\ndirectory.id={}\n{}",
            self.node_id.0,
            kafka_uuid::encode(self.directory_id),
            cluster_id.unwrap_or_default()
        );
        disk.replace(&path, text.as_bytes(), true).map_err(LogError::storage("write", &path))
    }
}
