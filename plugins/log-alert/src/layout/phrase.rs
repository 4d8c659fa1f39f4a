//! Fixed phrases that hold a level among words: PHP's and Erlang's.

use crate::level::Level;

const PHRASES: [(&[u8], Level); 10] = [
    (b"PHP Fatal error:", Level::Fatal),
    (b"PHP Recoverable fatal error:", Level::Error),
    (b"PHP Parse error:", Level::Error),
    (b"PHP Warning:", Level::Warning),
    (b"PHP Notice:", Level::Notice),
    (b"PHP Deprecated:", Level::Notice),
    (b"=ERROR REPORT====", Level::Error),
    (b"=CRASH REPORT====", Level::Error),
    (b"=WARNING REPORT====", Level::Warning),
    (b"=INFO REPORT====", Level::Info),
];

/// The level of the phrase with which `text` begins, and its length.
pub(crate) fn level(text: &[u8]) -> Option<(Level, usize)> {
    if !text.starts_with(b"PHP ") && !text.starts_with(b"=") {
        return None;
    }
    let (phrase, level) = PHRASES.iter().find(|(phrase, _)| text.starts_with(phrase))?;
    Some((*level, phrase.len()))
}
