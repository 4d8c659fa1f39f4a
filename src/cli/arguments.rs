//! What can be typed.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum, builder::UnknownArgumentValueParser};

use crate::config::read_number;

/// A Kafka-protocol broker that its users extend with sandboxed WebAssembly components.
#[derive(Debug, Parser)]
#[command(name = "klamm", version, args_conflicts_with_subcommands = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    /// Those of `serve`, which is what happens without a command.
    #[command(flatten)]
    pub(super) serve: Serve,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Runs a node; also what `klamm` alone does
    Serve(Serve),
    /// Makes, lists, describes and alters topics
    #[command(subcommand)]
    Topic(Topic),
    /// Lists, describes and deletes consumer groups, and alters their configs
    #[command(subcommand)]
    Group(Group),
    /// Sends the lines of standard input to a topic, a record each
    Produce(Produce),
    /// Prints the records of a topic
    Consume(Consume),
    /// Lists a node's plugins, checks a plugin's file
    #[command(subcommand)]
    Plugin(Plugin),
    /// Tells of settings
    Config(Config),
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(super) enum LogFormat {
    #[default]
    Text,
    Json,
}

#[derive(Debug, Args)]
pub(super) struct Serve {
    /// TOML file whose keys are Kafka's property names
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// One setting; wins over the file
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) set: Vec<String>,
    /// How log lines are written to standard error
    #[arg(long, value_enum, default_value_t)]
    pub(super) log_format: LogFormat,
}

/// Where a node without settings serves Kafka's protocol, and HTTP.
pub(super) const BOOTSTRAP: &str = "127.0.0.1:9092";
pub(super) const HTTP: &str = "127.0.0.1:9644";

/// Where the broker is.
#[derive(Debug, Args)]
pub(super) struct Bootstrap {
    /// Address of a broker, or of several with commas between: the first that answers is asked
    #[arg(
        long,
        short,
        value_name = "HOST:PORT",
        default_value = BOOTSTRAP,
        env = "KLAMM_BOOTSTRAP",
        value_parser = addresses
    )]
    pub(super) bootstrap: String,
}

