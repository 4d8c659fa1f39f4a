//! One broker, asked over its sockets: a module for each API and each promise. One binary, because linking a broker
//! with its plugins is most of the waiting.

mod acks;
mod alerts;
mod api_versions;
mod assignor;
mod command_line;
mod compaction;
mod connections;
mod consumer_groups;
mod crash;
mod delete_records;
mod describe_node;
mod documents;
mod fetch;
mod hostile_frames;
mod hostile_groups;
mod large_log;
mod metrics;
mod moving;
mod open_files;
mod partitioner;
mod plugin_check;
mod plugin_failures;
mod plugin_limits;
mod plugin_reload;
mod quotas;
mod restart;
mod sample_logs;
mod slow_readers;
mod start_and_stop;
mod storage_failures;
mod support;
mod transform;
mod waiting;

// The components that tests write name hooks by this path, here as in the broker's own tests.
use klamm::plugin;
