//! Values of settings: from text and back to the text that `--print-defaults` shows.

use std::{
    fmt::Display,
    net::IpAddr,
    ops::{Bound, RangeBounds},
    path::PathBuf,
    str::FromStr,
};

use super::{Listener, address::host_and_port, topic::ConfigType};
use crate::base::BrokerId;

/// A type that a setting can have.
pub(super) trait Value: Sized {
    /// As `DescribeConfigs` tells it.
    const KIND: ConfigType;

    /// # Errors
    ///
    /// What is wrong, as a person should read it.
    fn read(text: &str) -> Result<Self, String>;

    /// As TOML.
    fn show(&self) -> String;
}

/// A whole number.
pub(crate) trait Number: Copy + Display + FromStr + PartialOrd {
    const LEAST: Self;
    const MOST: Self;
}

/// Reads a number that must lie in `range`; whatever is wrong is told in the same words.
pub(crate) fn read_number<T: Number>(text: &str, range: &impl RangeBounds<T>) -> Result<T, String> {
    let min = match range.start_bound() {
        Bound::Included(min) => *min,
        _ => T::LEAST,
    };
    let max = match range.end_bound() {
        Bound::Included(max) => *max,
        _ => T::MOST,
    };
    let number = text.trim().parse().ok().filter(|it| range.contains(it));
    number.ok_or_else(|| no_number(text, min, max))
}

pub(super) fn no_number(text: &str, min: impl Display, max: impl Display) -> String {
    format!("`{text}` is not a whole number from {min} to {max}")
}

macro_rules! number {
    ($($number:ty => $kind:ident),*) => {$(
        impl Number for $number {
            const LEAST: Self = Self::MIN;
            const MOST: Self = Self::MAX;
        }

        impl Value for $number {
            const KIND: ConfigType = ConfigType::$kind;

            fn read(text: &str) -> Result<Self, String> {
                read_number(text, &..)
            }

            fn show(&self) -> String {
                self.to_string()
            }
        }
    )*};
}
// Kafka has no type for numbers of an address space; those of its settings that Klamm keeps in one are INT.
number!(i16 => Int, i32 => Int, i64 => Long, u16 => Int, u32 => Int, u64 => Long, usize => Int);

/// Kafka's DOUBLE, above 0: no setting has another one.
impl Value for f64 {
    const KIND: ConfigType = ConfigType::Double;

    fn read(text: &str) -> Result<Self, String> {
        let number = text.trim().parse().ok().filter(|it: &f64| it.is_finite() && *it > 0.0);
        number.ok_or_else(|| format!("`{text}` is not a number above 0"))
    }

    fn show(&self) -> String {
        format!("{self:?}")
    }
}

impl Value for bool {
    const KIND: ConfigType = ConfigType::Boolean;

    fn read(text: &str) -> Result<Self, String> {
        let lower = text.trim().to_ascii_lowercase();
        lower.parse().map_err(|_| format!("`{text}` is not true or false"))
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Value for String {
    const KIND: ConfigType = ConfigType::String;

    fn read(text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }

    fn show(&self) -> String {
        toml::Value::String(self.clone()).to_string()
    }
}

impl Value for PathBuf {
    const KIND: ConfigType = ConfigType::String;

    fn read(text: &str) -> Result<Self, String> {
        if text.is_empty() { Err("must not be empty".into()) } else { Ok(text.into()) }
    }

    fn show(&self) -> String {
        self.to_string_lossy().into_owned().show()
    }
}

impl Value for BrokerId {
    const KIND: ConfigType = ConfigType::Int;

    fn read(text: &str) -> Result<Self, String> {
        i32::read(text).map(Self)
    }

    fn show(&self) -> String {
        self.0.show()
    }
}

/// Empty text is `None`.
impl<T: Value> Value for Option<T> {
    const KIND: ConfigType = T::KIND;

    fn read(text: &str) -> Result<Self, String> {
        if text.is_empty() { Ok(None) } else { T::read(text).map(Some) }
    }

    fn show(&self) -> String {
        self.as_ref().map_or_else(|| "\"\"".into(), T::show)
    }
}

/// Comma text; blanks around items do not count, and an empty text is an empty list.
impl<T: Value> Value for Vec<T> {
    const KIND: ConfigType = ConfigType::List;

    fn read(text: &str) -> Result<Self, String> {
        text.split(',').map(str::trim).filter(|it| !it.is_empty()).map(T::read).collect()
    }

    fn show(&self) -> String {
        format!("[{}]", self.iter().map(T::show).collect::<Vec<_>>().join(", "))
    }
}

impl Value for Listener {
    const KIND: ConfigType = ConfigType::String;

    fn read(text: &str) -> Result<Self, String> {
        let wanted = || format!("`{text}` is not NAME://HOST:PORT");
        let (name, address) = text.split_once("://").ok_or_else(wanted)?;
        if name.is_empty() {
            return Err(wanted());
        }
        let (host, port) =
            host_and_port(address).map_err(|reason| format!("{}: {reason}", wanted()))?;
        Ok(Self { name: name.to_ascii_uppercase(), host: host.into(), port })
    }

    fn show(&self) -> String {
        format!("\"{self}\"")
    }
}

/// A count for an address. Kafka takes host names too, which it looks up once, at its start.
impl Value for (IpAddr, usize) {
    const KIND: ConfigType = ConfigType::String;

    fn read(text: &str) -> Result<Self, String> {
        let wanted = || format!("`{text}` is not ADDRESS:COUNT");
        let (address, count) = text.rsplit_once(':').ok_or_else(wanted)?;
        let address = address.trim().trim_start_matches('[').trim_end_matches(']');
        let address = address.parse().map_err(|_| wanted())?;
        Ok((address, read_number(count, &(0..=i32::MAX as usize))?))
    }

    fn show(&self) -> String {
        match self {
            (IpAddr::V6(address), count) => format!("\"[{address}]:{count}\""),
            (address, count) => format!("\"{address}:{count}\""),
        }
    }
}

impl Display for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, host, port } = self;
        if host.contains(':') {
            write!(f, "{name}://[{host}]:{port}")
        } else {
            write!(f, "{name}://{host}:{port}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_is_read_and_shown_as_kafka_writes_it() {
        for text in ["PLAINTEXT://127.0.0.1:9092", "EDGE://[::1]:0", "PLAINTEXT://:9092"] {
            assert_eq!(Listener::read(text).unwrap().to_string(), text);
        }
        for text in ["127.0.0.1:9092", "PLAINTEXT://host", "://a:1", "PLAINTEXT://h:70000"] {
            assert!(Listener::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_count_for_an_address_is_read_and_shown_in_both_protocols() {
        for text in ["127.0.0.1:5", "[::1]:0"] {
            let read = <(IpAddr, usize)>::read(text).unwrap();
            assert_eq!(read.show(), format!("\"{text}\""));
        }
        for text in ["127.0.0.1", "a host:5", "127.0.0.1:-1", "127.0.0.1:", ":5"] {
            assert!(<(IpAddr, usize)>::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_number_out_of_range_is_refused() {
        assert!(i32::read("3000000000").is_err());
        assert!(usize::read("-1").is_err());
        assert!(u16::read("ten").is_err());
        for text in ["ten", "0", "10"] {
            let told = read_number::<i32>(text, &(1..=9)).unwrap_err();
            assert_eq!(told, format!("`{text}` is not a whole number from 1 to 9"));
        }
    }
}
