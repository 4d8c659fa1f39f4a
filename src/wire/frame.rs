//! Request and response frames: a 4-byte length, then a header, then a body.
