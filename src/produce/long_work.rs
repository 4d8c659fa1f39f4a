//! Codecs at work. A worker of the runtime serves many connections, and a batch of a few kilobytes may expand to tens of
//! megabytes: what may take long is done where nobody else waits for the thread.

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    task::block_in_place,
};

/// Below it, handing the worker's other tasks to another thread would take longer than the work.
pub(super) const LARGE_BYTES: usize = 256 * 1024;

/// Works on so many bytes; [`usize::MAX`] where nobody knows how many they become.
pub(crate) fn long_work<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    // A runtime of one thread, as in tests, has nobody to hand them to.
    let has_others = || Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread;
    if bytes >= LARGE_BYTES && has_others() { block_in_place(work) } else { work() }
}
