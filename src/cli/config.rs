//! `klamm config`: what can be set.

use std::io::{Write as _, stdout};

use super::arguments::Config;
use crate::config::print_defaults;

pub(super) fn run(arguments: Config) -> anyhow::Result<()> {
    debug_assert!(arguments.print_defaults);
    Ok(stdout().write_all(print_defaults().as_bytes())?)
}
