//! What a word in a line's head is likely to be: a stamp, a number, a name, or the beginning of prose. The head of
//! a line is made of stamps, numbers and names; where prose begins the message begins.

use super::bytes::{after_colour, byte, run};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// A date or a time of day.
    Stamp,
    /// Digits, hex, addresses, offsets of time zones; also month, weekday and zone names: they say nothing.
    Number,
    /// In capitals throughout: `RAS KERNEL`.
    Capitals,
    /// Dotted, dashed, numbered or camel case: `org.foo.Bar`, `pool-1-thread-2`, `user@db`.
    Name,
    /// One lower-case word, as hosts, threads and programs have: `main`.
    Plain,
    /// What sentences are made of.
    Prose,
}

/// What stands behind a word that may be a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    End,
    Space,
    /// A tab, or two spaces and more.
    Column,
    /// A colon with a blank or nothing behind it.
    Colon,
    /// A colon with more behind it: `ERROR:root:`.
    TightColon,
    Comma,
    /// `|`, `;`, a dash or colon between blanks.
    Separator,
    Open,
    Bang,
    Slash,
    /// The word goes on: it is not the level's.
    Glued,
}

/// Lower-case words that begin or carry a sentence and are no host's or thread's name. Verbs in `-ing` and `-ed` are
/// not listed.
#[rustfmt::skip]
const SENTENCE: [&[u8]; 54] = [
    b"a", b"after", b"all", b"an", b"and", b"any", b"as", b"at", b"be", b"before", b"but", b"by", b"can",
    b"connection", b"could", b"due", b"for", b"found", b"from", b"got", b"had", b"has", b"http", b"if", b"in", b"is",
    b"it", b"last", b"my", b"new", b"no", b"not", b"of", b"on", b"or", b"response", b"set", b"that", b"the", b"then",
    b"there", b"this", b"to", b"was", b"we", b"when", b"while", b"will", b"with", b"without", b"you", b"your",
    b"yes", b"these",
];

/// Capitals that begin a request or a statement.
const VERBS: [&[u8]; 9] =
    [b"GET", b"POST", b"PUT", b"HEAD", b"DELETE", b"PATCH", b"SELECT", b"INSERT", b"UPDATE"];

#[rustfmt::skip]
const CALENDAR: [&[u8]; 58] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Sept", b"Oct", b"Nov", b"Dec",
    b"January", b"February", b"March", b"April", b"June", b"July", b"August", b"September", b"October", b"November",
    b"December", b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun", b"Monday", b"Tuesday", b"Wednesday",
    b"Thursday", b"Friday", b"Saturday", b"Sunday", b"AM", b"PM", b"am", b"pm", b"UTC", b"GMT", b"Z", b"CET",
    b"CEST", b"EST", b"EDT", b"CST", b"CDT", b"MST", b"MDT", b"PST", b"PDT", b"BST", b"IST", b"JST",
];

pub(crate) fn classify(word: &[u8]) -> Word {
    let first = byte(word, 0);
    let second = byte(word, 1);
    if first.is_ascii_digit()
        || (matches!(first, b'+' | b'-' | b'.' | b'#') && second.is_ascii_digit())
    {
        return if is_stamp(word) { Word::Stamp } else { Word::Number };
    }
    let is_short = word.len() < 10 && (first.is_ascii_uppercase() || second == b'm');
    if is_short && CALENDAR.contains(&word) {
        return Word::Number;
    }
    if !word.iter().all(u8::is_ascii_alphabetic) {
        return if is_sentence_mark(word) { Word::Prose } else { unlettered(word) };
    }
    lettered(word)
}

fn lettered(word: &[u8]) -> Word {
    let capitals = word.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    if capitals == word.len() {
        return if word.len() > 1 && !VERBS.contains(&word) { Word::Capitals } else { Word::Prose };
    }
    match capitals {
        0 if SENTENCE.contains(&word) || is_verb(word) => Word::Prose,
        0 => Word::Plain,
        1 if byte(word, 0).is_ascii_uppercase() => Word::Prose,
        _ => Word::Name,
    }
}

fn is_verb(word: &[u8]) -> bool {
    word.len() > 4 && (word.ends_with(b"ing") || word.ends_with(b"ed"))
}

fn unlettered(word: &[u8]) -> Word {
    if word.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_') {
        return Word::Capitals;
    }
    Word::Name
}

/// Words that end as sentences do, hold an apostrophe, or are addresses: `don't`, `failed.`, `http://…`.
fn is_sentence_mark(word: &[u8]) -> bool {
    word.contains(&b'\'')
        || matches!(word.last(), Some(b'.' | b'?' | b'!'))
        || word.windows(3).any(|part| part == b"://")
}

