//! The two brokers: how each is started on a data directory, with default settings but for addresses and folders.

use super::{
    jars::Jars,
    measure::Bench,
    process::{self, Core, Process},
};
use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Side {
    Klamm,
    Kafka,
    /// The bare loop.
    Bare,
}

/// A broker that answers.
pub(crate) struct Broker {
    pub(crate) side: Side,
    pub(crate) process: Process,
    pub(crate) bootstrap: String,
    pub(crate) data: PathBuf,
    /// From the start of its process to its first answer.
    pub(crate) ready_after: Duration,
}

impl Broker {
    pub(crate) fn stop(self) -> Result<()> {
        self.process.stop().with_context(|| format!("stop {:?}", self.side))
    }
}

impl Bench {
    /// On an empty folder.
    pub(crate) fn start_fresh(&self, side: Side) -> Result<Broker> {
        let folder = self.home(side);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(folder.join("data"))?;
        if side == Side::Kafka {
            format(&self.jars, &write_properties(&folder, 0, 0)?)?;
        }
        self.start(side, None)
    }

    /// On what an earlier one left. With a topic, ready means that all its partitions answer.
    pub(crate) fn start(&self, side: Side, topic: Option<(&str, usize)>) -> Result<Broker> {
        let folder = self.home(side);
        let port = free_port()?;
        let bootstrap = format!("127.0.0.1:{port}");
        let mut command = match side {
            Side::Kafka => {
                let mut command = self.jars.broker("kafka.Kafka");
                command.arg(write_properties(&folder, port, free_port()?)?);
                command
            }
            _ => klamm(&self.klamm, &folder, &bootstrap),
        };
        let log = File::create(folder.join("broker.log"))?;
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).current_dir(&folder);
        let started = Instant::now();
        let process = Process::start(&mut command)?;
        self.generator.wait_until_ready(&bootstrap, topic)?;
        let ready_after = started.elapsed();
        Ok(Broker { side, process, bootstrap, data: folder.join("data"), ready_after })
    }

    pub(crate) fn home(&self, side: Side) -> PathBuf {
        self.folder.join(format!("{side:?}").to_lowercase())
    }
}

fn klamm(binary: &Path, folder: &Path, bootstrap: &str) -> Command {
    let mut command = process::pinned(Core::Broker, binary);
    command.args(["serve", "--set", &format!("listeners=PLAINTEXT://{bootstrap}")]);
    command.args(["--set", "klamm.http.listen=127.0.0.1:0"]);
    command.args(["--set", &format!("log.dirs={}", folder.join("data").display())]);
    command
}

/// One node that is its own controller. What a single node cannot start without is set besides.
fn write_properties(folder: &Path, port: u16, controller_port: u16) -> Result<PathBuf> {
    let file = folder.join("server.properties");
    let data = folder.join("data");
    let properties = format!(
        "node.id=1\nprocess.roles=broker,controller\n\
         listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}\n\
         advertised.listeners=PLAINTEXT://127.0.0.1:{port}\n\
         controller.listener.names=CONTROLLER\n\
         controller.quorum.voters=1@127.0.0.1:{controller_port}\n\
         log.dirs={}\n\
         offsets.topic.replication.factor=1\n\
         transaction.state.log.replication.factor=1\n\
         transaction.state.log.min.isr=1\n",
        data.display(),
    );
    fs::write(&file, properties)?;
    Ok(file)
}

fn format(jars: &Jars, properties: &Path) -> Result<()> {
    let mut format = jars.broker("kafka.tools.StorageTool");
    format.args(["format", "-t", "klamm-bench-cluster-1A", "-c"]).arg(properties);
    process::finish(format.stdout(Stdio::null()).stderr(Stdio::null()))
}

/// One that was free a moment ago: Kafka cannot tell which one it took.
pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
