//! `[limits]` of a plugin's own: what they grant holds for it alone, and more than the node has is refused.

use klamm::plugin::PluginState;

use crate::support::{Broker, Client, batch, eventually, guests};

const NOT_ENOUGH_REPLICAS: i16 = 19;
const INVALID_CONFIG: i16 = 40;

/// A plugin with a `.toml`, and a topic of its name under it.
fn load(broker: &Broker, client: &mut Client, name: &str, toml: &str, wasm: &[u8]) {
    broker.put_plugin_file(&format!("{name}.toml"), toml.as_bytes());
    broker.load_plugin(name, wasm);
    client.create_topic(name, 1, &[("klamm.transforms", name)]);
}

fn produce(client: &mut Client, topic: &str) -> i16 {
    client.produce(topic, 0, batch(&[(None, Some("a"))])).error_code
}

fn failures(broker: &Broker, plugin: &str, kind: &str) -> f64 {
    broker.metric(&format!("klamm_plugin_failures_total{{plugin=\"{plugin}\",kind=\"{kind}\"}}"))
}

#[test]
fn memory_is_granted_to_each_plugin_by_its_own_limit() {
    let mut broker = Broker::start();
    broker.announce("small");
    let mut client = broker.client();
    // It begins with 1 MiB and takes 2 more.
    let wasm = guests::grows_by(32);
    load(&broker, &mut client, "small", "[limits]\nmemory-max-bytes = 2097152", &wasm);
    load(&broker, &mut client, "large", "[limits]\nmemory-max-bytes = 8388608", &wasm);
    assert_eq!(produce(&mut client, "small"), NOT_ENOUGH_REPLICAS);
    assert_eq!(produce(&mut client, "large"), 0);
    assert!((failures(&broker, "small", "memory") - 1.0).abs() < 0.1, "{}", broker.get("/metrics"));
    assert!(broker.plugin("small").unwrap().last_error.unwrap().contains("may have 2097152"));
    assert_eq!(broker.plugin("large").unwrap().last_error, None);
}

#[test]
fn a_call_ends_by_the_plugins_own_limit_though_the_node_would_wait_longer() {
    // Ten minutes: longer than the client waits.
    let mut broker = Broker::with(&[("klamm.plugin.call.timeout.ms", "600000")]);
    broker.announce("hasty");
    let mut client = broker.client();
    let wasm = guests::hostile_transform("(call $loop) unreachable");
    load(&broker, &mut client, "hasty", "[limits]\ncall-timeout-ms = 300", &wasm);
    assert_eq!(produce(&mut client, "hasty"), NOT_ENOUGH_REPLICAS);
    assert!((failures(&broker, "hasty", "timeout") - 1.0).abs() < 0.1);
}

#[test]
fn limits_beyond_what_the_node_has_are_refused_and_leave_the_running_plugin_its_old_ones() {
    let mut broker = Broker::with(&[("klamm.plugin.memory.max.bytes", "16777216")]);
    broker.announce("greedy");
    let mut client = broker.client();
    let wasm = guests::grows_by(32);
    for (limit, told) in [
        (
            "memory-max-bytes = 16777217",
            "limits.memory-max-bytes = 16777217 is more than can be granted, 16777216",
        ),
        (
            "call-timeout-ms = 60001",
            "limits.call-timeout-ms = 60001 is more than can be granted, 60000",
        ),
        (
            "result-max-bytes = 67108865",
            "limits.result-max-bytes = 67108865 is more than can be granted, 67108864",
        ),
        ("memory-max-bytes = 0", "limits.memory-max-bytes must be a whole number above 0"),
    ] {
        broker.put_plugin_file("greedy.toml", format!("[limits]\n{limit}").as_bytes());
        broker.put_plugin_file("greedy.wasm", &wasm);
        eventually(&format!("{limit} is refused"), || {
            broker.plugin("greedy")?.last_error.filter(|it| it.contains(told))
        });
        assert_eq!(broker.plugin("greedy").unwrap().state, PluginState::Failed, "{limit}");
    }
    let refused = client.try_create_topic("t", 1, &[("klamm.transforms", "greedy")]).unwrap();
    assert_eq!(refused.error_code, INVALID_CONFIG, "there is no such plugin");

    load(&broker, &mut client, "greedy", "[limits]\nmemory-max-bytes = 16777216", &wasm);
    broker.put_plugin_file("greedy.toml", b"[limits]\nmemory-max-bytes = 16777217");
    eventually("the change is refused", || {
        broker.plugin("greedy")?.last_error.filter(|it| it.contains("16777217"))
    });
    assert_eq!(broker.plugin("greedy").unwrap().state, PluginState::Active);
    assert_eq!(produce(&mut client, "greedy"), 0);
}
