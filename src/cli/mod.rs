//! The command line: one file a subcommand. Only here does the program print to standard output.

mod arguments;
mod client;
mod config;
mod configs;
mod consume;
mod coordinator;
mod described_group;
mod group;
mod group_description;
mod keyed_line;
mod layout;
mod lines;
mod offsets;
mod output;
mod plugin;
mod produce;
mod records;
mod serve;
mod table;
mod topic;

use std::process::ExitCode;

use clap::Parser as _;

use self::{
    arguments::{Arguments, Command},
    output::{is_output_closed, tell},
};

/// Exit status of bad arguments or a bad configuration; a failure at run time is 1.
const BAD_CONFIGURATION: u8 = 2;

/// Runs what the command line says; without a command, serves.
pub fn run() -> ExitCode {
    let arguments = Arguments::parse();
    let Some(command) = arguments.command else { return serve::run(&arguments.serve) };
    finish(match command {
        Command::Serve(serve) => return serve::run(&serve),
        Command::Topic(topic) => topic::run(topic),
        Command::Group(group) => group::run(group),
        Command::Produce(produce) => produce::run(&produce),
        Command::Consume(consume) => consume::run(&consume),
        Command::Plugin(plugin) => plugin::run(plugin),
        Command::Config(config) => config::run(config),
    })
}

fn finish(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads our output has had enough, as `head` does.
        Err(error) if is_output_closed(&error) => ExitCode::SUCCESS,
        Err(error) => {
            tell(format_args!("klamm: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
