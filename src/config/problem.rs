//! What is wrong with a configuration: all of it at once, not the first mistake alone.

use std::fmt;

/// More than anybody mends at a time: the rest is counted.
pub(super) const LISTED_MAX: usize = 100;

/// One problem, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Such as `klamm.toml:3` or `--set`.
    pub place: String,
    /// The setting's name; empty for a file that is no TOML.
    pub key: String,
    pub reason: String,
}

impl Problem {
    fn line(&self) -> usize {
        let line = self.place.rsplit_once(':').and_then(|(_, line)| line.parse().ok());
        line.unwrap_or(usize::MAX)
    }
}

/// The problems of a configuration, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl Problems {
    /// Into the order of the file, where `--set` comes last; what has no line keeps its place among its like.
    pub(super) fn sort(&mut self) {
        self.0.sort_by_cached_key(Problem::line);
    }

    /// Whether another problem is one of those that are listed.
    pub(super) fn lists_more(&self) -> bool {
        self.0.len() < LISTED_MAX
    }

    pub fn add(&mut self, place: &str, key: &str, reason: impl fmt::Display) {
        self.0.push(Problem { place: place.into(), key: key.into(), reason: reason.to_string() });
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Problem { place, key, reason }) in self.0.iter().take(LISTED_MAX).enumerate() {
            let line_end = if index == 0 { "" } else { "\n" };
            match key.as_str() {
                "" => write!(f, "{line_end}{place}: {reason}")?,
                key => write!(f, "{line_end}{place}: {key}: {reason}")?,
            }
        }
        match self.0.len().saturating_sub(LISTED_MAX) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

impl std::error::Error for Problems {}

/// The candidate nearest to `word` by edit distance, if it is near enough to be what was meant.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (difference(word, candidate), candidate))
        .filter(|&(distance, candidate)| distance <= candidate.len().div_ceil(3))
        .min()
        .map(|(_, candidate)| candidate)
}

/// A name without its beginning is as near as a slip of the finger.
fn difference(word: &str, name: &str) -> usize {
    let end = name.strip_suffix(word).is_some_and(|it| it.ends_with('.'));
    if end && !word.is_empty() { 1 } else { distance(word, name) }
}

/// Levenshtein's edit distance of two short texts; long ones are cut.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) =
        (a.chars().take(100).collect(), b.chars().take(100).collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        let mut next = vec![left];
        for (to, &up) in b.iter().zip(row.iter().skip(1)) {
            left = (diagonal + usize::from(from != to)).min(up + 1).min(left + 1);
            diagonal = up;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested_unless_nothing_is_near() {
        let known = ["num.partitions", "node.id", "log.dirs"];
        assert_eq!(nearest("num.partition", known), Some("num.partitions"));
        assert_eq!(nearest("log.dir", known), Some("log.dirs"));
        assert_eq!(nearest("dirs", known), Some("log.dirs"));
        assert_eq!(nearest("zookeeper.connect", known), None);
    }
}
