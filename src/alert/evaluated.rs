//! What a transform said of a stretch of one partition's log.

use super::Match;
use crate::base::{Offset, PluginName, TopicId, TopicPartition};

/// A partition as one plugin watches it. A topic that is made again under its name is another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Watched {
    pub topic_id: TopicId,
    pub source: TopicPartition,
    pub plugin: PluginName,
}

/// One plugin's verdict on the records of one append, in the order of the partition's offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluated {
    pub watched: Watched,
    /// First offset that it is about, inclusive.
    pub from: Offset,
    /// Exclusive. What lies below is evaluated once this has been counted.
    pub to: Offset,
    /// `None`: the records were stored without asking the plugin (the retry of a routed batch), so they are read again.
    pub matches: Option<Vec<Match>>,
}
