//! What records raise: titles, traces over many records, labels and fingerprints.

use super::*;

/// What the records raise, one partition's, in order.
fn findings(settings: &str, records: &[&str]) -> Vec<Finding> {
    let mut watch = Watch::new(Settings::parse(settings).unwrap());
    let mut event = Event::default();
    records.iter().filter_map(|record| watch.inspect(&mut event, record.as_bytes())).collect()
}

#[track_caller]
fn check_one(record: &str, title: &str, logger: Option<&str>, exception: Option<&str>) {
    let found = findings("{}", &[record]);
    assert_eq!(found.len(), 1, "{record}");
    assert_eq!(found[0].title(), title, "{record}");
    assert_eq!(found[0].message.logger.as_deref(), logger, "{record}");
    assert_eq!(found[0].exception.as_deref(), exception, "{record}");
}

#[test]
fn titles_are_messages() {
    check_one(
        "2015-10-18 18:06:22,092 ERROR [RM Allocator] o.a.Foo: NO CONTACT\r",
        "NO CONTACT",
        Some("o.a.Foo"),
        None,
    );
    check_one(
        "[Sun Dec 04 20:34:25 2005] [error] mod_jk child in error state 9\r\n",
        "mod_jk child in error state 9",
        None,
        None,
    );
    check_one("2024-01-01 12:00:00,123 - my.module - ERROR - it broke", "it broke", None, None);
    check_one(
        r#"{"level":"error","logger":"a.b","msg":"it \"broke\"\n"}"#,
        "it \"broke\"",
        Some("a.b"),
        None,
    );
    check_one("level=error logger=db msg=\"it broke\"", "it broke", Some("db"), None);
    check_one("<11>Jan  1 12:00:00 host app[42]: it broke", "it broke", Some("app"), None);
    check_one("E0102 15:04:05.000000     123 file.go:12] it broke", "it broke", None, None);
    check_one("ERROR", "ERROR", None, None);
    check_one(
        "{\"log\":\"12:00:00 ERROR a.B - it broke\\n\",\"stream\":\"stderr\"}",
        "it broke",
        Some("a.B"),
        None,
    );
}

#[test]
fn a_record_of_many_lines_is_one_alert() {
    let java = "12:00:00 ERROR a.B - it broke\njava.io.IOException: x\n\tat a.B.c(B.java:1)\n\t... 12 more\n";
    check_one(java, "it broke", Some("a.B"), Some("java.io.IOException"));
    let python =
        "Traceback (most recent call last):\n  File \"x.py\", line 1, in f\nValueError: x is 7\n";
    check_one(python, "ValueError: x is 7", None, Some("ValueError"));
    let util_logging = "Jan 01, 2024 12:00:00 PM com.foo.Bar method\nSEVERE: it broke\n";
    check_one(util_logging, "it broke", None, None);
    check_one("{\n  \"level\": \"error\",\n  \"msg\": \"it broke\"\n}", "it broke", None, None);
}

#[test]
fn the_worst_stamped_line_of_a_record_counts() {
    check_one(
        "12:00:00 INFO on\n12:00:01 ERROR it broke\n12:00:02 INFO off",
        "it broke",
        None,
        None,
    );
    assert!(findings("{}", &["12:00:00 INFO the child said:\nERROR it broke"]).is_empty());
}

#[test]
fn a_trace_of_many_records_is_one_alert() {
    let mut records = vec!["12:00:00 ERROR a.B - it broke", "java.io.IOException: x"];
    records.extend(["\tat a.B.c(B.java:1)"; 30]);
    assert_eq!(findings("{}", &records).len(), 1);
}

#[test]
fn severities_follow_levels() {
    for (record, severity) in [
        ("12:00:00 WARN x", Severity::Warning),
        ("12:00:00 SEVERE x", Severity::Error),
        ("12:00:00 FATAL x", Severity::Critical),
        ("12:00:00 INFO x", Severity::Info),
    ] {
        assert_eq!(findings(r#"{"levels":"TRACE"}"#, &[record])[0].severity, severity, "{record}");
    }
}

#[test]
fn patterns_raise_whatever_the_level() {
    let settings = r#"{"patterns":["disk full",
        {"name":"oom","regex":"OutOfMemory(?<kind>\\w*)","severity":"critical","labels":{"team":"jvm"}}]}"#;
    let found = findings(
        settings,
        &["12:00:00 INFO disk full", "12:00:01 INFO OutOfMemoryError", "12:00:02 INFO fine"],
    );
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].severity, found[0].pattern.as_deref()), (Severity::Warning, None));
    assert_eq!((found[1].severity, found[1].pattern.as_deref()), (Severity::Critical, Some("oom")));
    let label = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(found[1].labels, [label("team", "jvm"), label("kind", "Error")]);
}

#[test]
fn a_pattern_in_a_trace_raises_once_and_only_if_its_event_has_not() {
    let settings = r#"{"patterns":["OutOfMemory"]}"#;
    let cause = "Caused by: java.lang.OutOfMemoryError";
    assert_eq!(findings(settings, &["12:00:00 ERROR x", cause, cause]).len(), 1);
    assert_eq!(findings(settings, &["12:00:00 INFO x", cause, cause]).len(), 1);
    assert_eq!(
        findings(settings, &["12:00:00 INFO OutOfMemory", "12:00:01 INFO OutOfMemory"]).len(),
        2
    );
}

#[test]
fn bytes_that_are_no_text_are_shown_lossily() {
    let mut watch = Watch::new(Settings::default());
    let found = watch.inspect(&mut Event::default(), b"12:00:00 ERROR \xff broke").unwrap();
    assert_eq!(found.title(), "\u{fffd} broke");
    for record in [&b""[..], b"\n", b"\r\n\r\n", b"\xff\xfe\x00", b"{", b"{\"log\":\"\\"] {
        assert!(watch.inspect(&mut Event::default(), record).is_none());
    }
}
