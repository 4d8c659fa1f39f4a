//! Settings that are good alone and contradict each other, or ask for what is not built yet.

use super::{Config, Listener};

/// Each contradiction with the key that it is told under.
pub(super) fn contradictions(config: &Config) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    found.extend(session_timeouts(config).map(|it| ("group.min.session.timeout.ms", it)));
    found.extend(roles(config).map(|it| ("process.roles", it)));
    found.extend(voters(config).map(|it| ("controller.quorum.voters", it)));
    found.extend(listeners(config).map(|it| ("listeners", it)));
    found.extend(advertised(config).map(|it| ("advertised.listeners", it)));
    found.extend(inter_broker(config).map(|it| ("inter.broker.listener.name", it)));
    found.extend(log_dirs(config).map(|it| ("log.dirs", it)));
    found.extend(http(config).map(|it| ("klamm.http.listen", it)));
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
        [one] if one.split('@').next() == Some(&id.to_string()) => None,
        [_] => Some(format!("names another node than node.id ({id})")),
        _ => Some("clusters are not served yet: this node alone, or nothing".into()),
    }
}

fn listeners(config: &Config) -> Option<String> {
    let listeners: Vec<&Listener> = config.broker_listeners().collect();
    if listeners.is_empty() {
        return Some("needs one listener for clients".into());
    }
    for (index, listener) in listeners.iter().enumerate() {
        let name = &listener.name;
        if listeners.iter().skip(index + 1).any(|it| it.name == *name) {
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

fn advertised(config: &Config) -> Option<String> {
    let advertised = &config.net.advertised_listeners;
    if let Some(unknown) =
        advertised.iter().find(|it| config.broker_listeners().all(|bound| bound.name != it.name))
    {
        return Some(format!("{} is none of the listeners", unknown.name));
    }
    let wildcard = |it: &&Listener| ["", "0.0.0.0", "::"].contains(&it.host.as_str());
    if let Some(listener) = advertised.iter().find(wildcard) {
        return Some(format!("{listener} is no address that a client can connect to"));
    }
    None
}

fn inter_broker(config: &Config) -> Option<String> {
    let name = config.node.inter_broker_listener_name.as_ref()?;
    (config.broker_listeners().all(|it| it.name != name.to_ascii_uppercase()))
        .then(|| format!("{name} is none of the listeners"))
}

fn log_dirs(config: &Config) -> Option<String> {
    let dirs = &config.log.dirs;
    if dirs.is_empty() {
        return Some("needs a folder".into());
    }
    let twice = dirs
        .iter()
        .enumerate()
        .find(|(index, dir)| dirs.iter().skip(index + 1).any(|it| it == *dir));
    twice.map(|(_, dir)| format!("names {} twice", dir.display()))
}

fn http(config: &Config) -> Option<String> {
    let listen = &config.net.http_listen;
    let port =
        listen.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)));
    port.is_none().then(|| format!("`{listen}` is not HOST:PORT"))
}

fn replication(config: &Config) -> Option<String> {
    (config.node.default_replication_factor > 1).then(|| "there is one node, so one replica".into())
}
