//! Decides on changes of the cluster's metadata: topics, configs, brokers, producer ids. Pure: it reads an image
//! and returns records; `quorum` logs them.
