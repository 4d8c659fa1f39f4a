//! The versions of plugins that a rollback needs, in a folder of the node's own, so that a restart forgets neither the
//! version before nor that it was put back into use.
//!
//! Rule: what is read is what was written, told by its SHA-256. Whatever fails here costs a rollback and nothing else.
//!
//! ```text
//! NAME/ran.toml       which version runs, which ran before, and which the one that runs was put in the place of
//! NAME/SHA256.wasm    these two, as far as they came from files
//! ```

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::sha256::sha256;
use crate::base::PluginName;

/// What ran under a name, by SHA-256.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Ran {
    pub(super) newest: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) previous: Option<String>,
    /// What lay in the folder when `newest` was put back into use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) instead_of: Option<String>,
}

/// What a start makes of [`Ran`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// For a rollback.
    Previous(String),
    /// In use instead of what lies in the folder.
    InUse(String),
}

impl Ran {
    /// What is to be restored beside the version that was found in the folder.
    pub(super) fn beside(self, found: &str) -> Option<Kept> {
        if self.newest == found {
            self.previous.map(Kept::Previous)
        } else if self.instead_of.as_deref() == Some(found) {
            Some(Kept::InUse(self.newest))
        } else {
            Some(Kept::Previous(self.newest))
        }
    }

    fn needs(&self, sha256: &str) -> bool {
        self.newest == sha256 || self.previous.as_deref() == Some(sha256)
    }
}

impl Kept {
    pub(super) fn sha256(&self) -> &str {
        let (Self::Previous(sha256) | Self::InUse(sha256)) = self;
        sha256
    }
}

/// The folder.
#[derive(Clone, Debug)]
pub(super) struct Versions {
    pub(super) dir: PathBuf,
    /// `klamm.plugin.file.max.bytes`
    pub(super) bytes_max: u64,
}

/// Bytes of a `ran.toml`, which has three lines.
const RAN_BYTES_MAX: u64 = 4096;

impl Versions {
    /// What ran before this start; nothing if that cannot be read.
    pub(super) fn ran(&self, name: &PluginName) -> Option<Ran> {
        let bytes = read(&self.path(name, "ran.toml"), RAN_BYTES_MAX);
        let parsed = bytes.and_then(|it| parse(&it));
        let unless_absent = |error: &io::Error| {
            if error.kind() != io::ErrorKind::NotFound {
                warn(name, error);
            }
        };
        parsed.inspect_err(unless_absent).ok()
    }

    /// Takes note of what runs now, and forgets versions that nobody can go back to.
    pub(super) fn note(&self, name: &PluginName, ran: &Ran) {
        if let Err(error) = self.try_note(name, ran) {
            warn(name, &error);
        }
    }

    fn try_note(&self, name: &PluginName, ran: &Ran) -> io::Result<()> {
        let text = toml::to_string(ran).map_err(io::Error::other)?;
        self.write(name, "ran.toml", text.as_bytes())?;
        for entry in fs::read_dir(self.dir.join(name.as_str()))? {
            let path = entry?.path();
            let is_wasm = path.extension().is_some_and(|it| it == "wasm");
            let sha256 = path.file_stem().and_then(|it| it.to_str()).unwrap_or_default();
            if is_wasm && !ran.needs(sha256) {
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    }

    /// Keeps a version that runs.
    pub(super) fn keep(&self, name: &PluginName, sha256: &str, wasm: &[u8]) {
        let file = format!("{sha256}.wasm");
        if self.path(name, &file).exists() {
            return;
        }
        if let Err(error) = self.write(name, &file, wasm) {
            warn(name, &error);
        }
    }

    /// A version that was kept.
    pub(super) fn wasm(&self, name: &PluginName, sha256: &str) -> Option<Bytes> {
        let wasm = read(&self.path(name, &format!("{sha256}.wasm")), self.bytes_max).ok()?;
        (self::sha256(&wasm) == sha256).then(|| wasm.into())
    }

    fn path(&self, name: &PluginName, file: &str) -> PathBuf {
        self.dir.join(name.as_str()).join(file)
    }

    /// Whole or not at all.
    fn write(&self, name: &PluginName, file: &str, bytes: &[u8]) -> io::Result<()> {
        let (path, part) = (self.path(name, file), self.path(name, &format!("{file}.part")));
        fs::create_dir_all(self.dir.join(name.as_str()))?;
        fs::write(&part, bytes)?;
        fs::rename(part, path)
    }
}

fn read(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is too large"));
    }
    Ok(bytes)
}

fn parse(bytes: &[u8]) -> io::Result<Ran> {
    toml::from_slice(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

fn warn(name: &PluginName, error: &io::Error) {
    let plugin = name.as_str();
    tracing::warn!(plugin, %error, "a restart will forget the plugin's version before this one");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(newest: &str, previous: Option<&str>, instead_of: Option<&str>) -> Ran {
        let [previous, instead_of] = [previous, instead_of].map(|it| it.map(String::from));
        Ran { newest: newest.into(), previous, instead_of }
    }

    #[test]
    fn a_start_goes_on_with_what_was_put_back_unless_the_file_has_changed() {
        let previous = |it: &str| Some(Kept::Previous(it.into()));
        for (ran, found, want) in [
            (ran("b", Some("a"), None), "b", previous("a")),
            (ran("b", None, None), "b", None),
            (ran("b", Some("a"), None), "c", previous("b")),
            (ran("a", Some("b"), Some("b")), "b", Some(Kept::InUse("a".into()))),
            (ran("a", Some("b"), Some("b")), "c", previous("a")),
            (ran("a", Some("b"), Some("b")), "a", previous("b")),
        ] {
            assert_eq!(ran.clone().beside(found), want, "{ran:?} beside {found}");
        }
    }

    #[test]
    fn what_is_kept_is_two_versions_as_they_were_written() {
        let dir = tempfile::tempdir().unwrap();
        let versions = Versions { dir: dir.path().join("made"), bytes_max: 10 };
        let name = PluginName::from("mine");
        assert_eq!(versions.ran(&name), None);
        let [old, before, now] = [b"old".as_slice(), b"before", b"now"];
        for wasm in [old, before, now] {
            versions.keep(&name, &sha256(wasm), wasm);
        }
        let ran = ran(&sha256(now), Some(&sha256(before)), None);
        versions.note(&name, &ran);
        assert_eq!(versions.ran(&name), Some(ran));
        let wasm = |it: &[u8]| versions.wasm(&name, &sha256(it));
        assert_eq!(
            [wasm(old), wasm(before), wasm(now)],
            [None, Some(before.into()), Some(now.into())]
        );
    }

    #[test]
    fn what_is_damaged_or_too_large_is_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let versions = Versions { dir: dir.path().into(), bytes_max: 10 };
        let name = PluginName::from("mine");
        let [torn, long] = [b"torn".as_slice(), b"longer than it may be"];
        for wasm in [torn, long] {
            versions.keep(&name, &sha256(wasm), wasm);
        }
        fs::write(versions.path(&name, &format!("{}.wasm", sha256(torn))), b"tor").unwrap();
        assert_eq!([torn, long].map(|it| versions.wasm(&name, &sha256(it))), [None, None]);
        for text in ["newest = 5", "\0", "newest = \"a\"\nfurther = 1", &"#".repeat(5_000)] {
            fs::write(versions.path(&name, "ran.toml"), text).unwrap();
            assert_eq!(versions.ran(&name), None, "{text}");
        }
    }
}
