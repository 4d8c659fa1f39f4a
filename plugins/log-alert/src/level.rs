//! How bad a line says it is. The many spellings of real logs fold into thirteen levels, ordered from
//! harmless to worst; the scales of numbers are folded here as well, so that no layout knows names.

use klamm_plugin::transform::Severity;

/// A level, in the spelling that settings and labels use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Level {
    Trace,
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Severe,
    Failure,
    Critical,
    Fatal,
    Alert,
    Emergency,
    Panic,
}

/// Every level in order, with its canonical name.
pub(crate) const LEVELS: [(Level, &str); 13] = [
    (Level::Trace, "TRACE"),
    (Level::Debug, "DEBUG"),
    (Level::Info, "INFO"),
    (Level::Notice, "NOTICE"),
    (Level::Warning, "WARN"),
    (Level::Error, "ERROR"),
    (Level::Severe, "SEVERE"),
    (Level::Failure, "FAILURE"),
    (Level::Critical, "CRITICAL"),
    (Level::Fatal, "FATAL"),
    (Level::Alert, "ALERT"),
    (Level::Emergency, "EMERGENCY"),
    (Level::Panic, "PANIC"),
];

/// Spellings by first letter (upper case), so that an ordinary word costs a few comparisons.
#[rustfmt::skip]
fn spellings(first: u8) -> &'static [(&'static str, Level)] {
    match first {
        b'A' => &[("ALERT", Level::Alert), ("ALRT", Level::Alert)],
        b'C' => &[("CRITICAL", Level::Critical), ("CRIT", Level::Critical), ("CRT", Level::Critical)],
        b'D' => &[("DEBUG", Level::Debug), ("DBG", Level::Debug), ("DEBU", Level::Debug), ("DBUG", Level::Debug),
                  ("DPANIC", Level::Panic)],
        b'E' => &[("ERROR", Level::Error), ("ERR", Level::Error), ("ERRO", Level::Error), ("EROR", Level::Error),
                  ("EMERGENCY", Level::Emergency), ("EMERG", Level::Emergency), ("EMRG", Level::Emergency)],
        b'F' => &[("FATAL", Level::Fatal), ("FATA", Level::Fatal), ("FTL", Level::Fatal), ("FAILURE", Level::Failure),
                  ("FINE", Level::Debug), ("FINER", Level::Trace), ("FINEST", Level::Trace)],
        b'I' => &[("INFO", Level::Info), ("INF", Level::Info), ("INFORMATION", Level::Info),
                  ("INFORMATIONAL", Level::Info)],
        b'N' => &[("NOTICE", Level::Notice), ("NOTE", Level::Notice), ("NTC", Level::Notice)],
        b'P' => &[("PANIC", Level::Panic), ("PANI", Level::Panic)],
        b'S' => &[("SEVERE", Level::Severe)],
        b'T' => &[("TRACE", Level::Trace), ("TRC", Level::Trace), ("TRAC", Level::Trace)],
        b'V' => &[("VERBOSE", Level::Trace), ("VRB", Level::Trace)],
        b'W' => &[("WARN", Level::Warning), ("WARNING", Level::Warning), ("WRN", Level::Warning)],
        _ => &[],
    }
}

impl Level {
    /// The level that a whole word names, in any case. Single letters are [`Level::lettered`].
    pub(crate) fn named(word: &[u8]) -> Option<Self> {
        let first = word.first()?.to_ascii_uppercase();
        let same = |(name, _): &&(&str, Self)| name.as_bytes().eq_ignore_ascii_case(word);
        spellings(first).iter().find(same).map(|(_, level)| *level)
    }

    /// The level of a single upper-case letter: glog, logcat, MongoDB, Ruby.
    pub(crate) const fn lettered(letter: u8) -> Option<Self> {
        Some(match letter {
            b'V' | b'T' => Self::Trace,
            b'D' => Self::Debug,
            b'I' => Self::Info,
            b'N' => Self::Notice,
            b'W' => Self::Warning,
            b'E' => Self::Error,
            b'C' => Self::Critical,
            b'F' => Self::Fatal,
            _ => return None,
        })
    }

    /// Syslog's severities, RFC 5424: 0 (emergency) to 7 (debug). Larger numbers keep their last three bits, as
    /// `<PRI>` holds the facility above them.
    pub(crate) const fn syslog(number: u32) -> Self {
        match number % 8 {
            0 => Self::Emergency,
            1 => Self::Alert,
            2 => Self::Critical,
            3 => Self::Error,
            4 => Self::Warning,
            5 => Self::Notice,
            6 => Self::Info,
            _ => Self::Debug,
        }
    }

