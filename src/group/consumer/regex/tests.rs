//! What matches, as RE2/J has it; what is refused; when it is matched again.

use proptest::prelude::*;

use super::*;

fn names(of: &[&str]) -> Vec<TopicName> {
    of.iter().map(|&it| it.into()).collect()
}

#[track_caller]
fn check(pattern: &str, matching: &[&str], others: &[&str]) {
    let regex = TopicRegex::compile(pattern).unwrap();
    let all = names(&[matching, others].concat());
    let want: BTreeSet<TopicName> = names(matching).into_iter().collect();
    assert_eq!(regex.resolve(&all), want, "{pattern}");
}

#[test]
fn a_name_matches_as_a_whole() {
    check("orders", &["orders"], &["orders-1", "my-orders", "order"]);
    check("orders|sales", &["orders", "sales"], &["orders-sales", "sale"]);
    check("a|ab|abc", &["a", "ab", "abc"], &["abcd"]);
    check("", &[], &["a"]);
    check("^a.*$", &["a", "ab"], &["ba"]);
}

#[test]
fn internal_topics_are_names_like_others() {
    check(".*", &["a", "__consumer_offsets"], &[]);
    check("[^_].*", &["a"], &["__consumer_offsets"]);
}

/// Each was asked of RE2/J 1.8.
#[test]
fn patterns_have_the_syntax_of_re2() {
    check(r"\d+", &["12"], &["a"]);
    check(r"\w+\.\w+", &["a.b"], &["a-b"]);
    check("(?i)Orders", &["ORDERS", "orders"], &["order"]);
    check(r"\Qa.b\E.*", &["a.b", "a.bc"], &["axb"]);
    check(r"a\Q.+", &["a.+"], &["a."]);
    check(r"a\056b", &["a.b"], &["axb"]);
    check(r"a\x2eb", &["a.b"], &["axb"]);
    check("[[:alpha:]]+", &["ab"], &["a1"]);
    check("[^[:digit:]_]+", &["ab"], &["a1", "_"]);
    check("(?P<name>a)b", &["ab"], &["a"]);
    check(r"[\w.]+", &["a.b_c"], &["a-b"]);
    check("[a-c&&b]+", &["b", "a", "c"], &["d"]);
    check("[]a]", &["a"], &["b"]);
    check("[a[]", &["a"], &["b"]);
    check("[a-z]{2}-?", &["ab", "ab-"], &["a", "abc"]);
    check("[+--]", &["-"], &["a"]);
    check("a{,5}", &["a{,5}"], &["a", "aa"]);
    check("a{", &["a{"], &["a"]);
}

#[test]
fn what_is_no_pattern_is_refused_with_what_is_wrong() {
    let refused = |pattern: &str| match TopicRegex::compile(pattern).unwrap_err() {
        GroupError::InvalidRegularExpression(reason) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        refused("(a"),
        "SubscribedTopicRegex `(a` is not a valid regular expression: unclosed group."
    );
    for pattern in ["a)(b", "[a", "*", "(?=a)", r"\8", r"a\", "[b-a]", "a{3,1}", r"(a)\1x\9"] {
        assert!(refused(pattern).starts_with("SubscribedTopicRegex `"), "{pattern}");
    }
    assert!(refused("(a{1000}){1000}").ends_with("it takes too much memory."));
    assert!(refused(&"a".repeat(PATTERN_BYTES_MAX + 1)).ends_with("than 8192 bytes."));
}

fn resolved(timestamp: i64, version: i64) -> ResolvedRegex {
    ResolvedRegex { topics: BTreeSet::new(), version, timestamp: TimestampMs(timestamp) }
}

#[test]
fn it_is_matched_again_for_new_topics_for_new_patterns_and_now_and_then() {
    let due = |now, new_topics_version, is_one_missing| {
        let now = TimestampMs(now);
        let refresh = Refresh { new_topics_version, interval_ms: 600_000, now };
        refresh.is_due(&[resolved(0, 5), resolved(0, 5)], is_one_missing)
    };
    // What is known is known; new topics count from the next version on.
    assert!(!due(10_001, 5, false));
    assert!(due(10_001, 6, false));
    assert!(due(10_001, 5, true));
    // At most once in ten seconds.
    assert!(!due(10_000, 6, true));
    // And when it is old.
    assert!(!due(600_000, 5, false));
    assert!(due(600_001, 5, false));
}

#[test]
fn the_first_pattern_of_a_group_is_matched_at_once() {
    let refresh = Refresh { new_topics_version: 0, interval_ms: 600_000, now: TimestampMs(1) };
    assert!(refresh.is_due(&[], true));
    assert!(!refresh.is_due(&[], false));
}

proptest! {
    #[test]
    fn no_pattern_panics(pattern in r"[\\\[\]\^\-&~:()*+?{}|.QEabdw01,é]{0,40}") {
        if let Ok(regex) = TopicRegex::compile(&pattern) {
            regex.is_match(&"a-b".into());
        }
    }

    #[test]
    fn a_quoted_name_matches_itself_alone(name in "[a-z.+*-]{1,20}", other in "[a-z.+*-]{1,20}") {
        let regex = TopicRegex::compile(&format!(r"\Q{name}\E")).unwrap();
        prop_assert!(regex.is_match(&name.as_str().into()));
        prop_assert_eq!(regex.is_match(&other.as_str().into()), name == other);
    }
}
