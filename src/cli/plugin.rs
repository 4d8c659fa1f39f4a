//! `klamm plugin`: the plugin author's tools.

use std::{
    io::{Read as _, Write as _},
    path::Path,
    time::Duration,
};

use anyhow::{Context as _, ensure};

use super::{
    arguments::Plugin,
    client::connect,
    output::{counted, output},
    table::Table,
};
use crate::{
    config::Config,
    plugin::{self, PluginStatus},
};

/// Largest answer of the admin server that it reads.
const ANSWER_BYTES_MAX: u64 = 16 * 1024 * 1024;
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) fn run(command: Plugin) -> anyhow::Result<()> {
    match command {
        Plugin::List { http, json, .. } => list(&http, json),
        Plugin::Check { file, json } => check(&file, json),
    }
}

fn list(http: &str, json: bool) -> anyhow::Result<()> {
    let mut out = output();
    if json {
        writeln!(out, "{}", get(http, "/v1/plugins")?)?;
        return Ok(out.flush()?);
    }
    let plugins = ask(http)?;
    let mut table = Table::new(["NAME", "HOOK", "VERSION", "SHA-256", "SOURCE", "STATE"]);
    for plugin in &plugins {
        table.row(row(plugin));
    }
    let mut lines = table.lines();
    writeln!(out, "{}", lines.next().unwrap_or_default())?;
    for (line, plugin) in lines.zip(&plugins) {
        writeln!(out, "{line}")?;
        if let Some(error) = &plugin.last_error {
            writeln!(out, "    {}", error.replace(char::is_control, " "))?;
        }
    }
    Ok(out.flush()?)
}

fn row(plugin: &PluginStatus) -> [String; 6] {
    let lower = |it: &dyn std::fmt::Debug| format!("{it:?}").to_lowercase();
    let or_dash = |it: Option<String>| it.unwrap_or_else(|| "-".into());
    let sha256 = plugin.sha256.as_ref().map(|it| it.chars().take(12).collect());
    [
        plugin.name.clone(),
        or_dash(plugin.hook.map(|it| lower(&it))),
        or_dash(plugin.version.clone()),
        or_dash(sha256),
        lower(&plugin.source),
        lower(&plugin.state),
    ]
}

/// The plugins of the node at an admin address.
pub(super) fn ask(http: &str) -> anyhow::Result<Vec<PluginStatus>> {
    serde_json::from_str(&get(http, "/v1/plugins")?).context("read the answer")
}

/// One GET over HTTP/1.0, whose answer ends with the connection.
fn get(address: &str, path: &str) -> anyhow::Result<String> {
    let answer = exchange(address, path).with_context(|| format!("ask the node at {address}"))?;
    let (head, body) = answer.split_once("\r\n\r\n").context("the answer is no HTTP")?;
    let status = head.split(' ').nth(1).unwrap_or_default();
    ensure!(status == "200", "the node answered {status}: {body}");
    Ok(body.to_owned())
}

fn exchange(address: &str, path: &str) -> anyhow::Result<String> {
    let mut stream = connect(address)?;
    stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n")?;
    let mut answer = String::new();
    stream.take(ANSWER_BYTES_MAX).read_to_string(&mut answer)?;
    Ok(answer)
}

/// Exit status 1 for a file that no node would load, or that no node should.
fn check(file: &Path, json: bool) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(plugin::check(file, &Config::default().plugin));
    let mut out = output();
    if json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        write!(out, "{report}")?;
    }
    out.flush()?;
    let problems = report.problems.len();
    ensure!(problems == 0, "{} has {}", file.display(), counted(problems, "problem"));
    Ok(())
}
