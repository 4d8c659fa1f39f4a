//! Work that waits for the disk, where it may wait.

/// Does `work` off the runtime's workers, each of which serves many connections. A panic in it is the caller's.
pub async fn off_workers<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
    }
}
