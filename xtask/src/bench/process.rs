//! Processes that a run starts, on a core of their own, and what they cost. Each ends with the value that stands for it.

use super::machine;
use anyhow::{Context as _, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use std::{
    ffi::OsStr,
    fs,
    process::{Child, Command},
    thread::sleep,
    time::{Duration, Instant},
};

const STOP_PATIENCE: Duration = Duration::from_secs(30);
/// Linux has told times in hundredths of a second for as long as it has had /proc.
const TICKS_PER_SECOND: f64 = 100.0;

/// Which of the two cores.
#[derive(Clone, Copy)]
pub(crate) enum Core {
    Broker,
    Generator,
}

/// A command that runs on one core (on a machine with a single one, just a command), and that does not outlive this one,
/// however this one ends.
pub(crate) fn pinned(core: Core, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL"]);
    if machine::cores() >= 2 {
        let core = if matches!(core, Core::Broker) { "0" } else { "1" };
        command.args(["taskset", "-c", core]);
    }
    command.arg(program);
    command
}

/// Runs a command to its end, and fails when it does.
pub(crate) fn finish(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("run {command:?}"))?;
    ensure!(status.success(), "{command:?}: {status}");
    Ok(())
}

/// A process in the background; killed when it is dropped.
pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        Ok(Self(command.spawn().with_context(|| format!("start {command:?}"))?))
    }

    /// User and system time of all its threads so far.
    pub(crate) fn cpu_seconds(&self) -> Result<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0.id()))?;
        cpu_seconds(&stat).context("an unknown form of /proc/PID/stat")
    }

    /// The most memory that was resident at once.
    pub(crate) fn peak_bytes(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
        let kib = line.context("no VmHWM")?.trim().trim_end_matches(" kB").parse::<f64>()?;
        Ok(kib * 1024.0)
    }

    pub(crate) fn is_running(&mut self) -> Result<bool> {
        Ok(self.0.try_wait()?.is_none())
    }

    /// Asks it to stop and waits.
    pub(crate) fn stop(mut self) -> Result<()> {
        kill_process(Pid::from_child(&self.0), Signal::TERM)?;
        let asked = Instant::now();
        while self.is_running()? {
            ensure!(asked.elapsed() < STOP_PATIENCE, "a process did not stop: killed");
            sleep(Duration::from_millis(10));
        }
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It fails only where the process has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Of a line of `/proc/PID/stat`: the name, which may hold anything, ends with the last parenthesis.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / TICKS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_that_of_user_and_system() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 4194560 100 0 0 0 250 150 9 9 20 0 4 0 100 0 0";
        assert_eq!(cpu_seconds(stat), Some(4.0));
        assert_eq!(cpu_seconds("7 (a) S 1"), None);
    }
}
