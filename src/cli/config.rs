//! `klamm config`: what can be set.

use std::io::Write as _;

use super::{arguments::Config, output::output};
use crate::config::print_defaults;

pub(super) fn run(arguments: Config) -> anyhow::Result<()> {
    debug_assert!(arguments.print_defaults);
    let mut out = output();
    out.write_all(print_defaults().as_bytes())?;
    Ok(out.flush()?)
}
