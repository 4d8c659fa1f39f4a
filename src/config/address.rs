//! Addresses as text: what is no address is told when the configuration is read, not when it is used.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Splits `HOST:PORT`; an IPv6 address may stand in brackets, and loses them. The host may be empty.
///
/// # Errors
///
/// What is wrong, as a person should read it.
pub(super) fn host_and_port(text: &str) -> Result<(&str, u16), String> {
    let Some((host, port)) = text.rsplit_once(':') else {
        return Err(format!("`{text}` is not HOST:PORT"));
    };
    let port = port.parse().map_err(|_| format!("`{port}` is no port: 0 to 65535"))?;
    Ok((bare_host(host)?, port))
}

fn bare_host(host: &str) -> Result<&str, String> {
    let in_brackets = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let bare = in_brackets.unwrap_or(host);
    let is_good = if bare.contains(':') || in_brackets.is_some() {
        is_ipv6(bare)
    } else {
        bare.is_empty() || is_name_or_ipv4(bare)
    };
    if is_good { Ok(bare) } else { Err(format!("`{host}` is no host's name or address")) }
}

/// With a zone, as link-local addresses have one.
fn is_ipv6(text: &str) -> bool {
    let address = text.split_once('%').map_or(text, |(address, _)| address);
    address.parse::<Ipv6Addr>().is_ok()
}

/// A name that ends with a number could only be an address.
fn is_name_or_ipv4(text: &str) -> bool {
    let labels = text.strip_suffix('.').unwrap_or(text).split('.');
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"-_".contains(&it);
    let ends_with_a_number = labels.clone().next_back().is_some_and(|it| it.parse::<u32>().is_ok());
    let is_name = labels.clone().all(|it| !it.is_empty() && it.bytes().all(is_plain));
    if ends_with_a_number { text.parse::<Ipv4Addr>().is_ok() } else { is_name }
}

/// Whether a host stands for every address of the machine.
pub(super) fn is_wildcard(host: &str) -> bool {
    ["", "0.0.0.0", "::"].contains(&host)
}

/// Whether two sockets would want the same port of the same address.
pub(super) fn clash((a, a_port): (&str, u16), (b, b_port): (&str, u16)) -> bool {
    a_port != 0 && a_port == b_port && (a == b || is_wildcard(a) || is_wildcard(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_are_told_from_what_is_neither() {
        for (text, want) in [
            ("127.0.0.1:9092", ("127.0.0.1", 9092)),
            ("kafka-1.example.org:0", ("kafka-1.example.org", 0)),
            ("my_service:1", ("my_service", 1)),
            ("[::1]:9092", ("::1", 9092)),
            ("::1:9092", ("::1", 9092)),
            ("[fe80::1%eth0]:1", ("fe80::1%eth0", 1)),
            (":9092", ("", 9092)),
        ] {
            assert_eq!(host_and_port(text), Ok(want), "{text}");
        }
        for text in [
            "",
            "host",
            "host:",
            "host:70000",
            "host:-1",
            "a b:1",
            "[::1:1",
            "[host]:1",
            "::g:1",
            "127.0.0.300:1",
            "127.0.0:1",
            "a..b:1",
            "http://host:1",
            "host/path:1",
        ] {
            assert!(host_and_port(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_wildcard_takes_the_port_of_every_address() {
        assert!(clash(("a", 1), ("a", 1)) && clash(("", 1), ("a", 1)));
        assert!(!clash(("a", 1), ("b", 1)) && !clash(("a", 0), ("a", 0)));
    }
}
