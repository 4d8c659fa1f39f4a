//! The committed components belong to the committed sources, as `plugins/guests.lock` tells.
//!
//! Needs no WebAssembly toolchain: `cargo xtask guests check` is the test that compiles them.

#[path = "../xtask/src/guests/sources.rs"]
mod sources;

use sha2::{Digest as _, Sha256};
use std::path::Path;
use std::{fs, path::PathBuf};

const HINT: &str = "run `cargo xtask guests build`";

/// Every guest's folder by its name: a folder with a component of its name in it.
fn guests(root: &Path) -> Vec<(String, PathBuf)> {
    let folders = ["plugins", "examples", "tests/guests"]
        .map(|parent| fs::read_dir(root.join(parent)).unwrap());
    let folders = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    let named =
        folders.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path));
    named.filter(|(name, path)| path.join(format!("{name}.wasm")).exists()).collect()
}

#[test]
fn committed_components_belong_to_their_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let record: toml::Table =
        fs::read_to_string(root.join("plugins/guests.lock")).unwrap().parse().unwrap();
    let recorded = record["guests"].as_table().unwrap();
    let guests = guests(root);
    assert!(guests.len() >= 8, "only {} guests", guests.len());
    assert_eq!(recorded.len(), guests.len(), "guests.lock and the folders disagree: {HINT}");
    for (name, folder) in guests {
        let component = fs::read(folder.join(format!("{name}.wasm"))).unwrap();
        let entry = &recorded[&name];
        let hash = sources::hex(&Sha256::digest(component));
        assert_eq!(entry["component"].as_str(), Some(hash.as_str()), "{name}.wasm: {HINT}");
        let sources = sources::digest(root, &folder).unwrap();
        assert_eq!(entry["sources"].as_str(), Some(sources.as_str()), "sources of {name}: {HINT}");
    }
}
