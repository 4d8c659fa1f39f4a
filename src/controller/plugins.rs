//! What the controller has to know of plugins: which names a config may use.

use std::collections::{BTreeMap, BTreeSet};

use super::ControllerError;
use crate::{
    base::{PluginName, TopicName},
    config::{TopicConfigs, topic},
};

/// Plugins that are loaded, by world.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadedPlugins {
    /// With whether it declares itself a function of the key.
    pub partitioners: BTreeMap<PluginName, bool>,
    pub assignors: BTreeSet<PluginName>,
    pub transforms: BTreeSet<PluginName>,
}

impl LoadedPlugins {
    /// Checks a topic's hooks in the configs that it would have. `changed` tells which names the request touches: what it
    /// leaves alone is not held against it, for plugins come and go.
    pub(super) fn check_topic(
        &self,
        name: &TopicName,
        configs: &TopicConfigs,
        changed: impl Fn(&str) -> bool,
    ) -> Result<(), ControllerError> {
        let set = |key: &str| configs.get(key).map(String::as_str).filter(|it| !it.is_empty());
        if name.is_internal()
            && let Some(hook) = topic::HOOKS.into_iter().find(|it| changed(it) && set(it).is_some())
        {
            return refuse(format!("{hook}: hooks never apply to internal topics such as {name}."));
        }
        if changed(topic::PARTITIONER) || changed(topic::PARTITIONER_MODE) {
            self.check_partitioner(set(topic::PARTITIONER), set(topic::PARTITIONER_MODE))?;
        }
        if changed(topic::TRANSFORMS)
            && let Some(names) = set(topic::TRANSFORMS)
        {
            topic::list(names).try_for_each(|it| self.check_transform(it))?;
        }
        Ok(())
    }

    fn check_partitioner(
        &self,
        name: Option<&str>,
        mode: Option<&str>,
    ) -> Result<(), ControllerError> {
        let Some(name) = name else { return Ok(()) };
        let Some(&is_key_pure) = self.partitioners.get(name) else {
            let names = self.partitioners.keys();
            return refuse(not_loaded(topic::PARTITIONER, name, "partitioner", names));
        };
        match mode {
            Some(mode @ ("guard" | "observe")) if !is_key_pure => {
                let pure = self.partitioners.iter().filter(|(_, is_pure)| **is_pure);
                refuse(format!(
                    "{}={mode} needs a partitioner that is a function of the key, and '{name}' is not; these are: {}",
                    topic::PARTITIONER_MODE,
                    names(pure.map(|(name, _)| name)),
                ))
            }
            _ => Ok(()),
        }
    }

    fn check_transform(&self, name: &str) -> Result<(), ControllerError> {
        if self.transforms.contains(name) {
            return Ok(());
        }
        refuse(not_loaded(topic::TRANSFORMS, name, "transform", self.transforms.iter()))
    }

    /// Checks the value of `klamm.assignor`; empty is none.
    pub(super) fn check_assignor(&self, name: &str) -> Result<(), ControllerError> {
        if name.is_empty() || self.assignors.contains(name) {
            return Ok(());
        }
        refuse(not_loaded("klamm.assignor", name, "assignor", self.assignors.iter()))
    }
}

fn refuse(reason: String) -> Result<(), ControllerError> {
    Err(ControllerError::InvalidConfig(reason))
}

fn not_loaded<'a>(
    key: &str,
    name: &str,
    hook: &str,
    loaded: impl Iterator<Item = &'a PluginName>,
) -> String {
    format!("{key}: no {hook} plugin '{name}' is loaded; these are: {}", names(loaded))
}

fn names<'a>(plugins: impl Iterator<Item = &'a PluginName>) -> String {
    let names: Vec<&str> = plugins.map(PluginName::as_str).collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}
