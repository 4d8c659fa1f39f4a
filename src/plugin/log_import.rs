//! The only import: `klamm:plugin/log`.

use wasmtime::{StoreContextMut, component::Linker};

use super::{
    bindings::{LOG_INTERFACE, Level},
    guest_state::GuestState,
};

/// Defines the import.
pub(super) fn add_to_linker(linker: &mut Linker<GuestState>) -> wasmtime::Result<()> {
    linker.instance(LOG_INTERFACE)?.func_wrap(
        "write",
        |store: StoreContextMut<'_, GuestState>, (level, text): (Level, String)| {
            store.data().log.write(level, &text);
            Ok(())
        },
    )
}
