//! Each operation: a request in, records and answers out.
