//! Lines in the broker's log, marked with the plugin's name.
//!
//! The broker cuts long lines and counts those above a rate instead of writing them: log what an
//! operator should act on, not what happens with each record. On the host (in tests) lines go to
//! standard error.

/// Least severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Debug,
    Info,
    Warn,
    Error,
}

pub fn debug(text: &str) {
    write(Level::Debug, text);
}

pub fn info(text: &str) {
    write(Level::Info, text);
}

pub fn warn(text: &str) {
    write(Level::Warn, text);
}

pub fn error(text: &str) {
    write(Level::Error, text);
}

#[cfg(target_arch = "wasm32")]
pub fn write(level: Level, text: &str) {
    crate::wasm::write_log(level, text);
}

#[cfg(not(target_arch = "wasm32"))]
pub fn write(level: Level, text: &str) {
    eprintln!("{level:?}: {text}");
}
