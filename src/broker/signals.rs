//! The signals that a node listens to.
//!
//! Rule: they are listened to before anything else is done, so that none ends the process by itself.

use std::io;

use rustix::process::Signal as Name;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signals as they arrive from now on.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// By default a file beyond `ulimit -f` ends the process; as a failed write it is an error like a full disk.
    _too_large: Signal,
}

impl Signals {
    /// To be called inside a runtime.
    ///
    /// # Errors
    ///
    /// The system refuses a handler.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            _too_large: signal(SignalKind::from_raw(Name::XFSZ.as_raw()))?,
        })
    }

    /// Waits for SIGTERM or SIGINT.
    pub(super) async fn stop(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
