//! Request headers, read without trusting them.
