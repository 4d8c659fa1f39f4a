//! What lies in the watched folder, and which names of it are due: changed, and at rest between two looks.
//!
//! A half-written file is never read: its size or time still moves. A file that is gone for a moment, while a
//! symbolic link is swapped, is not gone. Only the top level counts.

use std::{
    collections::BTreeMap,
    fs::{self, File, Metadata},
    io::{self, Read},
    path::{Path, PathBuf},
    time::SystemTime,
};

use bytes::Bytes;

use crate::base::PluginName;

/// Bytes of a `NAME.toml`.
const TOML_BYTES_MAX: u64 = 256 * 1024;

/// Bytes of a plugin's name.
const NAME_BYTES_MAX: usize = 128;

/// What tells one content of a path from another without reading it. Links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileId {
    bytes: u64,
    modified: Option<SystemTime>,
    /// Device and inode: a file swapped in by rename is another one.
    place: (u64, u64),
}

/// The files of one name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) wasm: Option<FileId>,
    pub(super) toml: Option<FileId>,
}

/// One look at the folder.
pub(super) type Look = BTreeMap<PluginName, Entry>;

/// Compares looks.
#[derive(Debug, Default)]
pub(super) struct Changes {
    last: Look,
    handled: Look,
}

/// What a look asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Due {
    /// At rest and not yet handled, with what they are now.
    pub(super) names: Vec<(PluginName, Entry)>,
    /// Something still moves: look again soon.
    pub(super) unsettled: bool,
}

impl Changes {
    pub(super) fn observe(&mut self, look: Look) -> Due {
        let mut due = Due::default();
        let names: std::collections::BTreeSet<&PluginName> =
            look.keys().chain(self.last.keys()).chain(self.handled.keys()).collect();
        for name in names {
            let now = look.get(name).copied().unwrap_or_default();
            let is_handled = self.handled.get(name).copied().unwrap_or_default() == now;
            let is_at_rest = self.last.get(name).copied().unwrap_or_default() == now;
            match (is_handled, is_at_rest) {
                (false, true) => due.names.push((name.clone(), now)),
                (_, false) => due.unsettled = true,
                (true, true) => {}
            }
        }
        self.last = look;
        due
    }

    /// Takes a look as it is: at the start nobody waits for a writer.
    pub(super) fn begin(&mut self, look: Look) {
        self.last = look;
    }

    pub(super) fn handled(&mut self, name: PluginName, entry: Entry) {
        if entry == Entry::default() {
            self.handled.remove(&name);
        } else {
            self.handled.insert(name, entry);
        }
    }
}

/// Looks at the folder; one that is not there is empty.
pub(super) fn look(dir: &Path) -> io::Result<Look> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Look::new()),
        Err(error) => return Err(error),
    };
    let mut look = Look::new();
    for entry in entries {
        let path = entry?.path();
        let Some((name, is_wasm)) = plugin_name(&path) else { continue };
        // A dangling link, or a file that went away just now: not there.
        let Some(id) = fs::metadata(&path).ok().as_ref().and_then(FileId::of) else { continue };
        let files = look.entry(name).or_default();
        *(if is_wasm { &mut files.wasm } else { &mut files.toml }) = Some(id);
    }
    Ok(look)
}

/// The name, and whether it is the `.wasm`. Hidden files are editors' and ConfigMaps' own.
fn plugin_name(path: &Path) -> Option<(PluginName, bool)> {
    let is_wasm = match path.extension()?.to_str()? {
        "wasm" => true,
        "toml" => false,
        _ => return None,
    };
    let name = path.file_stem()?.to_str()?;
    let is_good = !name.starts_with('.')
        && name.len() <= NAME_BYTES_MAX
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_.".contains(&it));
    is_good.then(|| (PluginName::from(name), is_wasm))
}

impl FileId {
    fn of(metadata: &Metadata) -> Option<Self> {
        metadata.is_file().then(|| Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            place: place(metadata),
        })
    }
}

