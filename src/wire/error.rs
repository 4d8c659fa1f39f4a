//! Why the bytes of a request are no request. A connection that sends such bytes is closed: what follows on it
//! cannot be trusted either.

/// What is wrong with a frame, a header or a body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    #[error("a frame of {length} bytes, allowed are 0 to {max}")]
    FrameLength { length: i32, max: usize },
    #[error("{field}: the bytes end early")]
    Truncated { field: &'static str },
    #[error("{field}: length {length}")]
    BadLength { field: &'static str, length: i64 },
    /// The body is well-formed, but decoding it would cost many times its own size.
    #[error("{field}: more than {max} elements in one request")]
    TooManyElements { field: &'static str, max: usize },
    /// A tagged field that is known, but not of the size that it says.
    #[error("{field}: {size} bytes were announced for tag {tag}")]
    TagSize { field: &'static str, tag: u32, size: u32 },
    #[error("the API key {0} is unknown")]
    UnknownApi(i16),
    #[error("the body: {0}")]
    Body(String),
}
