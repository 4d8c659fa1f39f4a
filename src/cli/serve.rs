//! `klamm serve`: runs a node until a signal stops it.

use std::process::ExitCode;

use tracing_subscriber::{EnvFilter, fmt, prelude::*};

use super::{
    BAD_CONFIGURATION,
    arguments::{LogFormat, Serve},
};
use crate::{broker, config::Config};

pub(super) fn run(arguments: &Serve) -> ExitCode {
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
    match serve(loaded.config) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn serve(config: Config) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(broker::run(config))
}

/// `RUST_LOG` widens or narrows what is written; openraft tells of each step, which nobody needs.
fn start_logging(format: LogFormat) {
    let filter =
        EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info,openraft=error"));
    let layer = fmt::layer().with_writer(std::io::stderr);
    let registry = tracing_subscriber::registry().with(filter);
    match format {
        LogFormat::Text => registry.with(layer.with_ansi(false)).init(),
        LogFormat::Json => registry.with(layer.json()).init(),
    }
}
