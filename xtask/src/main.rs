//! The repository's own commands, written in Rust so that they run wherever the rest does.
//!
//! `cargo xtask` lists them. They write files that are checked in (bindings, built plugins) and check
//! that the committed ones are what their sources make of them; and measure.

mod bench;
mod bindings;
mod component;
mod guests;
mod world;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The repository's own commands")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure Klamm beside another broker
    #[command(subcommand)]
    Bench(bench::Command),
    /// Write the guest SDK's Rust bindings from `wit/`
    Bindings {
        /// Only tell whether the checked-in ones are up to date
        #[arg(long)]
        check: bool,
    },
    /// Turn a core module that carries a world's description into a component
    Component { core: PathBuf, out: PathBuf },
    /// Build the plugins and the other guests, or check the committed ones
    Guests {
        #[command(subcommand)]
        command: guests::Command,
    },
}

fn main() -> Result<ExitCode> {
    if guests::rustc_wrapper::is_called() {
        return guests::rustc_wrapper::compile(root());
    }
    match Arguments::parse().command {
        Command::Bench(command) => bench::run(root(), command),
        Command::Bindings { check: false } => bindings::write(root()),
        Command::Bindings { check: true } => bindings::check(root()),
        Command::Component { core, out } => component::convert(&core, &out),
        Command::Guests { command } => guests::run(root(), command),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// The repository's root: xtask's own folder lies in it.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository")
}
