//! What a load refuses, and how it says so.

use std::time::{Duration, Instant};

use super::{
    Fixture, HOOKS, PartitionerVerdict, config, embed,
    text::{Text, err},
};
use crate::plugin::{
    HookKind, PluginSource,
    engine::PluginEngine,
    failure::LoadError,
    limits::Limits,
    load::{LoadRequest, Loaded, load},
    manifest::Manifest,
    memory::MemoryGauge,
    uses::Demand,
};

fn node() -> Limits {
    Limits::of_node(&config("plugins".as_ref()))
}

fn engine() -> PluginEngine {
    PluginEngine::new(1, node().memory_max_bytes, None).expect("an engine")
}

fn try_load(
    engine: &PluginEngine,
    bytes: Vec<u8>,
    toml: &str,
    running: Option<HookKind>,
) -> Result<Loaded, LoadError> {
    let request = LoadRequest {
        name: "a".into(),
        bytes: bytes.into(),
        source: PluginSource::File,
        manifest: Manifest::parse(toml, node()).expect("a good file"),
        demand: running.map(|it| Demand::of_running(&"a".into(), it)),
        memory: MemoryGauge::default(),
    };
    load(engine, request, || false)
}

#[track_caller]
fn refuses(engine: &PluginEngine, bytes: Vec<u8>, toml: &str, want: &str) {
    let Err(error) = try_load(engine, bytes, toml, None) else { panic!("{want}: it loads") };
    let text = error.to_string();
    assert!(text.contains(want), "{text:?} has no {want:?}");
}

#[test]
fn a_good_component_of_each_world_loads() {
    let engine = engine();
    for hook in HOOKS {
        let loaded = match try_load(&engine, Text::good(hook).wasm(), "", Some(hook)) {
            Ok(loaded) => loaded,
            Err(error) => panic!("{hook:?}: {error}"),
        };
        assert_eq!(loaded.hook(), hook);
        assert_eq!(loaded.description.version, "1.0.0");
        assert_eq!(loaded.description.settings, "{}");
        assert!(loaded.description.needs.keys && loaded.description.needs.headers);
    }
}

#[test]
fn what_is_no_plugin_is_refused_with_its_reason() {
    let engine = engine();
    let good = Text::good(HookKind::Partitioner);
    let wasm = good.wasm();
    let core = wat::parse_str("(module)").expect("a module");
    let other_world = wat::parse_str("(component)").expect("a component");
    refuses(&engine, b"partitioner = 1\n".to_vec(), "", "is text");
    refuses(&engine, core, "", "core module");
    refuses(&engine, other_world, "", "another world");
    refuses(&engine, wasm[..wasm.len() / 2].to_vec(), "", "truncated");
    refuses(
        &engine,
        wasm,
        "sha256 = \"0000000000000000000000000000000000000000000000000000000000000000\"",
        "SHA-256",
    );
}

#[test]
fn a_file_that_is_cut_anywhere_or_broken_is_refused() {
    let engine = engine();
    let wasm = Text::good(HookKind::Transform).wasm();
    for end in (0..wasm.len()).step_by(97) {
        assert!(try_load(&engine, wasm[..end].to_vec(), "", None).is_err(), "cut at {end}");
    }
    let mut broken = wasm;
    broken[4] ^= 0xff;
    assert!(try_load(&engine, broken, "", None).is_err());
}

#[test]
fn nothing_but_the_log_may_be_imported() {
    let engine = engine();
    let import = r#"(import "wasi:cli/environment@0.2.0" (instance (export "get-arguments" (func (result (list string))))))"#;
    let text = Text { import, ..Text::good(HookKind::Transform) };
    refuses(&engine, text.wasm(), "", "wasi:cli/environment@0.2.0");
    refuses(&engine, text.wasm(), "", "--stub-wasi");
}

#[test]
fn a_guest_that_fails_before_it_is_used_is_refused() {
    let engine = engine();
    let good = || Text::good(HookKind::Partitioner);
    let describe = Text { describe: "unreachable".into(), ..good() };
    refuses(&engine, describe.wasm(), "", "describe: ");
    refuses(&engine, good().configure(err()).wasm(), "", "configure: test guest");
    refuses(&engine, good().call("unreachable").wasm(), "", "smoke call: ");
    refuses(&engine, good().version("").wasm(), "", "without a version");
    refuses(&engine, good().wasm(), "on-failure = \"pass\"", "not for this hook");
    refuses(&engine, good().wasm(), "[limits]\nmemory-max-bytes = 65536", "bytes of memory");
}

#[test]
fn a_name_keeps_its_world() {
    let wasm = Text::good(HookKind::Partitioner).wasm();
    let Err(error) = try_load(&engine(), wasm, "", Some(HookKind::Transform)) else {
        panic!("it loads");
    };
    assert!(error.to_string().contains("a name keeps its world"), "{error}");
}

#[test]
fn a_guest_that_configures_for_ever_is_stopped_by_the_loads_limit() {
    let engine = engine();
    let text = Text::good(HookKind::Assignor).configure("(call $loop) unreachable");
    let started = Instant::now();
    refuses(&engine, text.wasm(), "[limits]\nload-timeout-ms = 2000", "time");
    assert!(started.elapsed() < node().load_timeout, "it ends by its own limit");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_go_on_while_a_guest_configures_for_ever() {
    let good = Text::good(HookKind::Partitioner);
    let fixture = Fixture::start(&[embed("good", &good)], &[]).await;
    let loops = Text::good(HookKind::Partitioner).configure("(call $loop) unreachable");
    fixture.replace("loops.toml", b"[limits]\nload-timeout-ms = 1500");
    fixture.replace("loops.wasm", &loops.wasm());
    let refused = fixture.until("loops", |it| it.is_some_and(|it| it.last_error.is_some()));
    tokio::pin!(refused);
    let mut calls = 0;
    loop {
        tokio::select! {
            _ = &mut refused => break,
            verdict = fixture.place("good", &["a"]) => {
                assert_eq!(verdict, PartitionerVerdict::Targets(vec![0]));
                calls += 1;
            }
        }
    }
    assert!(calls > 0);
    fixture.replace("next.wasm", &good.wasm());
    fixture.until_version("next", "1.0.0").await;
}

#[tokio::test]
async fn a_guest_that_configures_for_ever_does_not_hold_up_a_stop() {
    let fixture = Fixture::start(&[], &[]).await;
    let loops = Text::good(HookKind::Partitioner).configure("(call $loop) unreachable");
    fixture.replace("loops.toml", b"[limits]\nload-timeout-ms = 20000");
    fixture.replace("loops.wasm", &loops.wasm());
    let configures = || {
        let bytes = fixture.metric("klamm_plugin_memory_bytes{plugin=\"loops\"}");
        bytes.is_some_and(|it| it > 0.0)
    };
    let until_it_configures = || {
        let waiting = async {
            while !configures() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_mins(1), waiting)
    };
    until_it_configures().await.expect("its load begins");
    fixture.host.shutdown().await;
    until_it_configures().await.expect("the stop has not waited for it");
}
