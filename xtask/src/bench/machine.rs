//! The machine that a table is of, in words.

use anyhow::{Context as _, Result};
use std::{fs, process::Command, thread::available_parallelism};

pub(crate) fn cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// The processor, the memory, the kernel and the day.
pub(crate) fn words() -> Result<String> {
    let cores = cores();
    let processor = after_colon("/proc/cpuinfo", "model name")?;
    let kib: f64 = after_colon("/proc/meminfo", "MemTotal")?.trim_end_matches(" kB").parse()?;
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    let day = Command::new("date").args(["-u", "+%Y-%m-%d %H:%M"]).output()?;
    let day = String::from_utf8(day.stdout)?;
    let pinned = if cores < 2 {
        "the broker and the generator share it"
    } else {
        "the broker is pinned to core 0, the generator to core 1"
    };
    Ok(format!(
        "{} UTC, {cores} × {processor}, {:.0} GiB, Linux {}; {pinned}",
        day.trim(),
        kib / 1024.0 / 1024.0,
        kernel.trim(),
    ))
}

fn after_colon(path: &str, key: &str) -> Result<String> {
    let text = fs::read_to_string(path)?;
    let line = text.lines().find(|it| it.starts_with(key));
    let value = line.and_then(|it| it.split_once(':')).map(|(_, value)| value.trim().to_owned());
    value.with_context(|| format!("no {key} in {path}"))
}
