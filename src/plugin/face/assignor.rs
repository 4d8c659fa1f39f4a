//! The assignor hook, callable.

use std::sync::Arc;

use crate::plugin::{
    failure::CallFailure,
    guest::{Answer, Call},
    guests::Guests,
    hook::{AssignFailure, Assignments, GroupSnapshot},
    slot::Slot,
};

/// An assignor plugin, callable from any task.
#[derive(Clone)]
pub struct Assignor {
    slot: Arc<Slot>,
    guests: Arc<Guests>,
}

impl Assignor {
    pub(in crate::plugin) fn new(slot: Arc<Slot>, guests: Arc<Guests>) -> Self {
        Self { slot, guests }
    }

    /// Asks the plugin, on a fresh instance, and checks the answer against the snapshot: each subscribed partition
    /// exactly once, known members, only what they subscribe to.
    pub async fn assign(&self, group: GroupSnapshot) -> Result<Assignments, AssignFailure> {
        self.ask(group).await.map_err(|failure| AssignFailure {
            plugin: self.slot.name.to_string(),
            reason: failure.to_string(),
        })
    }

    async fn ask(&self, group: GroupSnapshot) -> Result<Assignments, CallFailure> {
        let loaded = super::running(&self.slot)?;
        match self.guests.call(&self.slot, &loaded, Call::Assign(Arc::new(group))).await? {
            Answer::Assigned(assignments) => Ok(assignments),
            _ => Err(super::wrong_hook()),
        }
    }
}
