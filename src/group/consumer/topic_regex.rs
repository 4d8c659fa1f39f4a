//! k2
use crate::{base::TopicName, group::GroupError};
pub(super) struct TopicRegex(regex::Regex);
impl TopicRegex {
    pub(super) fn parse(text: &str) -> Result<Self, GroupError> {
        regex::Regex::new(&format!("^(?:{text})$"))
            .map(Self)
            .map_err(|e| GroupError::InvalidRegularExpression(e.to_string()))
    }
    pub(super) fn matches(&self, topic: &TopicName) -> bool {
        self.0.is_match(topic.as_str())
    }
}
