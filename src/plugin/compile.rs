//! From bytes to a component of one of the three worlds, linked. What is wrong is said so that its author can act.
//!
//! Nothing is granted: the linker holds the log import and nothing else.

use wasmtime::component::{Component, InstancePre, Linker};

use super::{
    bindings::{
        assignor::AssignorPluginPre, partitioner::PartitionerPluginPre,
        transform::TransformPluginPre,
    },
    engine::PluginEngine,
    failure::{Chain, LoadError, REASON_BYTES_MAX, cut},
    guest_state::GuestState,
    log_import,
    status::HookKind,
};

/// A component of one world, its imports bound and its exports checked: making an instance of it is quick.
#[derive(Clone)]
pub(super) enum Compiled {
    Partitioner(PartitionerPluginPre<GuestState>),
    Assignor(AssignorPluginPre<GuestState>),
    Transform(TransformPluginPre<GuestState>),
}

impl Compiled {
    pub(super) fn hook(&self) -> HookKind {
        match self {
            Self::Partitioner(_) => HookKind::Partitioner,
            Self::Assignor(_) => HookKind::Assignor,
            Self::Transform(_) => HookKind::Transform,
        }
    }
}

/// The interface that makes a world of each hook.
const HOOKS: [(HookKind, &str); 3] = [
    (HookKind::Partitioner, "klamm:plugin/partitioner"),
    (HookKind::Assignor, "klamm:plugin/assignor"),
    (HookKind::Transform, "klamm:plugin/transform"),
];

const PACKAGE_VERSION: &str = "1.0.0";

/// Compiles (or takes from the cache) on the calling thread: 20 to 130 ms for Rust or C, seconds for JavaScript
/// or Python.
pub(super) fn compile(engine: &PluginEngine, bytes: &[u8]) -> Result<Component, LoadError> {
    check_format(bytes)?;
    Component::from_binary(engine.wasm(), bytes).map_err(|error| {
        let text = Chain(&error).to_string();
        if text.contains("unexpected end") {
            return LoadError::refused("the file ends too soon: it is truncated");
        }
        refused("is no valid component", &text)
    })
}

/// Tells the world, checks the imports, and binds both.
pub(super) fn link(engine: &PluginEngine, component: &Component) -> Result<Compiled, LoadError> {
    check_imports(engine, component)?;
    let hook = find_hook(engine, component)?;
    let instance = bind(engine, component).map_err(|error| {
        refused("does not fit the interfaces of klamm:plugin@1.0.0", &Chain(&error).to_string())
    })?;
    world(hook, instance).map_err(|error| {
        refused(&format!("does not fit the world {}", world_name(hook)), &Chain(&error).to_string())
    })
}

/// Tells a component from what people take for one.
fn check_format(bytes: &[u8]) -> Result<(), LoadError> {
    let problem = match bytes {
        [] => "the file is empty",
        [0, b'a', b's', b'm', 0x0d, 0, 1, 0, ..] => return Ok(()),
        [0, b'a', b's', b'm', 1, 0, 0, 0, ..] => {
            "is a core module, not a component: turn it into one with `wasm-tools component new`"
        }
        [0, b'a', b's', b'm', _, _, _, _, ..] => {
            "is WebAssembly of a version that is not known here"
        }
        [0, b'a', b's', b'm', ..] => "the file ends too soon: it is truncated",
        other if looks_like_text(other) => "is text, not a WebAssembly component",
        _ => "is no WebAssembly: its first bytes are wrong",
    };
    Err(LoadError::refused(problem))
}

fn looks_like_text(bytes: &[u8]) -> bool {
    let start = bytes.get(..bytes.len().min(512)).unwrap_or_default();
    start.iter().all(|&byte| byte >= 0x20 || byte.is_ascii_whitespace())
}

fn check_imports(engine: &PluginEngine, component: &Component) -> Result<(), LoadError> {
    let kind = component.component_type();
    let refused: Vec<&str> = kind
        .imports(engine.wasm())
        .map(|(name, _)| name)
        .filter(|name| !is_granted(name))
        .collect();
    if refused.is_empty() {
        return Ok(());
    }
    Err(LoadError::refused(refused_imports(&refused)))
}

