//! Regular expressions by which members subscribe (KIP-848, `SubscribedTopicRegex`).
//!
//! Rule: as in Kafka a name must match as a whole, and internal topics are names like others. What a pattern may take is bounded,
//! since any client may send one.

mod syntax;

use std::collections::BTreeSet;

use regex::bytes::{Regex, RegexBuilder};

use crate::{base::TopicName, group::GroupError};

/// Longer ones are refused: hundreds of topics could be named one by one in it.
const PATTERN_BYTES_MAX: usize = 8 * 1024;
/// What a pattern may become in memory, and with it the work for each letter of a topic's name.
const COMPILED_BYTES_MAX: usize = 128 * 1024;

/// A pattern, ready for use.
#[derive(Clone, Debug)]
pub(super) struct TopicRegex(Regex);

impl TopicRegex {
    /// # Errors
    ///
    /// [`GroupError::InvalidRegularExpression`], with what is wrong.
    pub(super) fn compile(pattern: &str) -> Result<Self, GroupError> {
        compile(pattern).map(Self).map_err(|reason| {
            GroupError::InvalidRegularExpression(format!(
                "SubscribedTopicRegex `{pattern}` is not a valid regular expression: {reason}."
            ))
        })
    }

    pub(super) fn is_match(&self, topic: &TopicName) -> bool {
        self.0.is_match(topic.as_str().as_bytes())
    }

    /// Those of some topics that match.
    pub(super) fn resolve<'a>(
        &self,
        topics: impl IntoIterator<Item = &'a TopicName>,
    ) -> BTreeSet<TopicName> {
        topics.into_iter().filter(|it| self.is_match(it)).cloned().collect()
    }
}

fn compile(pattern: &str) -> Result<Regex, String> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(format!("it is longer than {PATTERN_BYTES_MAX} bytes"));
    }
    let pattern = syntax::of_re2(pattern);
    let build = |pattern: &str| {
        // Names are of ASCII, and so are classes such as `\w` in RE2.
        let mut builder = RegexBuilder::new(pattern);
        builder.unicode(false).octal(true).size_limit(COMPILED_BYTES_MAX);
        builder.build().map_err(|it| reason(&it))
    };
    // By itself first: what closes a group that it did not open would else be taken for ours.
    build(&pattern)?;
    build(&format!(r"\A(?:{pattern})\z"))
}

/// The last line; those before it draw where.
fn reason(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => "it takes too much memory".into(),
        other => {
            let told = other.to_string();
            let last = told.lines().last().unwrap_or_default();
            last.trim_start_matches("error: ").into()
        }
    }
}

#[cfg(test)]
mod tests;
