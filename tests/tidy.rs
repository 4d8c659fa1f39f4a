//! What must hold of the sources and documents themselves, and no compiler checks.
//!
//! Plain text search over the repository's own files: it links nothing of Klamm's, so it runs in a second. Each check names
//! every file that fails it.

#[path = "tidy/api.rs"]
mod api;
#[path = "tidy/documents.rs"]
mod documents;
#[path = "tidy/rooms.rs"]
mod rooms;
#[path = "tidy/sizes.rs"]
mod sizes;
#[path = "tidy/source.rs"]
mod source;
#[path = "tidy/words.rs"]
mod words;

/// Fails with all complaints at once.
#[track_caller]
fn assert_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}
