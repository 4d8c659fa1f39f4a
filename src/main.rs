//! The `klamm` binary: parses the command line and runs it.

use std::process::ExitCode;

/// A hopeless capacity that a hostile length asks for is reserved lazily instead of aborting the process.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    klamm::cli::run()
}
