//! Zigzag variable-length integers, as records use them.
