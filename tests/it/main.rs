//! One broker, asked over its sockets: a module for each API and each promise. One binary, because linking a broker
//! with its plugins is most of the waiting.

mod acks_zero;
mod api_versions;
mod documents;
mod hostile_frames;
mod start_and_stop;
mod support;
