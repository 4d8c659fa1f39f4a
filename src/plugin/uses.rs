//! Which names topics and groups use, and as what: a name in use keeps that hook and stays known, whatever lies in
//! the folder.

use std::{collections::BTreeMap, fmt};

use super::{compile::world_name, status::HookKind};
use crate::base::PluginName;

/// Names in use, each with its hooks, and for each of these who uses it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PluginUses(BTreeMap<PluginName, BTreeMap<HookKind, Users>>);

/// Who uses a name: the first one, and how many others.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Users {
    first: String,
    others: usize,
}

impl fmt::Display for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.others {
            0 => write!(f, "{}", self.first),
            others => write!(f, "{} and {others} more", self.first),
        }
    }
}

/// The hooks that a file may be for, and why no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Demand {
    hooks: Vec<HookKind>,
    why: String,
}

impl PluginUses {
    /// `user` is who names the plugin, such as "topic `orders`"; of many the first is kept.
    pub fn add(&mut self, name: &PluginName, hook: HookKind, user: impl FnOnce() -> String) {
        let hooks = self.0.entry(name.clone()).or_default();
        hooks
            .entry(hook)
            .and_modify(|it| it.others += 1)
            .or_insert_with(|| Users { first: user(), others: 0 });
    }

    pub(super) fn contains(&self, name: &PluginName) -> bool {
        self.0.contains_key(name)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &PluginName> {
        self.0.keys()
    }

    /// Who uses a name.
    pub(super) fn user(&self, name: &PluginName) -> Option<String> {
        self.0.get(name)?.values().next().map(Users::to_string)
    }

    /// What a name in use asks of its file.
    pub(super) fn demand(&self, name: &PluginName) -> Option<Demand> {
        let hooks = self.0.get(name)?;
        let users: Vec<_> =
            hooks.iter().map(|(hook, user)| format!("{user} as {}", world_name(*hook))).collect();
        Some(Demand {
            hooks: hooks.keys().copied().collect(),
            why: format!(
                "{name} is used by {}: give this file another name, or take {name} out of the configs first",
                users.join(" and by ")
            ),
        })
    }
}

impl Demand {
    /// Of a name that runs and that nobody uses.
    pub(super) fn of_running(name: &PluginName, hook: HookKind) -> Self {
        Self {
            hooks: vec![hook],
            why: format!(
                "{name} runs as {}, and a name keeps its world while it runs: give this file another name, or remove \
                 the one before and wait until the list of plugins has no {name}",
                world_name(hook)
            ),
        }
    }

    pub(super) fn admits(&self, hook: HookKind) -> bool {
        self.hooks.contains(&hook)
    }

    /// Why a file of this hook is not loaded.
    pub(super) fn refusal(&self, hook: HookKind) -> String {
        format!("is of the world {}, but {}", world_name(hook), self.why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_use_admits_the_hook_that_it_is_used_as_and_tells_the_way_out() {
        let mut uses = PluginUses::default();
        uses.add(&"mine".into(), HookKind::Partitioner, || "topic `orders`".into());
        uses.add(&"mine".into(), HookKind::Partitioner, || "topic `payments`".into());
        assert_eq!(uses.user(&"mine".into()), Some("topic `orders` and 1 more".into()));
        let demand = uses.demand(&"mine".into()).expect("it is in use");
        assert!(demand.admits(HookKind::Partitioner) && !demand.admits(HookKind::Transform));
        assert_eq!(
            demand.refusal(HookKind::Transform),
            "is of the world transform-plugin, but mine is used by topic `orders` and 1 more as partitioner-plugin: give this \
             file another name, or take mine out of the configs first"
        );
        assert_eq!(uses.demand(&"other".into()), None);
    }
}
