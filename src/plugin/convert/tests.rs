//! Cutting, columns, and answers that lie.
