//! `plugins/guests.lock`: what the committed components were built from, and by which compiler.
//!
//! Not named `.toml`: a broker that is run from the repository watches that folder for settings files.

use super::guest::Guest;
use super::sources;
use super::toolchain::Toolchain;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const FILE: &str = "plugins/guests.lock";
const HEAD: &str =
    "# Written by `cargo xtask guests build`: what the committed components were built from.\n\n";

#[derive(Serialize, Deserialize)]
pub(crate) struct Record {
    /// `rustc -V` of the compiler.
    rustc: String,
    guests: BTreeMap<String, Entry>,
}

/// SHA-256 in lower-case hex.
#[derive(Serialize, Deserialize)]
struct Entry {
    sources: String,
    component: String,
}

impl Record {
    pub(crate) fn new(rustc: &str) -> Self {
        Self { rustc: rustc.into(), guests: BTreeMap::new() }
    }

    pub(crate) fn read(root: &Path) -> Result<Self> {
        let text = fs::read_to_string(root.join(FILE)).with_context(|| format!("read {FILE}"))?;
        toml::from_str(&text).with_context(|| format!("read {FILE}"))
    }

    pub(crate) fn write(&self, root: &Path) -> Result<()> {
        let text = toml::to_string(self)?;
        fs::write(root.join(FILE), format!("{HEAD}{text}")).with_context(|| format!("write {FILE}"))
    }

    pub(crate) fn insert(&mut self, name: &str, sources: String, component: &[u8]) {
        let component = sources::hex(&Sha256::digest(component));
        self.guests.insert(name.into(), Entry { sources, component });
    }

    pub(crate) fn built_by(&self, toolchain: &Toolchain) -> bool {
        self.rustc == toolchain.version()
    }

    /// Whether a guest's committed component belongs to its sources, as far as the record tells.
    pub(crate) fn verify(&self, root: &Path, guest: &Guest) -> Result<()> {
        let entry = self
            .guests
            .get(&guest.name)
            .with_context(|| format!("{} is not in {FILE}", guest.name))?;
        let component = fs::read(&guest.component)?;
        ensure!(
            entry.component == sources::hex(&Sha256::digest(component)),
            "{} was not written by `cargo xtask guests build`",
            guest.component.display()
        );
        ensure!(
            entry.sources == sources::digest(root, &guest.folder)?,
            "{} is older than its sources: run `cargo xtask guests build`",
            guest.component.display()
        );
        Ok(())
    }
}
