//! Settings for names that match a pattern: `*` any text, `?` one character; the longest pattern wins.

use std::collections::BTreeMap;

/// A pattern with the settings of the names that match it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub pattern: String,
    pub settings: BTreeMap<String, String>,
}

/// The patterns of one table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patterns(pub Vec<Pattern>);

impl Patterns {
    /// The settings of the longest pattern that matches; of two that are equally long, the first in alphabetical order.
    pub fn find(&self, name: &str) -> Option<&BTreeMap<String, String>> {
        self.0
            .iter()
            .filter(|it| matches(it.pattern.as_bytes(), name.as_bytes()))
            .max_by(|a, b| {
                a.pattern.len().cmp(&b.pattern.len()).then_with(|| b.pattern.cmp(&a.pattern))
            })
            .map(|it| &it.settings)
    }
}

/// Matches in linear space and at most quadratic time: on a mismatch only the last `*` is retried.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut read) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while read < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                retry = Some((at, read));
                at += 1;
            }
            Some(&wanted) if wanted == b'?' || Some(&wanted) == name.get(read) => {
                at += 1;
                read += 1;
            }
            _ => match retry {
                Some((star, from)) => {
                    retry = Some((star, from + 1));
                    at = star + 1;
                    read = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(at).all(|&rest| rest == b'*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_is_any_text_and_a_question_mark_one_character() {
        for (pattern, name, want) in [
            ("logs-*", "logs-a", true),
            ("logs-*", "logs", false),
            ("*", "", true),
            ("a*b*c", "axxbxxbc", true),
            ("a*b*c", "axxbxx", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), want, "{pattern} {name}");
        }
    }
}
