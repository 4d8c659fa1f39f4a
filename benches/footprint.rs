//! What does an idle node cost, and how long until it serves: cold and warm, without and with partitions?
//!
//! `cargo bench --bench footprint` measures; `PARTITIONS=5000 cargo bench …` changes the input, and `KLAMM_BIN=FILE` measures
//! another binary. `cargo test` runs the same code once on a small input, so that it cannot rot.
//!
//! Cold is a first start: nothing compiled, no data. It does not show the page cache's part: the binary itself is warm.
//! Compare two commits on one machine; the times of a shared machine say nothing by themselves.

mod node;

use std::{
    env, fs,
    path::{Path, PathBuf},
    thread::sleep,
    time::Duration,
};

use node::{Node, parameter};
use rustix::process::Signal;

fn main() {
    let measuring = env::args().any(|arg| arg == "--bench");
    let partitions = parameter("PARTITIONS", if measuring { 1_000 } else { 20 });
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("footprint-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for the node's data");

    println!("{:<30} {:>12} {:>14}", "start", "ready, ms", "resident, MiB");
    report("cold, empty", &folder).stop();
    let node = report("warm, empty", &folder);
    node.create_topic("footprint", partitions);
    node.stop();
    let name = format!("warm, {partitions} partitions");
    report(&name, &folder).end(Signal::KILL);
    report(&format!("{name}, after kill -9"), &folder).stop();
    fs::remove_dir_all(&folder).expect("the folder was this bench's own");
}

fn report(name: &str, folder: &Path) -> Node {
    let (node, ready_after) = Node::start(folder, &[]);
    sleep(Duration::from_secs(1));
    println!("{name:<30} {:>12} {:>14.1}", ready_after.as_millis(), node.mib("VmRSS:"));
    node
}
