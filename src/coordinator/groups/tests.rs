//! The coordinator over real logs.
