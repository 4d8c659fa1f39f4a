//! What lies in the watched folder, and what of it is due: changed, and at rest between two looks.
//!
//! A half-written file is never read: its size or time still moves. A file that is gone for a moment, while a
//! symbolic link is swapped, is not gone. Only the top level counts.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
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

/// Files that nobody will make plugins of, which are told of and shown; there may be more.
const STRAYS_MAX: usize = 100;

/// What tells one content of a path from another without reading it. Links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileId {
    bytes: u64,
    modified: Option<SystemTime>,
    place: Place,
}

/// Device and inode, and when the inode changed: a file swapped in by rename is another one, though it may have the
/// size, the time and even the inode of the one before, as files of reproducible archives do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    device: u64,
    inode: u64,
    changed: (i64, i64),
}

/// The files of one name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) wasm: Option<FileId>,
    pub(super) toml: Option<FileId>,
}

/// A file that is taken for a plugin's and is none, with the reason; by default one that is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stray {
    id: Option<FileId>,
    pub(super) reason: &'static str,
}

/// One look at the folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) names: BTreeMap<PluginName, Entry>,
    /// By the file's name.
    pub(super) strays: BTreeMap<String, Stray>,
}

/// Compares looks. What is not there has the default.
#[derive(Debug)]
pub(super) struct Changes<K, V> {
    last: BTreeMap<K, V>,
    handled: BTreeMap<K, V>,
}

/// What a look asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Due<K, V> {
    /// At rest and not yet handled, with what they are now.
    pub(super) names: Vec<(K, V)>,
    /// Something still moves: look again soon.
    pub(super) unsettled: bool,
}

impl<K, V> Default for Changes<K, V> {
    fn default() -> Self {
        Self { last: BTreeMap::new(), handled: BTreeMap::new() }
    }
}

impl<K: Ord + Clone, V: Copy + Default + PartialEq> Changes<K, V> {
    pub(super) fn observe(&mut self, look: BTreeMap<K, V>) -> Due<K, V> {
        let mut due = Due { names: Vec::new(), unsettled: false };
        let names: BTreeSet<&K> =
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
    pub(super) fn begin(&mut self, look: BTreeMap<K, V>) {
        self.last = look;
    }

    pub(super) fn handled(&mut self, name: K, now: V) {
        if now == V::default() {
            self.handled.remove(&name);
        } else {
            self.handled.insert(name, now);
        }
    }
}

/// Looks at the folder; one that is not there is empty.
pub(super) fn look(dir: &Path) -> io::Result<Look> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Look::default()),
        Err(error) => return Err(error),
    };
    let mut look = Look::default();
    for entry in entries {
        look.add(&entry?.path());
    }
    Ok(look)
}

/// What a path is to the room.
enum Role {
    Wasm(PluginName),
    Toml(PluginName),
    /// It was meant to be one of these.
    Stray(&'static str),
}

impl Look {
    fn add(&mut self, path: &Path) {
        let Some(role) = role(path) else { return };
        // A dangling link, or a file that went away just now: not there.
        let Ok(metadata) = fs::metadata(path) else { return };
        let id = FileId::of(&metadata);
        match role {
            Role::Stray(reason) => self.stray(path, id, reason),
            _ if !metadata.is_file() => self.stray(path, id, "it is no file"),
            Role::Wasm(name) => self.names.entry(name).or_default().wasm = Some(id),
            Role::Toml(name) => self.names.entry(name).or_default().toml = Some(id),
        }
    }

    fn stray(&mut self, path: &Path, id: FileId, reason: &'static str) {
        if self.strays.len() < STRAYS_MAX {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let name = name.replace(char::is_control, "?");
            self.strays.insert(name, Stray { id: Some(id), reason });
        }
    }
}

/// `None` for what is nobody's business here; hidden files are editors' and ConfigMaps' own.
fn role(path: &Path) -> Option<Role> {
    let extension = path.extension()?.to_str()?;
    let stem = path.file_stem()?;
    if stem.as_encoded_bytes().starts_with(b".") {
        return None;
    }
    match (extension.to_ascii_lowercase().as_str(), extension) {
        ("wasm", "wasm") => Some(name_of(stem).map_or_else(Role::Stray, Role::Wasm)),
        ("toml", "toml") => Some(name_of(stem).map_or_else(Role::Stray, Role::Toml)),
        ("wasm", _) => Some(Role::Stray("its name does not end in `.wasm`, in lower case")),
        ("toml", _) => Some(Role::Stray("its name does not end in `.toml`, in lower case")),
        _ => None,
    }
}

/// The name that a file's stem gives a plugin.
///
/// # Errors
///
/// Why it is none.
pub(super) fn name_of(stem: &OsStr) -> Result<PluginName, &'static str> {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"-_.".contains(&it);
    match stem.to_str() {
        Some(name) if name.len() > NAME_BYTES_MAX => Err("its name is too long, at most 128 bytes"),
        Some(name) if name.bytes().all(is_plain) => Ok(PluginName::from(name)),
        _ => Err("a plugin's name has letters, digits, `-`, `_` and `.` only"),
    }
}

