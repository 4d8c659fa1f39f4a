//! Kafka's checkpoint files: text, a version line, a count line, then an entry a line.
//!
//! `leader-epoch-checkpoint` holds `epoch startOffset`; `recovery-point-offset-checkpoint` holds
//! `topic partition offset`.

use std::fmt::Write as _;

const VERSION: &str = "0";

pub(super) fn encode(entries: impl ExactSizeIterator<Item = String>) -> Vec<u8> {
    let mut out = format!("{VERSION}\n{}\n", entries.len());
    for entry in entries {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{entry}");
    }
    out.into_bytes()
}

/// Reads the entries by `entry`; `None` for a file that is not whole.
pub(super) fn decode<T>(bytes: &[u8], entry: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    let mut lines = std::str::from_utf8(bytes).ok()?.lines();
    if lines.next()? != VERSION {
        return None;
    }
    let count: usize = lines.next()?.parse().ok()?;
    let entries: Vec<T> = lines.map(entry).collect::<Option<_>>()?;
    (entries.len() == count).then_some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_with_a_missing_line_is_not_whole() {
        let parse = |line: &str| line.parse::<i32>().ok();
        let file = encode(["4", "5"].map(String::from).into_iter());
        assert_eq!(file, b"0\n2\n4\n5\n");
        assert_eq!(decode(&file, parse), Some(vec![4, 5]));
        for broken in ["", "0\n", "1\n0\n", "0\n2\n4\n", "0\n1\nx\n"] {
            assert_eq!(decode(broken.as_bytes(), parse), None, "{broken:?}");
        }
    }
}
