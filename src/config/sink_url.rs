//! Where alerts are posted to, checked by the parser of what will post.

use hyper::Uri;

use super::{SinkKind, address::host_and_port};

/// # Errors
///
/// What is wrong with a sink's `url`, as a person should read it.
pub(super) fn check_url(kind: SinkKind, url: &str) -> Result<(), String> {
    if kind == SinkKind::Log {
        let none = url.is_empty().then_some(());
        return none.ok_or_else(|| "takes no `url`: its type is `log`".into());
    }
    if !url.starts_with("http://") {
        return Err("needs a `url` that begins with http://".into());
    }
    let no_url = |reason: &dyn std::fmt::Display| format!("`{url}` is no URL to post to: {reason}");
    let uri: Uri = url.parse().map_err(|error| no_url(&error))?;
    match address(&uri)?.as_str() {
        address if address.starts_with(':') => return Err(no_url(&"it names no host")),
        address => host_and_port(address).map_err(|reason| no_url(&reason))?,
    };
    if kind == SinkKind::Alertmanager && uri.query().is_some() {
        return Err(no_url(&"Alertmanager's has no query"));
    }
    Ok(())
}

/// With HTTP's port unless another is named.
fn address(uri: &Uri) -> Result<String, String> {
    let authority = uri.authority().ok_or("needs a `url` with a host")?;
    let text = authority.as_str();
    Ok(if authority.host() == text { format!("{text}:80") } else { text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_posted_to_is_no_url() {
        for url in
            ["http://127.0.0.1:9093", "http://[::1]:9093/", "http://am/prefix", "http://am:1"]
        {
            assert_eq!(check_url(SinkKind::Alertmanager, url), Ok(()), "{url}");
        }
        assert_eq!(check_url(SinkKind::Webhook, "http://hook/x?token=1"), Ok(()));
        assert_eq!(check_url(SinkKind::Log, ""), Ok(()));
        for url in [
            "",
            "127.0.0.1:9093",
            "https://am",
            "http://",
            "http://:9093",
            "http://am:port",
            "http://am:70000",
            "http://a b",
            "http://am/?a=b",
            "http://user@am/",
        ] {
            assert!(check_url(SinkKind::Alertmanager, url).is_err(), "{url}");
        }
        assert!(check_url(SinkKind::Log, "http://am").is_err());
    }
}
