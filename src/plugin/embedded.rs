//! Plugins that the binary carries, so that a node needs no folder of them.

/// A component that the binary carries.
#[derive(Clone, Copy, Debug)]
pub struct Embedded {
    pub name: &'static str,
    pub wasm: &'static [u8],
}
