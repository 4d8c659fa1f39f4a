//! `klamm serve`: runs a node until a signal stops it.

use std::process::ExitCode;

use tracing_subscriber::{EnvFilter, fmt, prelude::*};

use super::{
    BAD_CONFIGURATION,
    arguments::{LogFormat, Serve},
    output::tell,
};
use crate::{broker, config::Config};

/// What is logged unless `RUST_LOG` says otherwise.
const FILTER: &str = "info,openraft=error";

pub(super) fn run(arguments: &Serve) -> ExitCode {
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

fn warn_of_filter() {
    if std::env::var_os(EnvFilter::DEFAULT_ENV).is_some()
        && let Err(error) = EnvFilter::try_from_default_env()
    {
        tracing::warn!(%error, "RUST_LOG is passed over: it is no filter");
    }
}

/// `RUST_LOG` widens or narrows what is written; openraft tells of each step, which nobody needs.
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
