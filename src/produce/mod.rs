//! A record's way in. Without a hook: straight to the replica, with the bytes as received. With one: through the
//! partition's lane.
