//! What a plugin says of itself before it is used.

use std::ops::BitOr;

/// The columns of a record that a plugin reads. The broker leaves the others empty, which is faster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs(u8);

impl Needs {
    pub const NONE: Self = Self(0);
    pub const KEYS: Self = Self(1);
    pub const VALUES: Self = Self(1 << 1);
    pub const HEADERS: Self = Self(1 << 2);
    pub const TIMESTAMPS: Self = Self(1 << 3);

    /// Whether all columns of `other` are among these.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Needs {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// For people: the broker knows a plugin by the name of its file.
    pub name: String,
    /// A semantic version; usually `env!("CARGO_PKG_VERSION")`.
    pub version: String,
    /// One sentence.
    pub summary: String,
    pub needs: Needs,
    /// See [`Description::key_pure`].
    pub key_pure: bool,
    /// The settings with their defaults, as a JSON object.
    pub settings: String,
}

impl Description {
    /// A plugin that reads no column and takes no settings.
    pub fn new(name: &str, version: &str, summary: &str) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            summary: summary.into(),
            needs: Needs::NONE,
            key_pure: false,
            settings: "{}".into(),
        }
    }

    #[must_use]
    pub fn needs(self, needs: Needs) -> Self {
        Self { needs, ..self }
    }

    /// Promises that a keyed record's partition depends on its key and the partition count alone. The
    /// modes `guard` and `observe` take only such partitioners.
    #[must_use]
    pub fn key_pure(self) -> Self {
        Self { key_pure: true, ..self }
    }

    /// Names the settings with their defaults, as a JSON object.
    #[must_use]
    pub fn settings(self, json: &str) -> Self {
        Self { settings: json.into(), ..self }
    }
}

/// For plugins without settings: refuses all but the empty object, so that a misplaced `[config]` is seen.
pub fn no_settings(settings: &str) -> Result<(), String> {
    let empty = settings.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    match empty.map(str::trim) {
        Some("") => Ok(()),
        _ => Err(format!("this plugin takes no settings, but its [config] is {settings}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_are_a_set() {
        let needs = Needs::KEYS | Needs::HEADERS;
        assert!(needs.contains(Needs::KEYS));
        assert!(needs.contains(Needs::NONE));
        assert!(!needs.contains(Needs::VALUES));
        assert!(!needs.contains(Needs::KEYS | Needs::TIMESTAMPS));
    }

    #[test]
    fn only_an_empty_object_is_no_settings() {
        for empty in ["{}", " { } ", "{\n}"] {
            assert_eq!(no_settings(empty), Ok(()));
        }
        for full in ["{\"a\":1}", "", "[]", "null", "{"] {
            assert!(no_settings(full).is_err(), "{full:?}");
        }
    }
}
