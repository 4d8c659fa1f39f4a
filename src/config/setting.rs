//! One setting of a node: its name, what it means, and how its value is read and shown.

use super::{Config, topic::ConfigType, value::Value};

/// One setting of the file.
pub struct Setting {
    /// Kafka's name, or one that begins with `klamm.`.
    pub key: &'static str,
    /// What it means, in a sentence or two.
    pub doc: &'static str,
    pub kind: ConfigType,
    pub(super) read: fn(&mut Config, &str) -> Result<(), String>,
    pub(super) show: fn(&Config) -> String,
}

impl Setting {
    /// Its value as plain text: what `DescribeConfigs` shows.
    pub fn value(&self, config: &Config) -> String {
        let toml = (self.show)(config);
        match toml.parse::<toml::Value>() {
            Ok(toml::Value::String(text)) => text,
            Ok(toml::Value::Array(items)) => {
                let items = items.iter().map(|it| it.as_str().map_or(it.to_string(), Into::into));
                items.collect::<Vec<String>>().join(",")
            }
            _ => toml,
        }
    }
}

/// The type of the field that a setting lives in.
pub(super) const fn kind_of<T: Value>(_field: fn(&Config) -> &T) -> ConfigType {
    T::KIND
}

macro_rules! setting {
    ($key:literal, $($field:ident).+, $doc:literal) => {
        Setting {
            key: $key,
            doc: $doc,
            kind: kind_of(|config| &config.$($field).+),
            read: |config, text| {
                config.$($field).+ = Value::read(text)?;
                Ok(())
            },
            show: |config| config.$($field).+.show(),
        }
    };
    // Kafka's type is not that of the field.
    ($key:literal, $kind:ident, $($rest:tt)+) => {
        Setting { kind: ConfigType::$kind, ..setting!($key, $($rest)+) }
    };
    ($key:literal, $($field:ident).+ in $range:expr, $doc:literal) => {
        Setting {
            key: $key,
            doc: $doc,
            kind: kind_of(|config| &config.$($field).+),
            read: |config, text| {
                config.$($field).+ = read_number(text, &$range)?;
                Ok(())
            },
            show: |config| config.$($field).+.show(),
        }
    };
}

pub(super) use setting;