impl FileId {
    fn of(metadata: &Metadata) -> Self {
        Self { bytes: metadata.len(), modified: metadata.modified().ok(), place: place(metadata) }
    }
}

#[cfg(unix)]
fn place(metadata: &Metadata) -> Place {
    use std::os::unix::fs::MetadataExt;
    Place {
        device: metadata.dev(),
        inode: metadata.ino(),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
    }
}

#[cfg(not(unix))]
fn place(_: &Metadata) -> Place {
    Place::default()
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
    let is_same = |file: &File| Ok::<_, io::Error>(FileId::of(&file.metadata()?) == id);
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
        let place = Place { inode: bytes, ..Place::default() };
        FileId { bytes, modified: Some(SystemTime::UNIX_EPOCH), place }
    }

    type Names = BTreeMap<PluginName, Entry>;

    const NOTHING: Due<PluginName, Entry> = Due { names: Vec::new(), unsettled: false };

    fn one(name: &str, entry: Entry) -> Names {
        Names::from([(PluginName::from(name), entry)])
    }

    fn names(due: &Due<PluginName, Entry>) -> Vec<&str> {
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
        assert_eq!(changes.observe(one("a", entry(30))), NOTHING);
    }

    #[test]
    fn a_file_that_is_gone_for_one_look_is_not_gone() {
        let mut changes = Changes::default();
        let entry = Entry { wasm: Some(file(1)), toml: None };
        changes.observe(one("a", entry));
        changes.observe(one("a", entry));
        changes.handled("a".into(), entry);
        assert!(changes.observe(Names::new()).names.is_empty());
        assert!(changes.observe(one("a", entry)).names.is_empty());
        assert!(changes.observe(one("a", entry)).names.is_empty());
        changes.observe(Names::new());
        let due = changes.observe(Names::new());
        assert_eq!(due.names, [("a".into(), Entry::default())]);
        changes.handled("a".into(), Entry::default());
        assert_eq!(changes.observe(Names::new()), NOTHING);
    }

    #[test]
    fn a_swapped_link_and_a_changed_toml_are_changes() {
        let mut changes = Changes::default();
        let before = Entry { wasm: Some(file(1)), toml: None };
        changes.handled("a".into(), before);
        changes.begin(one("a", before));
        let mut swapped = before;
        if let Some(id) = &mut swapped.wasm {
            id.place.inode += 1;
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
        for name in
            ["a.wasm", "a.toml", ".hidden.wasm", "b.wasm.part", "c d.wasm", "e.txt", "g.WASM"]
        {
            fs::write(dir.path().join(name), b"x").expect("write");
        }
        fs::create_dir_all(dir.path().join("sub.wasm")).expect("folder");
        fs::create_dir_all(dir.path().join("deep")).expect("folder");
        fs::write(dir.path().join("deep/f.wasm"), b"x").expect("write");
        let Look { names, strays } = look(dir.path()).expect("look");
        assert_eq!(names.keys().map(PluginName::as_str).collect::<Vec<_>>(), ["a"]);
        assert!(names.values().all(|it| it.wasm.is_some() && it.toml.is_some()));
        assert_eq!(strays.keys().collect::<Vec<_>>(), ["c d.wasm", "g.WASM", "sub.wasm"]);
    }

    #[test]
    fn another_content_of_the_same_size_time_and_inode_is_another_file() {
        let dir = tempfile::tempdir().expect("folder");
        let path = dir.path().join("a.wasm");
        let write = |bytes: &[u8]| {
            fs::write(&path, bytes).expect("write");
            let file = File::options().append(true).open(&path).expect("open");
            file.set_modified(SystemTime::UNIX_EPOCH).expect("touch");
            look(dir.path()).expect("look").names[&PluginName::from("a")]
        };
        let before = write(b"1234");
        // The clock of a file system may tick but every few milliseconds.
        let written_again = (0..10_000).map(|_| write(b"5678")).find(|it| *it != before);
        assert!(written_again.is_some());
    }

    #[test]
    fn a_missing_folder_is_empty() {
        assert_eq!(look(Path::new("/nowhere/at/all")).expect("look"), Look::default());
    }

    #[test]
    fn a_file_that_is_another_now_or_too_large_is_not_read() {
        let dir = tempfile::tempdir().expect("folder");
        let (name, path) = (PluginName::from("a"), dir.path().join("a.wasm"));
        fs::write(&path, b"1234").expect("write");
        let id = look(dir.path()).expect("look").names[&name].wasm.expect("there");
        assert_eq!(read_wasm(dir.path(), &name, id, 4).expect("read"), "1234");
        assert!(matches!(read_wasm(dir.path(), &name, id, 3), Err(ReadError::TooLarge { .. })));
        let file = File::options().append(true).open(&path).expect("open");
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1)).expect("touch");
        assert!(matches!(read_wasm(dir.path(), &name, id, 4), Err(ReadError::Moved)));
    }
}
