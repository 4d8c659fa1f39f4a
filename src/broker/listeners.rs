//! Binds the listeners, and tells under which addresses clients reach them.

use anyhow::Context as _;

use crate::{
    config::{Config, Listener},
    net::{self, BoundListener},
};

/// Binds every listener for clients. Connections wait in the backlog until they are served.
pub(super) async fn bind(config: &Config) -> anyhow::Result<Vec<BoundListener>> {
    let mut bound = Vec::new();
    for listener in config.broker_listeners() {
        bound.push(
            net::bind(listener)
                .await
                .with_context(|| format!("listen on {listener}, of listeners"))?,
        );
    }
    Ok(bound)
}

/// What clients are told: the advertised address of a listener's name, else the address as bound.
pub(super) fn advertised(config: &Config, bound: &[BoundListener]) -> Vec<Listener> {
    bound.iter().map(|it| advertised_one(config, it)).collect()
}

fn advertised_one(config: &Config, bound: &BoundListener) -> Listener {
    let port = bound.address().port();
    let advertised = config.net.advertised_listeners.iter().find(|it| it.name == bound.name());
    match advertised {
        Some(listener) if listener.port == 0 => Listener { port, ..listener.clone() },
        Some(listener) => listener.clone(),
        None => {
            let address = bound.address().ip();
            let host =
                if address.is_unspecified() { localhost(bound) } else { address.to_string() };
            Listener { name: bound.name().to_owned(), host, port }
        }
    }
}

/// A wildcard is no address to connect to; without a better one, this machine's own clients are served.
fn localhost(bound: &BoundListener) -> String {
    tracing::warn!(
        listener = bound.name(),
        "clients are told `localhost`, which other machines cannot use: set advertised.listeners"
    );
    "localhost".into()
}
