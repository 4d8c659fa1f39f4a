//! A guest: one instance of a plugin, and the calls into it.
//!
//! The deadline is set anew before every call. After any error the guest must be dropped: a trap leaves it dead, a
//! lifting error leaves it leaking.

use std::{
    ops::Range,
    sync::Arc,
    time::{Duration, Instant},
};

use wasmtime::Store;

use super::{
    bindings::{
        assignor::AssignorPlugin, partitioner::PartitionerPlugin, transform::TransformPlugin,
    },
    compile::Compiled,
    convert::{self, Description, Needs, PlaceColumns, ProcessColumns, Processed},
    engine::PluginEngine,
    failure::{CallFailure, FailureKind},
    guest_state::GuestState,
    hook::{Assignments, GroupSnapshot, PartitionerInput, TransformInput},
    limits::Limits,
};

/// What a guest is asked.
#[derive(Clone, Debug)]
pub(super) enum Call {
    Place { input: PartitionerInput, records: Range<usize> },
    Process { input: TransformInput, records: Range<usize>, state: Vec<u8> },
    Assign(Arc<GroupSnapshot>),
}

/// A checked answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Placed(Vec<u32>),
    Processed(Processed),
    Assigned(Assignments),
}

impl Call {
    /// Records that the call is about; an assignment is about none.
    pub(super) fn records(&self) -> usize {
        match self {
            Self::Place { records, .. } | Self::Process { records, .. } => records.len(),
            Self::Assign(_) => 0,
        }
    }

    /// An assignor gets a fresh instance for each call: nothing is carried from group to group.
    pub(super) fn wants_fresh_guest(&self) -> bool {
        matches!(self, Self::Assign(_))
    }
}

/// An instance with its store.
pub(super) struct Guest {
    store: Store<GuestState>,
    world: World,
    needs: Needs,
    calls: u32,
}

enum World {
    Partitioner(PartitionerPlugin),
    Assignor(AssignorPlugin),
    Transform(TransformPlugin),
}

impl Guest {
    /// Makes an instance. A component's own start code runs within `timeout`.
    pub(super) fn new(
        engine: &PluginEngine,
        compiled: &Compiled,
        state: GuestState,
        limits: &Limits,
        timeout: Duration,
    ) -> Result<Self, CallFailure> {
        let mut store = Store::new(engine.wasm(), state);
        store.limiter(|state| &mut state.memory);
        store.set_hostcall_fuel(limits.result_max_bytes);
        store.set_epoch_deadline(ticks(timeout));
        let _ticking = engine.ticking();
        let world = match compiled {
            Compiled::Partitioner(pre) => pre.instantiate(&mut store).map(World::Partitioner),
            Compiled::Assignor(pre) => pre.instantiate(&mut store).map(World::Assignor),
            Compiled::Transform(pre) => pre.instantiate(&mut store).map(World::Transform),
        };
        let world = world.map_err(|error| CallFailure::from_engine(&error))?;
        Ok(Self { store, world, needs: Needs::default(), calls: 0 })
    }

    /// The columns that calls fill: those that the plugin described.
    pub(super) fn set_needs(&mut self, needs: Needs) {
        self.needs = needs;
    }

    /// Calls of the hook so far.
    pub(super) fn calls(&self) -> u32 {
        self.calls
    }

    pub(super) fn describe(
        &mut self,
        engine: &PluginEngine,
        timeout: Duration,
    ) -> Result<Description, CallFailure> {
        let _ticking = engine.ticking();
        self.store.set_epoch_deadline(ticks(timeout));
        let store = &mut self.store;
        let description = match &self.world {
            World::Partitioner(it) => it.klamm_plugin_plugin().call_describe(store),
            World::Assignor(it) => it.klamm_plugin_plugin().call_describe(store),
            World::Transform(it) => it.klamm_plugin_plugin().call_describe(store),
        };
        convert::description(description.map_err(|error| CallFailure::from_engine(&error))?)
    }

    pub(super) fn configure(
        &mut self,
        engine: &PluginEngine,
        settings: &str,
        timeout: Duration,
    ) -> Result<(), CallFailure> {
        let _ticking = engine.ticking();
        self.store.set_epoch_deadline(ticks(timeout));
        let store = &mut self.store;
        let answer = match &self.world {
            World::Partitioner(it) => it.klamm_plugin_plugin().call_configure(store, settings),
            World::Assignor(it) => it.klamm_plugin_plugin().call_configure(store, settings),
            World::Transform(it) => it.klamm_plugin_plugin().call_configure(store, settings),
        };
        answer
            .map_err(|error| CallFailure::from_engine(&error))?
            .map_err(|text| CallFailure::new(FailureKind::Error, text))
    }

    /// Calls the hook and checks the answer.
    pub(super) fn call(
        &mut self,
        engine: &PluginEngine,
        call: &Call,
        timeout: Duration,
    ) -> Result<Answer, CallFailure> {
        self.calls += 1;
        let _ticking = engine.ticking();
        self.store.set_epoch_deadline(ticks(timeout));
        match (&self.world, call) {
            (World::Partitioner(plugin), Call::Place { input, records }) => {
                place(plugin, &mut self.store, self.needs, input, records).map(Answer::Placed)
            }
            (World::Transform(plugin), Call::Process { input, records, state }) => {
                process(plugin, &mut self.store, self.needs, input, records, state)
                    .map(Answer::Processed)
            }
            (World::Assignor(plugin), Call::Assign(group)) => {
                assign(plugin, &mut self.store, group).map(Answer::Assigned)
            }
            _ => Err(CallFailure::new(FailureKind::Unloaded, "is a plugin of another hook now")),
        }
    }
}

fn place(
    plugin: &PartitionerPlugin,
    store: &mut Store<GuestState>,
    needs: Needs,
    input: &PartitionerInput,
    records: &Range<usize>,
) -> Result<Vec<u32>, CallFailure> {
    let columns = PlaceColumns::new(&input.batch, records, needs);
    let answer = plugin
        .klamm_plugin_partitioner()
        .call_partition(store, columns.batch(input, records))
        .map_err(|error| CallFailure::from_engine(&error))?;
    convert::targets(answer, records.len(), input.partitions)
}

fn process(
    plugin: &TransformPlugin,
    store: &mut Store<GuestState>,
    needs: Needs,
    input: &TransformInput,
    records: &Range<usize>,
    state: &[u8],
) -> Result<Processed, CallFailure> {
    let columns = ProcessColumns::new(&input.batch, records, needs);
    let answer = plugin
        .klamm_plugin_transform()
        .call_process(store, columns.batch(input, records.len(), state))
        .map_err(|error| CallFailure::from_engine(&error))?;
    convert::processed(answer, records.len())
}

fn assign(
    plugin: &AssignorPlugin,
    store: &mut Store<GuestState>,
    group: &GroupSnapshot,
) -> Result<Assignments, CallFailure> {
    let answer =
        convert::group(group, |group| plugin.klamm_plugin_assignor().call_assign(store, group))
            .map_err(|error| CallFailure::from_engine(&error))?;
    convert::assignments(answer, group)
}

/// Ticks of the epoch clock, one a millisecond; at least one, so that a call that begins late in a tick runs at all.
fn ticks(timeout: Duration) -> u64 {
    u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX / 2).clamp(1, u64::MAX / 2)
}

/// What is left of a limit that began at `started`.
pub(super) fn time_left(started: Instant, limit: Duration) -> Result<Duration, CallFailure> {
    limit
        .checked_sub(started.elapsed())
        .filter(|left| !left.is_zero())
        .ok_or_else(|| CallFailure::new(FailureKind::Timeout, "no time is left"))
}
