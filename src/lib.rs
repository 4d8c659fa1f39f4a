//! Klamm: a Kafka-protocol broker that its users extend with sandboxed WebAssembly components.
//!
//! One room a concern, below in order of dependence: a room may use those above it in this list as
//! `tests/tidy.rs` allows, never those below. `ARCHITECTURE.md` explains each.
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::indexing_slicing))]

// Ground: the nouns that everyone shares, bytes, settings, metrics.
pub mod base;
pub mod config;
pub mod telemetry;
pub mod wire;

// Shapes: what a replicated state machine looks like, and the cluster as data.
pub mod machine;
pub mod metadata;

// Deciding: no clock, no socket, no task.
pub mod alert;
pub mod client_metrics;
pub mod controller;
pub mod group;
pub mod quota;

// Means: the only WebAssembly, the only data files.
pub mod log;
pub mod plugin;

// Acting: tasks that drive what decides.
pub mod coordinator;
pub mod quorum;
pub mod replica;

// Flow: the only callers of hooks on records.
pub mod produce;

// Requests, edge and wiring.
pub mod api;
pub mod broker;
pub mod cli;
pub mod delivery;
pub mod http;
pub mod net;
