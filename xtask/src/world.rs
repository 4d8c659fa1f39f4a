//! Reads a component.
