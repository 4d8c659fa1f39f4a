//! `klamm serve`: runs a node until a signal stops it.

use std::{io, process::ExitCode};

use tokio::runtime::Runtime;
use tracing_subscriber::{EnvFilter, fmt, prelude::*};

use super::{
    BAD_CONFIGURATION,
    arguments::{LogFormat, Serve},
};
use crate::{
    broker::{self, Signals},
    config::Config,
};

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
            eprintln!("{problems}");
            return ExitCode::from(BAD_CONFIGURATION);
        }
    };
    start_logging(arguments.log_format);
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
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let signals = {
        let _inside = runtime.enter();
        Signals::listen()?
    };
    Ok((runtime, signals))
}

/// `RUST_LOG` widens or narrows what is written. openraft is silent: it tells of each step, and what really fails `quorum` tells
/// in words that an operator can act on.
fn start_logging(format: LogFormat) {
    let filter =
        EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info,openraft=off"));
    let layer = fmt::layer().with_writer(std::io::stderr);
    let registry = tracing_subscriber::registry().with(filter);
    match format {
        LogFormat::Text => registry.with(layer.with_ansi(false)).init(),
        LogFormat::Json => registry.with(layer.json()).init(),
    }
}