fn is_granted(import: &str) -> bool {
    ["klamm:plugin/log", "klamm:plugin/types"]
        .iter()
        .any(|granted| import.split_once('@').is_some_and(|(name, _)| name == *granted))
}

fn refused_imports(names: &[&str]) -> String {
    let mut text = format!(
        "imports {}, but a plugin may import nothing except klamm:plugin/log",
        cut(&names.join(", "), REASON_BYTES_MAX / 2)
    );
    if names.iter().any(|name| name.starts_with("wasi:")) {
        text.push_str(
            "; build it without WASI: for Rust the target wasm32-unknown-unknown, for JavaScript \
             `componentize-qjs --stub-wasi` or componentize-js with all features disabled, for Python \
             `componentize-py … componentize --stub-wasi`",
        );
    }
    text
}

fn find_hook(engine: &PluginEngine, component: &Component) -> Result<HookKind, LoadError> {
    let kind = component.component_type();
    let exports: Vec<&str> = kind.exports(engine.wasm()).map(|(name, _)| name).collect();
    let version = |interface: &str| {
        exports.iter().find_map(|it| it.strip_prefix(interface).and_then(|it| it.strip_prefix('@')))
    };
    let found: Vec<_> =
        HOOKS.iter().filter_map(|&(hook, name)| Some((hook, version(name)?))).collect();
    match found.as_slice() {
        [(hook, PACKAGE_VERSION)] => Ok(*hook),
        [(hook, other)] => Err(LoadError::refused(format!(
            "is made for klamm:plugin@{other}, this broker knows {PACKAGE_VERSION} ({})",
            world_name(*hook)
        ))),
        [] => Err(LoadError::refused(format!(
            "is a component of another world: it exports {}, but none of the hooks of klamm:plugin@{PACKAGE_VERSION} \
             (partitioner, assignor, transform)",
            if exports.is_empty() { "nothing".into() } else { cut(&exports.join(", "), 256) }
        ))),
        _ => Err(LoadError::refused("exports more than one hook; a plugin has one world")),
    }
}

pub(super) fn world_name(hook: HookKind) -> &'static str {
    match hook {
        HookKind::Partitioner => "partitioner-plugin",
        HookKind::Assignor => "assignor-plugin",
        HookKind::Transform => "transform-plugin",
    }
}

fn bind(engine: &PluginEngine, component: &Component) -> wasmtime::Result<InstancePre<GuestState>> {
    let mut linker = Linker::new(engine.wasm());
    log_import::add_to_linker(&mut linker)?;
    linker.instantiate_pre(component)
}

fn world(hook: HookKind, instance: InstancePre<GuestState>) -> wasmtime::Result<Compiled> {
    Ok(match hook {
        HookKind::Partitioner => Compiled::Partitioner(PartitionerPluginPre::new(instance)?),
        HookKind::Assignor => Compiled::Assignor(AssignorPluginPre::new(instance)?),
        HookKind::Transform => Compiled::Transform(TransformPluginPre::new(instance)?),
    })
}

fn refused(what: &str, cause: &str) -> LoadError {
    LoadError::refused(format!("{what}: {}", cut(cause, REASON_BYTES_MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refuses(bytes: &[u8], want: &str) {
        let error = check_format(bytes).expect_err("refused").to_string();
        assert!(error.contains(want), "{error:?} has no {want:?}");
    }

    #[test]
    fn what_is_no_component_is_told_apart() {
        refuses(b"", "empty");
        refuses(b"\0asm\x01\0\0\0", "core module");
        refuses(b"\0asm\x07\0\0\0", "version");
        refuses(b"\0asm", "truncated");
        refuses(b"(component)\n", "text");
        refuses(b"PK\x03\x04", "first bytes");
    }

    #[test]
    fn a_refused_wasi_import_says_how_to_build_without_it() {
        let text = refused_imports(&["wasi:cli/environment@0.2.0"]);
        assert!(text.contains("wasi:cli/environment@0.2.0") && text.contains("--stub-wasi"));
        assert!(!refused_imports(&["acme:kv/store@1.0.0"]).contains("WASI"));
        assert!(is_granted("klamm:plugin/log@1.0.0") && is_granted("klamm:plugin/types@1.0.0"));
        assert!(!is_granted("klamm:plugin/logs@1.0.0") && !is_granted("log"));
    }
}
