//! The ceiling: a bare loop between a socket and a file, on the same cores in the same run.

use super::{
    broker::{Side, free_port},
    figure::Figures,
    generator::{self, Generator},
    measure::Bench,
    process::{self, Core, Process},
    results::Results,
};
use anyhow::{Result, ensure};
use std::{fs, net::TcpStream, path::Path, thread::sleep, time::Duration};

pub(crate) const INTO_FILE: &str = "bare loop: TCP to file";
pub(crate) const FROM_FILE: &str = "bare loop: file to TCP";
const BYTES: u64 = 2 << 30;

struct Bare {
    process: Process,
    bootstrap: String,
}

pub(crate) fn measure(bench: &Bench, rounds: u32, results: &mut Results) -> Result<()> {
    let file = bench.folder.join("bare.log");
    let bare = Bare::start(&bench.generator, &file)?;
    for round in 0..rounds {
        for (cell, direction) in [(INTO_FILE, "send"), (FROM_FILE, "receive")] {
            if !results.has(cell, Side::Bare, round) {
                let figures = bare.measure(&bench.generator, direction)?;
                results.add(cell, Side::Bare, round, figures)?;
            }
        }
    }
    drop(bare);
    // A run that goes on where all of this was measured makes none.
    if file.exists() {
        fs::remove_file(file)?;
    }
    Ok(())
}

impl Bare {
    fn start(generator: &Generator, file: &Path) -> Result<Self> {
        let bootstrap = format!("127.0.0.1:{}", free_port()?);
        let mut serve = process::pinned(Core::Broker, &generator.binary);
        serve.args(["bare", "serve", "--listen", &bootstrap, "--file"]).arg(file);
        let mut process = Process::start(&mut serve)?;
        while TcpStream::connect(&bootstrap).is_err() {
            ensure!(process.is_running()?, "the bare loop did not start");
            sleep(Duration::from_millis(10));
        }
        Ok(Self { process, bootstrap })
    }

    fn measure(&self, generator: &Generator, direction: &str) -> Result<Figures> {
        let mut client = generator.command("bare");
        client.args([direction, "--bootstrap", &self.bootstrap, "--bytes", &BYTES.to_string()]);
        generator::watch(&mut client, &self.process)
    }
}
