//! The compiler, as cargo calls it for guests outside the plugins' workspace: where the repository lies must not show.
//!
//! Cargo hashes the path of a dependency outside the workspace, here the SDK's, into the names of all symbols, and what
//! a component holds is in the order of those names. In `plugins/` the path is relative, and nothing needs to be done.

use super::guest::Guest;
use anyhow::{Context, Result};
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, ExitCode};

/// Set in the environment of a cargo that calls this program as its compiler's wrapper.
const CALLED: &str = "KLAMM_XTASK_WRAPS_RUSTC";

pub(crate) fn wrap(cargo: &mut Command, root: &Path, guest: &Guest) -> Result<()> {
    if !guest.folder.starts_with(root.join("plugins")) {
        cargo.env("RUSTC_WRAPPER", env::current_exe()?).env(CALLED, "1");
    }
    Ok(())
}

pub(crate) fn is_called() -> bool {
    env::var_os(CALLED).is_some()
}

/// Compiles what cargo asks for.
pub(crate) fn compile(root: &Path) -> Result<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    let rustc = arguments.next().context("no compiler")?;
    let ours = env::var_os("CARGO_MANIFEST_DIR").is_some_and(|it| Path::new(&it).starts_with(root));
    let arguments = arguments.map(|it| if ours { without_place(it) } else { it });
    let status = Command::new(rustc).args(arguments).env_remove(CALLED).status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The crate's name goes into its hash as well, so one value does for all.
fn without_place(argument: OsString) -> OsString {
    let is_hash = argument.as_encoded_bytes().starts_with(b"metadata=");
    if is_hash { OsStr::new("metadata=klamm").to_owned() } else { argument }
}
