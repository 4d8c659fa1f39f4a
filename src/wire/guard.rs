//! Bounds what decoding a request body may allocate, by a walk over its lengths before it is decoded.
