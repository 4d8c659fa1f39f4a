//! What a measurement yields, each figure in the unit that its name tells.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Figure {
    /// Of batches as they are on the wire; a megabyte is 10⁶ bytes.
    MegabytesPerSecond,
    RequestsPerSecond,
    /// The broker's, user and system.
    CpuSecondsPerGigabyte,
    /// Milliseconds from when a request was due to its answer.
    P50,
    P99,
    P999,
    /// Milliseconds from when a request was due to when a consumer has its batch.
    EndToEndP50,
    EndToEndP99,
    EndToEndP999,
    /// Mebibytes.
    PeakMemory,
    /// Milliseconds.
    Start,
    /// Milliseconds until each of a thousand partitions answers.
    Restart,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Figures(BTreeMap<Figure, f64>);

impl Figures {
    pub(crate) fn peak_memory(bytes: f64) -> Self {
        let mut figures = Self::default();
        figures.set(Figure::PeakMemory, bytes / 1024.0 / 1024.0);
        figures
    }

    pub(crate) fn set(&mut self, figure: Figure, value: f64) -> &mut Self {
        self.0.insert(figure, value);
        self
    }

    pub(crate) fn get(&self, figure: Figure) -> Option<f64> {
        self.0.get(&figure).copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Figure, f64)> {
        self.0.iter().map(|(figure, value)| (*figure, *value))
    }
}

/// The middle one; of an even number, the mean of the two in the middle.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    Some(f64::midpoint(values[values.len() / 2 - 1], upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }
}