    /// A number under a key like `level`: 0 to 7 is syslog's scale, 10 and more that of bunyan and pino.
    pub(crate) const fn numbered(number: u32) -> Option<Self> {
        Some(match number {
            0..=7 => Self::syslog(number),
            10..=19 => Self::Trace,
            20..=29 => Self::Debug,
            30..=39 => Self::Info,
            40..=49 => Self::Warning,
            50..=59 => Self::Error,
            60..=100 => Self::Fatal,
            _ => return None,
        })
    }

    /// Python's `levelno`: 10 (debug) to 50 (critical).
    pub(crate) const fn python(number: u32) -> Option<Self> {
        Some(match number {
            1..=9 => Self::Trace,
            10..=19 => Self::Debug,
            20..=29 => Self::Info,
            30..=39 => Self::Warning,
            40..=49 => Self::Error,
            50..=100 => Self::Critical,
            _ => return None,
        })
    }

    /// OpenTelemetry's `SeverityNumber`: 1 (trace) to 24 (fatal).
    pub(crate) const fn open_telemetry(number: u32) -> Option<Self> {
        Some(match number {
            1..=4 => Self::Trace,
            5..=8 => Self::Debug,
            9..=12 => Self::Info,
            13..=16 => Self::Warning,
            17..=20 => Self::Error,
            21..=24 => Self::Fatal,
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        LEVELS.iter().find(|(level, _)| *level == self).map_or("", |(_, name)| name)
    }

    pub(crate) const fn severity(self) -> Severity {
        match self {
            Self::Trace | Self::Debug | Self::Info | Self::Notice => Severity::Info,
            Self::Warning => Severity::Warning,
            Self::Error | Self::Severe | Self::Failure => Severity::Error,
            Self::Critical | Self::Fatal | Self::Alert | Self::Emergency | Self::Panic => {
                Severity::Critical
            }
        }
    }

    /// From the byte that [`Level`] is cast to; for state that the host has kept.
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        LEVELS.get(usize::from(byte)).map(|(level, _)| *level)
    }
}

/// The levels that raise alerts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LevelSet(u16);

impl LevelSet {
    pub(crate) const EMPTY: Self = Self(0);

    /// `least` and everything worse.
    pub(crate) fn from(least: Level) -> Self {
        LEVELS
            .iter()
            .filter(|(level, _)| *level >= least)
            .fold(Self::EMPTY, |set, (level, _)| set.with(*level))
    }

    #[must_use]
    pub(crate) const fn with(self, level: Level) -> Self {
        Self(self.0 | 1 << level as u8)
    }

    pub(crate) const fn contains(self, level: Level) -> bool {
        self.0 & 1 << level as u8 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_stands_in_the_order_of_the_enum() {
        for (index, (level, name)) in LEVELS.iter().enumerate() {
            assert_eq!(*level as usize, index);
            assert_eq!(Level::named(name.as_bytes()), Some(*level));
            assert_eq!(Level::from_byte(*level as u8), Some(*level));
        }
    }

    #[test]
    fn spellings_fold_in_any_case() {
        for (word, level) in [
            ("err", Level::Error),
            ("Eror", Level::Error),
            ("Information", Level::Info),
            ("emerg", Level::Emergency),
            ("FTL", Level::Fatal),
            ("dpanic", Level::Panic),
            ("finest", Level::Trace),
        ] {
            assert_eq!(Level::named(word.as_bytes()), Some(level), "{word}");
        }
        for word in ["", "ERRORS", "errno", "warned", "E", "infos", "fatality"] {
            assert_eq!(Level::named(word.as_bytes()), None, "{word}");
        }
    }

    #[test]
    fn numbers_have_the_scale_of_their_origin() {
        assert_eq!(Level::syslog(11), Level::Error);
        assert_eq!(Level::syslog(165), Level::Notice);
        assert_eq!(Level::numbered(3), Some(Level::Error));
        assert_eq!(Level::numbered(50), Some(Level::Error));
        assert_eq!(Level::python(50), Some(Level::Critical));
        assert_eq!(Level::open_telemetry(17), Some(Level::Error));
        assert_eq!(Level::numbered(8), None);
        assert_eq!(Level::numbered(101), None);
    }

    #[test]
    fn a_set_from_a_level_holds_it_and_everything_worse() {
        let set = LevelSet::from(Level::Error);
        assert!(!set.contains(Level::Warning));
        assert!(set.contains(Level::Error));
        assert!(set.contains(Level::Panic));
    }
}
