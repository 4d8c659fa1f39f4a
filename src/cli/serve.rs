//! `klamm serve`: runs a node until a signal stops it.

use std::{io, process::ExitCode, thread};

use tokio::runtime::Runtime;
use tracing_subscriber::{EnvFilter, fmt, prelude::*};

use super::{
    BAD_CONFIGURATION,
    arguments::{LogFormat, Serve},
    output::tell,
};
use crate::{
    broker::{self, Signals},
    config::Config,
};

/// What is logged unless `RUST_LOG` says otherwise. openraft is silent: it tells of each step, and what really fails `quorum`
/// tells in words that an operator can act on.
const FILTER: &str = "info,openraft=off";

/// An append waits while the kernel has no room for it in the page cache, and its thread with it; the others serve meanwhile.
const WORKERS_MIN: usize = 4;

pub(super) fn run(arguments: &Serve) -> ExitCode {
    let (runtime, signals) = match start_runtime() {
        Ok(started) => started,
        Err(error) => {
            eprintln!("start threads and listen to signals: {error}");
            return ExitCode::FAILURE;
        }
    };
    let loaded = match Config::load(arguments.config.as_deref(), &arguments.set) {
        Ok(loaded) => loaded,
        Err(problems) => {
            tell(&problems);
            return ExitCode::from(BAD_CONFIGURATION);
        }
    };
    start_logging(arguments.log_format);
    warn_of_filter();
    if !loaded.meaningless.is_empty() {
        tracing::warn!("settings without a meaning here: {}", loaded.meaningless.join(", "));
    }
    let ended = runtime.block_on(broker::run(loaded.config, signals));
    // After a signal during the start logs may still be read: they are left as by a kill.
    runtime.shutdown_background();
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn start_runtime() -> io::Result<(Runtime, Signals)> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores.max(WORKERS_MIN))
        .enable_all()
        .build()?;
    let signals = {
        let _inside = runtime.enter();
        Signals::listen()?
    };
    Ok((runtime, signals))
}

fn warn_of_filter() {
    if std::env::var_os(EnvFilter::DEFAULT_ENV).is_some()
        && let Err(error) = EnvFilter::try_from_default_env()
    {
        tracing::warn!(%error, "RUST_LOG is passed over: it is no filter");
    }
}

/// `RUST_LOG` widens or narrows what is written.
fn start_logging(format: LogFormat) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(FILTER));
    // A reader of standard error that goes away must not take the broker with it.
    let layer = fmt::layer().with_writer(std::io::stderr).log_internal_errors(false);
    let registry = tracing_subscriber::registry().with(filter);
    match format {
        LogFormat::Text => registry.with(layer.with_ansi(false)).init(),
        LogFormat::Json => registry.with(layer.json()).init(),
    }
}