/// A time of day (`12:30`), or a date: digits, and twice the same `-`, `/` or `.`.
fn is_stamp(word: &[u8]) -> bool {
    let is_time = word.windows(4).any(|part| {
        matches!(part, [a, b':', b, c] if a.is_ascii_digit() && b.is_ascii_digit() && c.is_ascii_digit())
    });
    let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
    let twice = |mark: u8| word.split(|byte| *byte == mark).count() == 3;
    let is_date = || match digits {
        6..=8 => twice(b'-') || twice(b'/') || twice(b'.'),
        4 | 5 => twice(b'/'),
        _ => false,
    };
    let is_clock = || digits <= 4 && (word.ends_with(b"PM") || word.ends_with(b"AM"));
    let is_run = || digits == word.len() && matches!(digits, 6 | 8 | 10 | 13);
    is_time || is_date() || is_clock() || is_run() || is_short_date(word, digits)
}

/// `01-02` or `10.30`, as logcat and Proxifier have.
fn is_short_date(word: &[u8], digits: usize) -> bool {
    word.len() == 5 && digits == 4 && matches!(byte(word, 2), b'-' | b'/' | b'.')
}

/// What stands at `at`, behind a word.
pub(crate) fn after(line: &[u8], at: usize) -> After {
    let at = after_colour(line, at);
    match byte(line, at) {
        0 | b'\r' | b'\n' => After::End,
        b'\t' => After::Column,
        b' ' => after_spaces(line, at),
        b':' if is_blank_or_end(byte(line, after_colour(line, at + 1))) => After::Colon,
        b':' => After::TightColon,
        b',' => After::Comma,
        b'|' | b';' => After::Separator,
        b'[' | b'(' | b'{' => After::Open,
        b'!' if is_blank_or_end(byte(line, at + 1)) => After::Bang,
        b'/' => After::Slash,
        b'-' if byte(line, at + 1) == b' ' => After::Separator,
        b'>' if matches!(byte(line, at + 1), b' ' | b'>') => After::Separator,
        _ => After::Glued,
    }
}

fn after_spaces(line: &[u8], at: usize) -> After {
    let count = run(line, at, |byte| byte == b' ');
    let next = byte(line, at + count);
    let beyond = byte(line, at + count + 1);
    match next {
        0 | b'\r' | b'\n' => After::End,
        b'|' => After::Separator,
        b'-' | b':' if matches!(beyond, b' ' | b'-') => After::Separator,
        b'\t' => After::Column,
        _ if count > 1 => After::Column,
        _ => After::Space,
    }
}

pub(crate) const fn is_blank_or_end(byte: u8) -> bool {
    matches!(byte, 0 | b' ' | b'\t' | b'\r' | b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_come_in_many_shapes() {
        for word in [
            "2015-10-18",
            "18:01:50",
            "2024-01-01T12:00:00.000Z",
            "17/06/09",
            "081109",
            "20171223-22:15:29:606",
            "03-17",
            "16:13:38.811",
            "10.30",
            "12:00PM",
            "2005.06.03",
            "1117838570",
            "2005-06-03-15.42.50.363779",
        ] {
            // DB2's and BlueGene's stamp with points alone is a number, which serves as well.
            assert!(matches!(classify(word.as_bytes()), Word::Stamp | Word::Number), "{word}");
        }
        for word in ["2931", "+01:00x", "7f12ab", "10.251.203.80"] {
            assert!(matches!(classify(word.as_bytes()), Word::Stamp | Word::Number), "{word}");
        }
    }

    #[test]
    fn words_are_names_or_prose() {
        for (word, want) in [
            ("org.apache.Foo", Word::Name),
            ("pool-1-thread-2", Word::Name),
            ("WindowManager", Word::Name),
            ("main", Word::Plain),
            ("KERNEL", Word::Capitals),
            ("R02-M1-N0-C:J12-U11", Word::Name),
            ("Failed", Word::Prose),
            ("the", Word::Prose),
            ("can't", Word::Prose),
            ("I", Word::Prose),
        ] {
            assert_eq!(classify(word.as_bytes()), want, "{word}");
        }
    }

    #[test]
    fn a_level_needs_a_delimiter() {
        for (rest, want) in [
            ("", After::End),
            (" x", After::Space),
            ("  x", After::Column),
            (" - x", After::Separator),
            (" --- x", After::Separator),
            (" -1", After::Space),
            (": x", After::Colon),
            (":root:x", After::TightColon),
            ("_LOG", After::Glued),
            ("-5", After::Glued),
            ("=5", After::Glued),
            ("! x", After::Bang),
        ] {
            assert_eq!(after(rest.as_bytes(), 0), want, "{rest:?}");
        }
    }
}
