//! One broker, asked over its sockets: a module for each API and each promise. One binary, because linking a broker
//! with its plugins is most of the waiting.

mod acks;
mod alerts;
mod api_versions;
mod assignor;
mod crash;
mod documents;
mod hostile_frames;
mod hostile_groups;
mod partitioner;
mod plugin_check;
mod plugin_failures;
mod plugin_reload;
mod start_and_stop;
mod support;
mod transform;

// The components that tests write name hooks by this path, here as in the broker's own tests.
use klamm::plugin;
