//! Drops files from the page cache, so that they are read from the disk again.

use anyhow::Result;
use clap::Args;
use rustix::fs::{Advice, fadvise};
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

#[derive(Args)]
pub(crate) struct Arguments {
    folder: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    drop_folder(&arguments.folder)
}

fn drop_folder(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            drop_folder(&path)?;
        } else if path.extension().is_some_and(|it| it == "log") {
            let file = File::open(&path)?;
            // Only what is on the disk can be dropped.
            file.sync_data()?;
            fadvise(&file, 0, None, Advice::DontNeed)?;
        }
    }
    Ok(())
}
