//! Builds the guests under `plugins/`, `examples/` and `tests/guests/`, and checks the committed ones.
//!
//! Each guest's component is committed beside its sources, so that nobody needs a WebAssembly toolchain
//! to build or to test Klamm. `plugins/guests.lock` tells which sources and which compiler it comes from.

mod guest;
mod record;
pub(crate) mod rustc_wrapper;
mod sources;
mod toolchain;

use crate::{component, world};
use anyhow::{Context, Result, bail, ensure};
use guest::Guest;
use record::Record;
use std::fs;
use std::path::Path;
use toolchain::Toolchain;

#[derive(Clone, Copy, clap::Subcommand)]
pub(crate) enum Command {
    /// Install the compiler that the committed components are built with (Debian, as root)
    Install,
    /// Build every guest and put its component beside its sources
    Build,
    /// Build every guest from its sources and compare with the committed component
    ///
    /// Bytes are compared if the compiler is the one that built the committed components, else what
    /// hook they are for. The new components are left in `target/guests`.
    Check,
}

pub(crate) fn run(root: &Path, command: Command) -> Result<()> {
    match command {
        Command::Install => toolchain::install(),
        Command::Build => build(root),
        Command::Check => check(root),
    }
}

fn build(root: &Path) -> Result<()> {
    let toolchain = Toolchain::find()?;
    let mut record = Record::new(toolchain.version());
    for guest in guest::all(root)? {
        let built = compile(root, &toolchain, &guest)?;
        println!("{:>7} bytes, {:<11} {}", built.len(), world::hook(&built)?, guest.name);
        fs::write(&guest.component, &built)?;
        record.insert(&guest.name, sources::digest(root, &guest.folder)?, &built);
    }
    record.write(root)
}

fn check(root: &Path) -> Result<()> {
    let record = Record::read(root)?;
    let toolchain = Toolchain::find()?;
    let fresh = root.join("target/guests");
    fs::create_dir_all(&fresh)?;
    for guest in guest::all(root)? {
        record.verify(root, &guest)?;
        let built = compile(root, &toolchain, &guest)?;
        fs::write(fresh.join(format!("{}.wasm", guest.name)), &built)?;
        let same = compare(&guest, &built, record.built_by(&toolchain))?;
        println!("{}: {same}", guest.name);
    }
    Ok(())
}

fn compare(guest: &Guest, built: &[u8], same_compiler: bool) -> Result<&'static str> {
    let committed = fs::read(&guest.component)?;
    if committed == built {
        return Ok("the same bytes");
    }
    let (new, old) = (world::hook(built)?, world::hook(&committed)?);
    ensure!(new == old, "{} is for the hook {old}, but its sources are for {new}", guest.name);
    if same_compiler {
        bail!("{} is not what its sources make of it: run `cargo xtask guests build`", guest.name);
    }
    Ok("another compiler, the same hook")
}

fn compile(root: &Path, toolchain: &Toolchain, guest: &Guest) -> Result<Vec<u8>> {
    let core = toolchain.compile(root, guest)?;
    let module = fs::read(&core).with_context(|| format!("read {}", core.display()))?;
    component::encode(&module).with_context(|| format!("make a component of {}", guest.name))
}
