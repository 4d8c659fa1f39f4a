//! A line of standard input as the record that is sent for it.

use super::output::counted;
use crate::{
    telemetry,
    wire::record_batch::{Batch, BatchBuilder, Compression, RecordParts},
};

/// Runs of line numbers that a failure names.
const RUNS_MAX: usize = 10;

pub(super) struct KeyedLine {
    /// Counted from 1.
    pub(super) number: usize,
    pub(super) key: Option<Vec<u8>>,
    value: Vec<u8>,
}

impl KeyedLine {
    /// A line without the separator is a value alone.
    pub(super) fn new(number: usize, line: Vec<u8>, separator: Option<&[u8]>) -> Self {
        let parts = separator.and_then(|separator| {
            let at = line.windows(separator.len()).position(|it| it == separator)?;
            Some((line.get(..at)?.to_vec(), line.get(at + separator.len()..)?.to_vec()))
        });
        match parts {
            Some((key, value)) => Self { number, key: Some(key), value },
            None => Self { number, key: None, value: line },
        }
    }
}

/// `None` without lines.
pub(super) fn batch(lines: &[KeyedLine]) -> Option<Batch> {
    let mut builder = BatchBuilder::new(telemetry::now(), Compression::None);
    for (delta, line) in lines.iter().enumerate() {
        builder.push(&RecordParts {
            offset_delta: delta as i32,
            timestamp_delta: 0,
            key: line.key.as_deref(),
            value: Some(&line.value),
            headers: Vec::new(),
        });
    }
    builder.build()
}

/// Rising line numbers for people, as `lines 2 to 4, 7`.
pub(super) fn named(numbers: impl IntoIterator<Item = usize>) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let is_one = matches!(runs[..], [(first, last)] if first == last);
    let run = |&(first, last): &(usize, usize)| match last - first {
        0 => first.to_string(),
        _ => format!("{first} to {last}"),
    };
    let told: Vec<String> = runs.iter().take(RUNS_MAX).map(run).collect();
    let untold: usize = runs.iter().skip(RUNS_MAX).map(|(first, last)| last - first + 1).sum();
    let others = (untold > 0).then(|| format!(" and {}", counted(untold, "other")));
    let others = others.unwrap_or_default();
    format!("{} {}{others}", if is_one { "line" } else { "lines" }, told.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_at_its_first_separator() {
        for (line, separator, key, value) in [
            ("a=b=c", Some("="), Some("a"), "b=c"),
            ("=b", Some("="), Some(""), "b"),
            ("a::", Some("::"), Some("a"), ""),
            ("a:b", Some("::"), None, "a:b"),
            ("a=b", None, None, "a=b"),
        ] {
            let cut = KeyedLine::new(1, line.into(), separator.map(str::as_bytes));
            assert_eq!(cut.key.as_deref(), key.map(str::as_bytes), "{line}");
            assert_eq!(cut.value, value.as_bytes(), "{line}");
        }
    }

    #[test]
    fn neighbours_among_the_lines_are_named_together_and_not_all_of_many() {
        assert_eq!(named([2]), "line 2");
        assert_eq!(named([2, 3]), "lines 2 to 3");
        assert_eq!(named([2, 3, 4, 7, 9, 10]), "lines 2 to 4, 7, 9 to 10");
        let odd = (0..100).map(|it| 2 * it + 1);
        assert_eq!(named(odd), "lines 1, 3, 5, 7, 9, 11, 13, 15, 17, 19 and 90 others");
    }
}
