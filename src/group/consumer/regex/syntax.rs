//! From the syntax of RE2, in which Kafka takes patterns, to that of the `regex` crate. They differ in little: the crate knows no
//! quotes (`\Q…\E`), and in it a `{` that counts nothing, and within classes `[`, `&&`, `--` and `~~`, do not stand for themselves.

/// The same pattern for the crate. What is no pattern stays none.
pub(super) fn of_re2(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(letter) = rest.chars().next() {
        let taken = match letter {
            '\\' => escape(rest, &mut out),
            '[' => class(rest, &mut out),
            '{' if !is_repetition(rest) => brace(&mut out),
            _ => literal(letter, &mut out),
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    out
}

// Each writes what stands at the beginning of `rest`, and tells how many bytes of it that was.

fn literal(letter: char, out: &mut String) -> usize {
    out.push(letter);
    letter.len_utf8()
}

/// A brace that counts nothing.
fn brace(out: &mut String) -> usize {
    out.push_str(r"\{");
    1
}

/// `{2}`, `{2,}` or `{2,3}`; another brace stands for itself.
fn is_repetition(rest: &str) -> bool {
    let counts = rest.strip_prefix('{').and_then(|it| it.split_once('}'));
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    counts.is_some_and(|(counts, _)| match counts.split_once(',') {
        Some((least, most)) => is_number(least) && (most.is_empty() || is_number(most)),
        None => is_number(counts),
    })
}

fn escape(rest: &str, out: &mut String) -> usize {
    if let Some(quoted) = rest.strip_prefix(r"\Q") {
        let text = quoted.split_once(r"\E").map_or(quoted, |(text, _)| text);
        out.push_str(&regex::escape(text));
        return r"\Q".len() + text.len() + r"\E".len();
    }
    let escaped: String = rest.chars().take(2).collect();
    out.push_str(&escaped);
    escaped.len()
}

fn class(rest: &str, out: &mut String) -> usize {
    let start = if rest.starts_with("[^") { "[^" } else { "[" };
    out.push_str(start);
    let mut at = start.len();
    while let Some(member) = rest.get(at..).filter(|it| !it.is_empty()) {
        if member.starts_with(']') && at > start.len() {
            out.push(']');
            return at + 1;
        }
        at += class_member(member, out);
    }
    at
}

fn class_member(rest: &str, out: &mut String) -> usize {
    if let Some(name) = posix_class(rest) {
        out.push_str(name);
        return name.len();
    }
    let letter = rest.chars().next().unwrap_or_default();
    match letter {
        '\\' => {
            let escaped: String = rest.chars().take(2).collect();
            out.push_str(&escaped);
            return escaped.len();
        }
        ']' | '[' | '&' | '~' => out.extend(['\\', letter]),
        // The first of two, which else would be the difference of two classes.
        '-' if rest.starts_with("--") => out.push_str(r"\-"),
        _ => out.push(letter),
    }
    letter.len_utf8()
}

/// `[:alpha:]` and its like.
fn posix_class(rest: &str) -> Option<&str> {
    let name = rest.strip_prefix("[:")?;
    let end = name.find(":]")?;
    let is_name = name.get(..end)?.bytes().all(|it| it.is_ascii_lowercase() || it == b'^');
    rest.get(..end + "[::]".len()).filter(|_| is_name)
}
