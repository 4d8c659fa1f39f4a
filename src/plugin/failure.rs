//! How a call or a load of a plugin fails, in the words that operators and metrics see.

use std::fmt;

use wasmtime::Trap;

use super::memory::MemoryDenied;

/// The label `kind` of `klamm_plugin_failures_total`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum FailureKind {
    /// Unreachable code, a bad access, a full stack, a panic.
    Trap,
    /// Ran past its call limit.
    Timeout,
    /// Wanted more memory than it may have.
    Memory,
    /// Answered `err`.
    Error,
    /// Answered something that is no answer: a list of a wrong length, a number out of range, a bad pointer, too much.
    Malformed,
    /// Was not called: too many calls wait, or this one waited too long.
    Busy,
    /// Was not called: quarantined.
    Quarantined,
    /// Was not called: no version is loaded now.
    Unloaded,
}

impl FailureKind {
    pub(super) const ALL: [Self; 8] = [
        Self::Trap,
        Self::Timeout,
        Self::Memory,
        Self::Error,
        Self::Malformed,
        Self::Busy,
        Self::Quarantined,
        Self::Unloaded,
    ];

    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Trap => "trap",
            Self::Timeout => "timeout",
            Self::Memory => "memory",
            Self::Error => "error",
            Self::Malformed => "malformed",
            Self::Busy => "busy",
            Self::Quarantined => "quarantined",
            Self::Unloaded => "unloaded",
        }
    }

    /// Whether the guest ran and is to blame: only such failures lead to quarantine.
    pub(super) fn is_guests_fault(self) -> bool {
        !matches!(self, Self::Busy | Self::Quarantined | Self::Unloaded)
    }
}

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub(super) struct CallFailure {
    pub(super) kind: FailureKind,
    pub(super) reason: String,
}

impl CallFailure {
    pub(super) fn new(kind: FailureKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: cut(&reason.into(), REASON_BYTES_MAX) }
    }

    pub(super) fn malformed(reason: impl Into<String>) -> Self {
        Self::new(FailureKind::Malformed, reason)
    }

    /// What the engine says of a call that did not return. A lifting error (a bad pointer, too much data) is no
    /// trap, but the instance leaks then: guests are dropped after either.
    pub(super) fn from_engine(error: &wasmtime::Error) -> Self {
        if let Some(denied) = error.downcast_ref::<MemoryDenied>() {
            return Self::new(FailureKind::Memory, denied.to_string());
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::Interrupt) => Self::new(FailureKind::Timeout, "ran past its time limit"),
            Some(trap) => Self::new(FailureKind::Trap, trap.to_string()),
            None => Self::malformed(format!("{:#}", Chain(error))),
        }
    }
}

/// Why a file is not used as a plugin. What runs under its name goes on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum LoadError {
    /// The file or its TOML is wrong: only a change of them helps.
    #[error("{0}")]
    Refused(String),
    /// Compiling took longer than a load waits for it. The result is cached, so another try is quick.
    #[error("compiling took longer than {0} s")]
    CompiledLate(u64),
}

impl LoadError {
    pub(super) fn refused(reason: impl Into<String>) -> Self {
        Self::Refused(reason.into())
    }
}

/// Bytes of a reason that people are shown.
pub(super) const REASON_BYTES_MAX: usize = 1024;

/// The first `max` bytes of `text` at most, cut between characters, without control characters: what a guest says must
/// not be able to forge lines of the broker's.
pub(super) fn cut(text: &str, max: usize) -> String {
    let mut line = text.get(..text.floor_char_boundary(max)).unwrap_or_default().to_owned();
    if line.len() < text.len() {
        line.push('…');
    }
    line.replace(char::is_control, " ")
}

/// An engine's error with its causes on one line.
pub(super) struct Chain<'a>(pub(super) &'a wasmtime::Error);

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, cause) in self.0.chain().enumerate() {
            let separator = if at == 0 { "" } else { ": " };
            write!(f, "{separator}{cause}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(cut("short", 10), "short");
        assert_eq!(cut("Klämme", 3), "Kl…");
        assert_eq!(cut("Klämme", 4), "Klä…");
    }

    #[test]
    fn a_text_stays_one_line() {
        assert_eq!(cut("a\nERROR forged\u{1b}[31m", 100), "a ERROR forged [31m");
    }
}
