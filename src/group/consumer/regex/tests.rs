//! What matches, as RE2/J has it; what is refused.

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
