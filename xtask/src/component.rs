//! From a core module, as `rustc` or `clang` writes it, to a component.
//!
//! The module carries its world in a custom section, which the bindings put there. A module that
//! imports anything beyond its world is refused here, long before a broker would refuse it.

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use wit_component::ComponentEncoder;

pub(crate) fn convert(core: &Path, out: &Path) -> Result<()> {
    let module = fs::read(core).with_context(|| format!("read {}", core.display()))?;
    let component =
        encode(&module).with_context(|| format!("make a component of {}", core.display()))?;
    fs::write(out, component).with_context(|| format!("write {}", out.display()))
}

pub(crate) fn encode(module: &[u8]) -> Result<Vec<u8>> {
    ComponentEncoder::default().validate(true).module(module)?.encode()
}
