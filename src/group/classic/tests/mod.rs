//! Each operation: a request in, records and answers out.

mod assign;
mod join;
mod leave;
mod static_members;
mod sync;
mod timeouts;
