//! Where the metadata log of a node is, and that it is not made anew beside records of an earlier life: their topics would be
//! gone, and the cluster another one.

use std::{path::PathBuf, sync::Arc};

use anyhow::Context as _;

use crate::{config::Config, log::DirOwner, quorum::Quorum};

/// Its folder, in the first log directory, under Kafka's name.
const FOLDER: &str = "__cluster_metadata-0";

pub(super) async fn start(config: &Config) -> anyhow::Result<Arc<Quorum>> {
    Quorum::start(folder(config)?, config.node.id).await.context("open the metadata log")
}

/// Fails if there is no metadata log although some log directory was in use; to be asked before anything is made.
pub(super) fn refuse_if_lost(config: &Config) -> anyhow::Result<()> {
    let folder = folder(config)?;
    if Quorum::is_there(&folder) {
        return Ok(());
    }
    for dir in &config.log.dirs {
        let holds = match DirOwner::of(dir)? {
            None => continue,
            Some(DirOwner::Cluster(id)) => format!("belongs to cluster {id}"),
            Some(DirOwner::Unknown) => "holds partitions".into(),
        };
        anyhow::bail!(
            "the metadata log {} is missing, though {} {holds}; restore it from a copy, or start with empty log directories",
            folder.display(),
            dir.display()
        );
    }
    Ok(())
}

fn folder(config: &Config) -> anyhow::Result<PathBuf> {
    Ok(config.log.dirs.first().context("log.dirs names no folder")?.join(FOLDER))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{base::BrokerId, log::LogDir};

    #[test]
    fn a_new_node_may_find_what_is_no_sign_of_an_earlier_one() {
        let (root, config) = two_dirs();
        // A first start that was killed before it had named its cluster, and a folder of somebody else's.
        drop(LogDir::open(&root.path().join("one"), BrokerId(1)).unwrap());
        fs::create_dir_all(root.path().join("one/backup-2024")).unwrap();
        fs::create_dir_all(root.path().join("one").join(FOLDER)).unwrap();
        refuse_if_lost(&config).unwrap();
    }

    #[test]
    fn a_lost_metadata_log_is_told_of_with_whose_the_directory_is() {
        let (root, config) = two_dirs();
        let two = root.path().join("two");
        LogDir::open(&two, BrokerId(1)).unwrap().claim("a-cluster").unwrap();
        for file in ["partition.metadata", "00000000000000000000.log"] {
            let error = refuse_if_lost(&config).unwrap_err().to_string();
            assert!(error.contains("two belongs to cluster a-cluster"), "{error}");

            let properties = fs::read(two.join("meta.properties")).unwrap();
            fs::remove_file(two.join("meta.properties")).unwrap();
            refuse_if_lost(&config).unwrap();
            fs::create_dir(two.join("t-0")).unwrap();
            fs::write(two.join("t-0").join(file), "").unwrap();
            let error = refuse_if_lost(&config).unwrap_err().to_string();
            assert!(error.contains("two holds partitions"), "{error}");
            fs::remove_dir_all(two.join("t-0")).unwrap();
            fs::write(two.join("meta.properties"), properties).unwrap();
        }
        assert!(!root.path().join("one").exists());
    }

    #[tokio::test]
    async fn a_metadata_log_that_is_there_is_not_lost() {
        let (root, config) = two_dirs();
        start(&config).await.unwrap().shutdown().await.unwrap();
        LogDir::open(&root.path().join("two"), BrokerId(1)).unwrap().claim("a-cluster").unwrap();
        refuse_if_lost(&config).unwrap();
    }

    fn two_dirs() -> (tempfile::TempDir, Config) {
        let root = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.log.dirs = ["one", "two"].map(|it| root.path().join(it)).into();
        (root, config)
    }
}
