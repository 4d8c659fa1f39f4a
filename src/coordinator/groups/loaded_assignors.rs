//! The names of loaded assignor plugins, kept between reloads: every heartbeat of the consumer protocol is checked against them.

use std::{collections::BTreeSet, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::{
    base::PluginName,
    plugin::{HookKind, PluginHost},
};

pub(super) struct LoadedAssignors {
    reloads: watch::Receiver<u64>,
    /// With the number of the reload after which they were looked up.
    newest: Mutex<Option<(u64, Names)>>,
}

type Names = Arc<BTreeSet<PluginName>>;

impl LoadedAssignors {
    pub(super) fn follow(plugins: &PluginHost) -> Self {
        Self { reloads: plugins.watch(), newest: Mutex::default() }
    }

    /// As they are now.
    pub(super) fn names(&self, plugins: &PluginHost) -> Names {
        let reload = *self.reloads.borrow();
        let mut newest = self.newest.lock();
        if let Some((of, names)) = &*newest
            && *of == reload
        {
            return Arc::clone(names);
        }
        let names: Names = Arc::new(plugins.names(HookKind::Assignor).into_iter().collect());
        *newest = Some((reload, Arc::clone(&names)));
        names
    }
}
