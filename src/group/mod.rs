//! Consumer groups as state machines over the records of `__consumer_offsets`. Pure: time arrives as an argument.
