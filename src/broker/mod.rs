//! Starts, wires and stops all rooms; nothing depends on it.
