//! Settings that are good alone and contradict each other, or ask for what is not built yet.

use std::path::{Path, PathBuf};

use super::{
    Config, Listener,
    address::{clash, host_and_port, is_wildcard},
    consumer_group, group,
    places::{is_within, no_folder, plain},
};

/// Each contradiction with the key that it is told under.
pub(super) fn contradictions(config: &Config) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    found.extend(session_timeouts(config).map(|it| ("group.min.session.timeout.ms", it)));
    found.extend(consumer_group::contradictions(&config.group));
    found.extend(group_patterns(config).map(|it| ("klamm.groups", it)));
    found.extend(roles(config).map(|it| ("process.roles", it)));
    found.extend(voters(config).map(|it| ("controller.quorum.voters", it)));
    found.extend(listeners(config).map(|it| ("listeners", it)));
    found.extend(protocols(config).map(|it| ("listener.security.protocol.map", it)));
    found.extend(advertised(config).map(|it| ("advertised.listeners", it)));
    found.extend(inter_broker(config).map(|it| ("inter.broker.listener.name", it)));
    found.extend(connections(config).map(|it| ("max.connections.per.ip", it)));
    found.extend(log_dirs(config).map(|it| ("log.dirs", it)));
    found.extend(http(config).map(|it| ("klamm.http.listen", it)));
    found.extend(plugin_dir(config).map(|it| ("klamm.plugin.dir", it)));
    found.extend(replication(config).map(|it| ("default.replication.factor", it)));
    if config.node.id.0 < 0 {
        found.push(("node.id", "must be 0 or more".into()));
    }
    found
}

fn session_timeouts(config: &Config) -> Option<String> {
    let (min, max) = (config.group.min_session_timeout_ms, config.group.max_session_timeout_ms);
    (min > max).then(|| format!("{min} is above group.max.session.timeout.ms ({max})"))
}

/// What a group would be given by a pattern must be what it could be given by itself.
fn group_patterns(config: &Config) -> Option<String> {
    config.group_patterns.0.iter().find_map(|it| {
        let wrong = group::validate_together(&it.settings, &config.group.consumer).err()?;
        Some(format!("\"{}\": {wrong}", it.pattern))
    })
}

fn roles(config: &Config) -> Option<String> {
    let mut roles = config.node.process_roles.clone();
    roles.sort();
    (roles != ["broker", "controller"]).then(|| {
        "must be broker and controller: one node is both, and clusters are not served yet".into()
    })
}

fn voters(config: &Config) -> Option<String> {
    let id = config.node.id.0;
    match config.node.controller_quorum_voters.as_slice() {
        [] => None,
        [one] => voter(one, id),
        _ => Some("clusters are not served yet: this node alone, or nothing".into()),
    }
}

fn voter(voter: &str, id: i32) -> Option<String> {
    let Some((voter_id, address)) = voter.split_once('@') else {
        return Some(format!("`{voter}` is not ID@HOST:PORT"));
    };
    if voter_id != id.to_string() {
        return Some(format!("names another node than node.id ({id})"));
    }
    host_and_port(address).err()
}

/// Entries that are no pair would be passed over.
fn protocols(config: &Config) -> Option<String> {
    let map = &config.net.security_protocol_map;
    let wrong = map.iter().find(|it| !it.contains(':'))?;
    Some(format!("`{wrong}` is not NAME:PROTOCOL"))
}

fn listeners(config: &Config) -> Option<String> {
    let listeners: Vec<&Listener> = config.broker_listeners().collect();
    if listeners.is_empty() {
        return Some("needs one listener for clients".into());
    }
    for (index, listener) in listeners.iter().enumerate() {
        let name = &listener.name;
        let after = || listeners.iter().skip(index + 1);
        if let Some(other) = after().find(|it| clash(socket(listener), socket(it))) {
            return Some(format!("{listener} and {other} want the same port"));
        }
        if after().any(|it| it.name == *name) {
            return Some(format!("has two listeners of the name {name}"));
        }
        if config.security_protocol(name) != "PLAINTEXT" {
            return Some(format!(
                "{name} is not PLAINTEXT, the only protocol served yet; map it by listener.security.protocol.map"
            ));
        }
    }
    None
}

fn socket(listener: &Listener) -> (&str, u16) {
    (&listener.host, listener.port)
}

fn advertised(config: &Config) -> Option<String> {
    let advertised = &config.net.advertised_listeners;
    if let Some(unknown) =
        advertised.iter().find(|it| config.net.listeners.iter().all(|bound| bound.name != it.name))
    {
        return Some(format!("{} is none of the listeners", unknown.name));
    }
    if let Some(listener) = advertised.iter().find(|it| is_wildcard(&it.host)) {
        return Some(format!("{listener} is no address that a client can connect to"));
    }
    None
}

fn inter_broker(config: &Config) -> Option<String> {
    let name = config.node.inter_broker_listener_name.as_ref()?;
    (config.broker_listeners().all(|it| it.name != name.to_ascii_uppercase()))
        .then(|| format!("{name} is none of the listeners"))
}

/// As in Kafka.
fn connections(config: &Config) -> Option<String> {
    let net = &config.net;
    let nobody = net.max_connections_per_ip == 0 && net.max_connections_per_ip_overrides.is_empty();
    nobody
        .then(|| "0 keeps everyone out: max.connections.per.ip.overrides must name who may".into())
}

fn log_dirs(config: &Config) -> Option<String> {
    let dirs = &config.log.dirs;
    if dirs.is_empty() {
        return Some("needs a folder".into());
    }
    let mut seen = std::collections::BTreeSet::new();
    let mut twice =
        |dir: &Path| (!seen.insert(plain(dir))).then(|| format!("names {} twice", dir.display()));
    dirs.iter()
        .find_map(|it| no_folder(it))
        .or_else(|| dirs.iter().find_map(|it| twice(it)))
        .or_else(|| dirs.iter().find_map(|it| lies_in(it, dirs)))
}

/// What is made in one folder of the node's would be taken for the other's.
fn lies_in(inner: &Path, dirs: &[PathBuf]) -> Option<String> {
    let outer = dirs.iter().find(|it| *it != inner && is_within(inner, it))?;
    Some(format!("{} lies in {}, a folder of log.dirs", inner.display(), outer.display()))
}

fn plugin_dir(config: &Config) -> Option<String> {
    let dir = &config.plugin.dir;
    no_folder(dir).or_else(|| {
        let outer = config.log.dirs.iter().find(|it| is_within(dir, it))?;
        Some(format!("lies in {}, a folder of log.dirs", outer.display()))
    })
}

fn http(config: &Config) -> Option<String> {
    let http = match host_and_port(&config.net.http_listen) {
        Ok(http) => http,
        Err(reason) => return Some(reason),
    };
    if http.0.is_empty() {
        let port = http.1;
        return Some(format!(
            "names no host: 127.0.0.1:{port} for this machine alone, 0.0.0.0:{port} for every address"
        ));
    }
    let listener = config.broker_listeners().find(|it| clash(http, socket(it)))?;
    Some(format!("wants the same port as {listener}"))
}

fn replication(config: &Config) -> Option<String> {
    (config.node.default_replication_factor > 1).then(|| "there is one node, so one replica".into())
}
