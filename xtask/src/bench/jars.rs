//! Apache Kafka's own jars: its broker, and the tools that measure one.

use super::process::{self, Core};
use anyhow::{Context as _, Result};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// As Kafka's start script gives them to the broker.
const BROKER_OPTIONS: [&str; 9] = [
    "-Xmx1G",
    "-Xms1G",
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-XX:MaxInlineLevel=15",
    "-Djava.awt.headless=true",
];
/// Of a tool: its script's heap.
const TOOL_OPTIONS: [&str; 1] = ["-Xmx512M"];

pub(crate) struct Jars {
    folder: PathBuf,
}

impl Jars {
    /// By Maven, once: the mark holds what they were fetched by.
    pub(crate) fn fetch(root: &Path, folder: &Path) -> Result<Self> {
        let pom = root.join("benches/kafka/pom.xml");
        let text = fs::read_to_string(&pom)?;
        let mark = folder.join("jars.fetched");
        if fs::read_to_string(&mark).ok().as_ref() != Some(&text) {
            let mut maven = Command::new("mvn");
            maven.args(["-q", "-B", "dependency:copy-dependencies", "-f"]).arg(&pom);
            process::finish(&mut maven).context("fetch Apache Kafka's jars")?;
            fs::write(mark, text)?;
        }
        Ok(Self { folder: folder.join("lib") })
    }

    /// A broker's or one of its tools' class, with the broker's options.
    pub(crate) fn broker(&self, class: &str) -> Command {
        self.java(Core::Broker, &BROKER_OPTIONS, class)
    }

    pub(crate) fn tool(&self, class: &str) -> Command {
        self.java(Core::Generator, &TOOL_OPTIONS, class)
    }

    fn java(&self, core: Core, options: &[&str], class: &str) -> Command {
        let mut java = process::pinned(core, "java");
        java.args(options).arg("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
        java.arg("-cp").arg(self.folder.join("*")).arg(class);
        java
    }
}