#[derive(Debug, Subcommand)]
pub(super) enum Topic {
    /// Makes a topic
    Create {
        name: String,
        /// As the broker's num.partitions says, unless given
        #[arg(long, short, value_parser = positive)]
        partitions: Option<i32>,
        /// A topic config, such as klamm.transforms=log-alert
        #[arg(long, short, value_name = "KEY=VALUE")]
        config: Vec<String>,
        #[command(flatten)]
        at: Bootstrap,
    },
    /// Lists topics, a line each
    List {
        /// Internal topics too
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        at: Bootstrap,
    },
    /// Shows a topic's partitions and the configs that it does not have by default
    Describe {
        name: String,
        #[command(flatten)]
        at: Bootstrap,
    },
    /// Sets or removes configs, or adds partitions
    #[command(group = changes(&["config", "delete_config", "partitions"]))]
    Alter {
        name: String,
        /// Sets a topic config
        #[arg(long, short, value_name = "KEY=VALUE")]
        config: Vec<String>,
        /// Removes a topic config
        #[arg(long, value_name = "KEY")]
        delete_config: Vec<String>,
        /// Grows the topic to so many partitions
        #[arg(long, short, value_parser = positive)]
        partitions: Option<i32>,
        #[command(flatten)]
        at: Bootstrap,
    },
    /// Deletes a topic with all its records
    Delete {
        name: String,
        #[command(flatten)]
        at: Bootstrap,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum Group {
    /// Lists groups with their states
    List {
        #[command(flatten)]
        at: Bootstrap,
    },
    /// Shows a group's state, its members, and how far they have read
    Describe {
        name: String,
        /// Admin HTTP address of the node, which tells the version of an assignor plugin
        #[arg(long, value_name = "HOST:PORT", env = "KLAMM_HTTP", value_parser = address)]
        http: Option<String>,
        #[command(flatten)]
        at: Bootstrap,
    },
    /// Sets or removes a group's configs
    #[command(group = changes(&["config", "delete_config"]))]
    Alter {
        name: String,
        /// Sets a group config, such as klamm.assignor=sticky
        #[arg(long, short, value_name = "KEY=VALUE")]
        config: Vec<String>,
        /// Removes a group config
        #[arg(long, value_name = "KEY")]
        delete_config: Vec<String>,
        #[command(flatten)]
        at: Bootstrap,
    },
    /// Deletes a group without members, with its offsets
    Delete {
        name: String,
        #[command(flatten)]
        at: Bootstrap,
    },
}

#[derive(Debug, Args)]
pub(super) struct Produce {
    pub(super) topic: String,
    /// Text between a line's key and its value; records of lines that do not have it have no keys
    #[arg(long, short = 'K', value_name = "TEXT")]
    pub(super) key_separator: Option<String>,
    /// Sends all records there; else keys decide, and those without one go to the partitions in turns
    ///
    /// Where a topic's klamm.partitioner routes, all go to its first partition, so that the plugin sees the lines in
    /// their order.
    #[arg(long, short, value_parser = index)]
    pub(super) partition: Option<i32>,
    #[command(flatten)]
    pub(super) at: Bootstrap,
}

#[derive(Debug, Args)]
pub(super) struct Consume {
    pub(super) topic: String,
    /// One partition alone
    #[arg(long, short, value_parser = index)]
    pub(super) partition: Option<i32>,
    /// Only what comes from now on
    #[arg(long)]
    pub(super) new: bool,
    /// Ends at the end of the topic instead of waiting for more
    #[arg(long, short)]
    pub(super) exit: bool,
    /// Ends after so many records
    #[arg(long, short = 'n', value_name = "COUNT", value_parser = count)]
    pub(super) max_records: Option<u64>,
    /// Prints key and value, separated by this text; what is null is printed as `null`
    #[arg(long, short = 'K', value_name = "TEXT")]
    pub(super) key_separator: Option<String>,
    /// Prints timestamp, partition, offset, headers and key before each value, with tabs between
    ///
    /// As kafka-console-consumer does: `CreateTime:1700000000000 Partition:0 Offset:5 trace:1f,lang:en key value`, and
    /// NO_HEADERS where there are none. The text of --key-separator stands between key and value.
    #[arg(long, short)]
    pub(super) verbose: bool,
    #[command(flatten)]
    pub(super) at: Bootstrap,
}

#[derive(Debug, Subcommand)]
pub(super) enum Plugin {
    /// Lists the plugins of a running node
    List {
        /// Its admin HTTP address
        #[arg(
            long,
            value_name = "HOST:PORT",
            default_value = HTTP,
            env = "KLAMM_HTTP",
            value_parser = address
        )]
        http: String,
        /// As the JSON of GET /v1/plugins
        #[arg(long)]
        json: bool,
        /// Of every other subcommand, and so likely to be typed here
        #[arg(long, short, hide = true, value_parser = http_instead())]
        bootstrap: Option<String>,
    },
    /// Loads a plugin's file as a node would, and tells what it found
    Check {
        file: PathBuf,
        /// The report as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(super) struct Config {
    /// Prints every setting with its meaning and default
    #[arg(long, required = true)]
    pub(super) print_defaults: bool,
}

/// What an alteration asks for: one of these at least.
fn changes(arguments: &[&'static str]) -> ArgGroup {
    ArgGroup::new("changes").args(arguments).required(true).multiple(true)
}

fn http_instead() -> UnknownArgumentValueParser {
    UnknownArgumentValueParser::suggest_arg("--http")
        .and_suggest("a node's plugins are listed at its admin HTTP address")
}

/// Addresses with commas between.
fn addresses(text: &str) -> Result<String, String> {
    let mut given = text.split(',').map(str::trim).filter(|it| !it.is_empty()).peekable();
    if given.peek().is_none() {
        return Err("no address was given".into());
    }
    given.try_for_each(|it| address(it).map(drop))?;
    Ok(text.into())
}

fn address(text: &str) -> Result<String, String> {
    match text.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => Ok(text.into()),
        _ => Err(format!("`{text}` is not HOST:PORT")),
    }
}

/// A count of partitions.
fn positive(text: &str) -> Result<i32, String> {
    read_number(text, &(1..))
}

/// The index of a partition.
fn index(text: &str) -> Result<i32, String> {
    read_number(text, &(0..))
}

fn count(text: &str) -> Result<u64, String> {
    read_number(text, &..)
}
