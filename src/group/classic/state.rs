//! The states of a classic group, and which may follow which.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No members; perhaps offsets.
    Empty,
    /// Members are asked to join again; those that do not are removed.
    PreparingRebalance,
    /// All have joined; the assignment is awaited.
    CompletingRebalance,
    Stable,
    /// The group is being removed, or is not there.
    Dead,
}

impl State {
    pub const ALL: [Self; 5] = [
        Self::Empty,
        Self::PreparingRebalance,
        Self::CompletingRebalance,
        Self::Stable,
        Self::Dead,
    ];

    pub fn may_become(self, next: Self) -> bool {
        match next {
            Self::Empty | Self::CompletingRebalance => self == Self::PreparingRebalance,
            Self::PreparingRebalance => {
                matches!(self, Self::Empty | Self::CompletingRebalance | Self::Stable)
            }
            Self::Stable => self == Self::CompletingRebalance,
            Self::Dead => true,
        }
    }

    /// As `ListGroups` and `DescribeGroups` write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::PreparingRebalance => "PreparingRebalance",
            Self::CompletingRebalance => "CompletingRebalance",
            Self::Stable => "Stable",
            Self::Dead => "Dead",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::State::{self, CompletingRebalance, Dead, Empty, PreparingRebalance, Stable};

    #[test]
    fn every_pair_of_states_is_in_the_table_or_refused() {
        let legal = [
            (Empty, PreparingRebalance),
            (PreparingRebalance, CompletingRebalance),
            (PreparingRebalance, Empty),
            (CompletingRebalance, Stable),
            (CompletingRebalance, PreparingRebalance),
            (Stable, PreparingRebalance),
        ];
        for from in State::ALL {
            for to in State::ALL {
                let want = to == Dead || legal.contains(&(from, to));
                assert_eq!(from.may_become(to), want, "{from} to {to}");
            }
        }
    }
}
