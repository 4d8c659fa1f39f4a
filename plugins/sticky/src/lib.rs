//! The assignor `sticky`: as even as the subscriptions allow, and whoever owns a partition keeps it as
//! far as that leaves room.
//!
//! Three steps: everyone keeps what it owns, what nobody owns goes to the least loaded subscriber, and
//! then partitions move from members with more to members with fewer until no move helps. The balance
//! that this ends in is the best that exists, also when members subscribe to different topics.

mod balance;
mod board;

use board::Board;
use klamm_plugin::assignor::{Assignment, Assignor, Group};
use klamm_plugin::{Description, no_settings};

pub struct Sticky;

impl Assignor for Sticky {
    fn describe() -> Description {
        let summary =
            "Spreads partitions evenly and leaves them where they are as far as possible.";
        Description::new("sticky", env!("CARGO_PKG_VERSION"), summary)
    }

    fn configure(settings: &str) -> Result<Self, String> {
        no_settings(settings)?;
        Ok(Self)
    }

    fn assign(&mut self, group: &Group) -> Result<Vec<Assignment>, String> {
        let mut board = Board::new(group);
        board.keep_owned();
        board.place_rest();
        balance::even_out(&mut board);
        Ok(board.assignments())
    }
}

klamm_plugin::assignor!(Sticky);

#[cfg(test)]
mod tests;