#[cfg(unix)]
fn place(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn place(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadError {
    /// It changed meanwhile: look again.
    #[error("changed while it was read")]
    Moved,
    #[error("is {bytes} bytes, at most {max} are read")]
    TooLarge { bytes: u64, max: u64 },
    #[error("read the file: {0}")]
    Io(#[from] io::Error),
}

/// Reads a `.wasm` that a look found.
pub(super) fn read_wasm(
    dir: &Path,
    name: &PluginName,
    id: FileId,
    max: u64,
) -> Result<Bytes, ReadError> {
    read(&path(dir, name, "wasm"), id, max).map(Bytes::from)
}

/// Reads a `.toml` that a look found.
pub(super) fn read_toml(dir: &Path, name: &PluginName, id: FileId) -> Result<String, ReadError> {
    let bytes = read(&path(dir, name, "toml"), id, TOML_BYTES_MAX)?;
    String::from_utf8(bytes)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error).into())
}

pub(super) fn path(dir: &Path, name: &PluginName, extension: &str) -> PathBuf {
    dir.join(format!("{name}.{extension}"))
}

/// What was read is what was looked at: before, after, and in size.
fn read(path: &Path, id: FileId, max: u64) -> Result<Vec<u8>, ReadError> {
    if id.bytes > max {
        return Err(ReadError::TooLarge { bytes: id.bytes, max });
    }
    let file = File::open(path)?;
    let is_same = |file: &File| Ok::<_, io::Error>(FileId::of(&file.metadata()?) == Some(id));
    if !is_same(&file)? {
        return Err(ReadError::Moved);
    }
    let mut bytes = Vec::with_capacity(id.bytes as usize);
    (&file).take(max).read_to_end(&mut bytes)?;
    if !is_same(&file)? || bytes.len() as u64 != id.bytes {
        return Err(ReadError::Moved);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn file(bytes: u64) -> FileId {
        FileId { bytes, modified: Some(SystemTime::UNIX_EPOCH), place: (1, bytes) }
    }

    fn one(name: &str, entry: Entry) -> Look {
        Look::from([(PluginName::from(name), entry)])
    }

    fn names(due: &Due) -> Vec<&str> {
        due.names.iter().map(|(name, _)| name.as_str()).collect()
    }

    #[test]
    fn a_file_is_due_once_it_is_at_rest_between_two_looks() {
        let mut changes = Changes::default();
        let entry = |bytes| Entry { wasm: Some(file(bytes)), toml: None };
        for bytes in [10, 20, 30] {
            let due = changes.observe(one("a", entry(bytes)));
            assert!(due.names.is_empty() && due.unsettled, "half-written at {bytes}");
        }
        let due = changes.observe(one("a", entry(30)));
        assert_eq!(names(&due), ["a"]);
        changes.handled("a".into(), entry(30));
        assert_eq!(changes.observe(one("a", entry(30))), Due::default());
    }

    #[test]
    fn a_file_that_is_gone_for_one_look_is_not_gone() {
        let mut changes = Changes::default();
        let entry = Entry { wasm: Some(file(1)), toml: None };
        changes.observe(one("a", entry));
        changes.observe(one("a", entry));
        changes.handled("a".into(), entry);
        assert!(changes.observe(Look::new()).names.is_empty());
        assert!(changes.observe(one("a", entry)).names.is_empty());
        assert!(changes.observe(one("a", entry)).names.is_empty());
        changes.observe(Look::new());
        let due = changes.observe(Look::new());
        assert_eq!(due.names, [("a".into(), Entry::default())]);
        changes.handled("a".into(), Entry::default());
        assert_eq!(changes.observe(Look::new()), Due::default());
    }

    #[test]
    fn a_swapped_link_and_a_changed_toml_are_changes() {
        let mut changes = Changes::default();
        let before = Entry { wasm: Some(file(1)), toml: None };
        changes.handled("a".into(), before);
        changes.begin(one("a", before));
        let mut swapped = before;
        if let Some(id) = &mut swapped.wasm {
            id.place.1 += 1;
        }
        assert!(changes.observe(one("a", swapped)).unsettled);
        assert_eq!(names(&changes.observe(one("a", swapped))), ["a"]);
        changes.handled("a".into(), swapped);
        let with_toml = Entry { toml: Some(file(5)), ..swapped };
        changes.observe(one("a", with_toml));
        assert_eq!(names(&changes.observe(one("a", with_toml))), ["a"]);
    }

    #[test]
    fn only_plain_names_at_the_top_level_count() {
        let dir = tempfile::tempdir().expect("folder");
        for name in ["a.wasm", "a.toml", ".hidden.wasm", "b.wasm.part", "c d.wasm", "e.txt"] {
            fs::write(dir.path().join(name), b"x").expect("write");
        }
        fs::create_dir_all(dir.path().join("sub.wasm")).expect("folder");
        fs::create_dir_all(dir.path().join("deep")).expect("folder");
        fs::write(dir.path().join("deep/f.wasm"), b"x").expect("write");
        let look = look(dir.path()).expect("look");
        assert_eq!(look.keys().map(PluginName::as_str).collect::<Vec<_>>(), ["a"]);
        assert!(look.values().all(|it| it.wasm.is_some() && it.toml.is_some()));
    }

    #[test]
    fn a_missing_folder_is_empty() {
        assert_eq!(look(Path::new("/nowhere/at/all")).expect("look"), Look::new());
    }

    #[test]
    fn a_file_that_is_another_now_or_too_large_is_not_read() {
        let dir = tempfile::tempdir().expect("folder");
        let (name, path) = (PluginName::from("a"), dir.path().join("a.wasm"));
        fs::write(&path, b"1234").expect("write");
        let id = look(dir.path()).expect("look")[&name].wasm.expect("there");
        assert_eq!(read_wasm(dir.path(), &name, id, 4).expect("read"), "1234");
        assert!(matches!(read_wasm(dir.path(), &name, id, 3), Err(ReadError::TooLarge { .. })));
        let file = File::options().append(true).open(&path).expect("open");
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1)).expect("touch");
        assert!(matches!(read_wasm(dir.path(), &name, id, 4), Err(ReadError::Moved)));
    }
}
