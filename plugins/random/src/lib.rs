//! The partitioner `random`: each record goes to a partition of its own, all equally likely.
