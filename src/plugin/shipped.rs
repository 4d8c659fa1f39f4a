//! The plugins that the binary carries, as `plugins/` builds them. A file of the same name in the watched folder wins.

use super::Embedded;

macro_rules! shipped {
    ($($name:literal,)*) => {
        /// The plugins of `plugins/`, sorted by name.
        pub const SHIPPED: &[Embedded] = &[
            $(Embedded {
                name: $name,
                wasm: include_bytes!(concat!("../../plugins/", $name, "/", $name, ".wasm")),
            },)*
        ];
    };
}

shipped! {
    "key-ordering",
    "log-alert",
    "random",
    "range",
    "round-robin",
    "roundrobin",
    "sticky",
}
