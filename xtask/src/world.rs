//! Which world of the contract a component is built for.

use anyhow::{Context, Result, bail, ensure};
use wit_component::DecodedWasm;
use wit_parser::{Resolve, World, WorldItem, WorldKey};

const HOOKS: [&str; 3] = ["partitioner", "assignor", "transform"];
const GRANTED: [&str; 2] = ["klamm:plugin/log@1.0.0", "klamm:plugin/types@1.0.0"];

/// The hook that a component exports. A component that imports more than is granted has none.
pub(crate) fn hook(component: &[u8]) -> Result<&'static str> {
    let DecodedWasm::Component(resolve, world) = wit_component::decode(component)? else {
        bail!("not a component");
    };
    let world = resolve.worlds.get(world).context("a component without a world")?;
    for import in names(&resolve, &world.imports) {
        ensure!(
            GRANTED.contains(&import.as_str()),
            "it imports {import}, which no plugin is granted"
        );
    }
    exported(&resolve, world)
}

fn exported(resolve: &Resolve, world: &World) -> Result<&'static str> {
    let exports: Vec<String> = names(resolve, &world.exports).collect();
    let has = |interface: &str| exports.contains(&format!("klamm:plugin/{interface}@1.0.0"));
    ensure!(has("plugin"), "it does not export klamm:plugin/plugin@1.0.0");
    HOOKS.into_iter().find(|hook| has(hook)).context("it exports no hook")
}

fn names<'a>(
    resolve: &'a Resolve,
    items: impl IntoIterator<Item = (&'a WorldKey, &'a WorldItem)> + 'a,
) -> impl Iterator<Item = String> + 'a {
    items.into_iter().map(|(key, _)| resolve.name_world_key(key))
}
