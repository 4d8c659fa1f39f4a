//! The Rust bindings of the guest SDK, written from `wit/` and checked in.
//!
//! Checked in, because the macro that would write them at build time makes every plugin author compile
//! a parser of WIT and one of Rust. One file a world; nobody edits them.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use wit_bindgen_core::{Files, WorldGenerator};
use wit_parser::Resolve;

const FOLDER: &str = "plugins/sdk/src/wasm/bindings";
const NOTE: &str = "One world of the plugin contract as Rust types, imports and export macros.";
const HOOKS: [&str; 3] = ["assignor", "partitioner", "transform"];

pub(crate) fn write(root: &Path) -> Result<()> {
    fs::create_dir_all(root.join(FOLDER))?;
    for hook in HOOKS {
        fs::write(path(root, hook), generate(root, hook)?)?;
    }
    Ok(())
}

pub(crate) fn check(root: &Path) -> Result<()> {
    for hook in HOOKS {
        let path = path(root, hook);
        let committed =
            fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        ensure!(
            committed == generate(root, hook)?,
            "{} is not what wit/ says: run `cargo xtask bindings`",
            path.display()
        );
    }
    Ok(())
}

fn path(root: &Path, hook: &str) -> PathBuf {
    root.join(FOLDER).join(format!("{hook}.rs"))
}

fn generate(root: &Path, hook: &str) -> Result<String> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(root.join("wit")).context("read wit/")?;
    let world = resolve.select_world(&[package], Some(&format!("{hook}-plugin")))?;
    let mut files = Files::default();
    options(hook).build().generate(&mut resolve, world, &mut files)?;
    let (_, content) = files.iter().next().context("the generator wrote nothing")?;
    Ok(finish(hook, std::str::from_utf8(content)?))
}

/// The interface `plugin` is in every world, and the name of its macro is one of the whole crate.
fn finish(hook: &str, generated: &str) -> String {
    let shared = "__export_klamm_plugin_plugin_1_0_0_cabi";
    let own = generated.replace(shared, &format!("__export_{hook}_plugin_interface"));
    format!(
        "//! Written by `cargo xtask bindings` from `wit/`: do not edit.\n//!\n//! {NOTE}\n\n{own}"
    )
}

/// Everything that a guest crate expands refers to the SDK alone, which re-exports the runtime.
fn options(hook: &str) -> wit_bindgen_rust::Opts {
    wit_bindgen_rust::Opts {
        format: true,
        runtime_path: Some("::klamm_plugin::wit_bindgen::rt".into()),
        default_bindings_module: Some(format!("::klamm_plugin::wasm::bindings::{hook}")),
        export_macro_name: Some(format!("export_{hook}")),
        pub_export_macro: true,
        disable_custom_section_link_helpers: true,
        ..Default::default()
    }
}
