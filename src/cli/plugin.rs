//! `klamm plugin`: the plugin author's tools.

use std::{
    io::{Read as _, Write as _, stdout},
    path::Path,
};

use anyhow::{Context as _, ensure};

use super::arguments::Plugin;
use crate::{
    config::Config,
    plugin::{self, PluginStatus},
};

/// Largest answer of the admin server that it reads.
const ANSWER_BYTES_MAX: u64 = 16 * 1024 * 1024;

pub(super) fn run(command: Plugin) -> anyhow::Result<()> {
    match command {
        Plugin::List { http, json } => list(&http, json),
        Plugin::Check { file, json } => check(&file, json),
    }
}

fn list(http: &str, json: bool) -> anyhow::Result<()> {
    let body = get(http, "/v1/plugins").with_context(|| format!("ask the node at {http}"))?;
    let mut out = stdout();
    if json {
        return Ok(writeln!(out, "{body}")?);
    }
    let plugins: Vec<PluginStatus> = serde_json::from_str(&body).context("read the answer")?;
    let width = plugins.iter().map(|it| it.name.len()).max().unwrap_or(0);
    for plugin in plugins {
        let hook = plugin.hook.map_or("-".into(), |it| format!("{it:?}").to_lowercase());
        let state = format!("{:?}", plugin.state).to_lowercase();
        let source = format!("{:?}", plugin.source).to_lowercase();
        let version = plugin.version.unwrap_or_else(|| "-".into());
        let sha256 = plugin.sha256.map_or("-".into(), |it| it.chars().take(12).collect::<String>());
        writeln!(
            out,
            "{:<width$} {hook:<12} {version:<10} {sha256:<13} {source:<9} {state}",
            plugin.name
        )?;
        if let Some(error) = plugin.last_error {
            writeln!(out, "    {error}")?;
        }
    }
    Ok(())
}

/// One GET over HTTP/1.0, whose answer ends with the connection.
fn get(address: &str, path: &str) -> anyhow::Result<String> {
    let mut stream = std::net::TcpStream::connect(address)?;
    stream.set_read_timeout(Some(std::time::Duration::from_secs(10)))?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n")?;
    let mut answer = String::new();
    stream.take(ANSWER_BYTES_MAX).read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").context("the answer is no HTTP")?;
    let status = head.split(' ').nth(1).unwrap_or_default();
    ensure!(status == "200", "the node answered {status}: {body}");
    Ok(body.to_owned())
}

/// Exit status 1 for a file that no node would load, or that no node should.
fn check(file: &Path, json: bool) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(plugin::check(file, &Config::default().plugin));
    let mut out = stdout();
    if json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        write!(out, "{report}")?;
    }
    let problems = report.problems.len();
    ensure!(problems == 0, "{} has {problems} problem(s)", file.display());
    Ok(())
}
