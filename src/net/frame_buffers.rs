//! Buffers for large frames, used again and again: their pages are there, and what was used last is still in the core's
//! cache. A frame that grows in one of them is not moved.
//!
//! Rule: they are few, and whoever finds none does without. So nothing that a client announces or leaves undone makes the
//! node hold more than them.

use std::{
    ops::{Deref, DerefMut},
    sync::Arc,
};

use bytes::BytesMut;
use parking_lot::Mutex;

/// What a producer sends at most by default (`max.request.size`), and what a frame has besides.
pub(super) const BUFFER_BYTES: usize = (1024 + 64) * 1024;

/// The most that a node makes, each once it is needed, and keeps.
const BUFFERS_MAX: usize = 8;

/// The part of the budget of all requests that they may take besides it.
const BUDGET_PART: usize = 16;

/// The buffers of a node.
pub(super) struct FrameBuffers(Mutex<Free>);

struct Free {
    /// The last one that was given back is the first that is taken.
    buffers: Vec<BytesMut>,
    /// Not made yet.
    unmade: usize,
}

impl FrameBuffers {
    /// As many as are little beside what requests may hold.
    pub(super) fn new(inflight_max_bytes: usize) -> Arc<Self> {
        let unmade = BUFFERS_MAX.min(inflight_max_bytes / BUDGET_PART / BUFFER_BYTES);
        Arc::new(Self(Mutex::new(Free { buffers: Vec::with_capacity(unmade), unmade })))
    }

    /// An empty buffer with room for [`BUFFER_BYTES`], if one is free.
    pub(super) fn take(self: &Arc<Self>) -> Option<Buffer> {
        let mut free = self.0.lock();
        let bytes = free.buffers.pop().or_else(|| {
            free.unmade = free.unmade.checked_sub(1)?;
            Some(BytesMut::with_capacity(BUFFER_BYTES))
        })?;
        Some(Buffer { bytes, home: Some(Arc::clone(self)) })
    }
}

/// The bytes of a frame.
#[derive(Default)]
pub(super) struct Buffer {
    bytes: BytesMut,
    /// Where it goes when it is dropped.
    home: Option<Arc<FrameBuffers>>,
}

impl Deref for Buffer {
    type Target = BytesMut;

    fn deref(&self) -> &BytesMut {
        &self.bytes
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut BytesMut {
        &mut self.bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(home) = &self.home {
            let mut bytes = std::mem::take(&mut self.bytes);
            bytes.clear();
            home.0.lock().buffers.push(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_used_last_is_taken_first_and_is_empty() {
        let buffers = FrameBuffers::new(1 << 30);
        let (first, mut second) = (buffers.take().unwrap(), buffers.take().unwrap());
        second.extend_from_slice(b"frame");
        let place = second.as_ptr();
        drop((first, second));
        let again = buffers.take().unwrap();
        assert!(again.is_empty() && again.capacity() >= BUFFER_BYTES);
        assert_eq!(again.as_ptr(), place);
    }

    #[test]
    fn there_are_so_many_and_no_more() {
        let taken = |buffers: &Arc<FrameBuffers>| -> Vec<_> {
            std::iter::from_fn(|| buffers.take()).take(100).collect()
        };
        for (budget, want) in [(0, 0), (1 << 20, 0), (40 << 20, 2), (256 << 20, 8), (1 << 40, 8)] {
            let buffers = FrameBuffers::new(budget);
            assert_eq!(taken(&buffers).len(), want, "{budget}");
            assert_eq!(taken(&buffers).len(), want, "{budget}, once they were given back");
        }
    }
}
