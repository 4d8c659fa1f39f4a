//! Files as a slip of the hand, or a stranger, leaves them: for tests of what reads files.

use proptest::{collection::vec, prelude::*, sample::Index};

/// What is put into a text: parts of TOML, and what is none.
const PUT: &str = "[-+.,:=_#'\"{}\\[\\]\\\\\n a-e0-9\u{e9}]{0,8}";

/// The text with a few places cut out, and others put there.
pub(crate) fn edited(text: &str) -> impl Strategy<Value = String> {
    let text: Vec<char> = text.chars().collect();
    vec((any::<Index>(), 0_usize..12, PUT), 1..6).prop_map(move |edits| {
        let mut text = text.clone();
        for (at, cut, put) in edits {
            let from = at.index(text.len() + 1);
            let to = (from + cut).min(text.len());
            text.splice(from..to, put.chars());
        }
        text.into_iter().collect()
    })
}
