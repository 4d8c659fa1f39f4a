//! What makes two alerts one: the message, with everything masked that differs from one occurrence to the next.

/// A fingerprint is a record's key in the broker; beyond this many bytes a hash stands for the rest.
const BYTES_MAX: usize = 256;
/// A word of this many letters and digits, mixed, is an identifier.
const ID_CHARS_MIN: usize = 16;
/// A word of this many hex digits, a digit among them, is a number.
const HEX_CHARS_MIN: usize = 6;

const UUID_CHARS: usize = 36;
const MASK: char = '#';

/// Replaces numbers, hex, UUIDs, addresses, identifiers and quoted text by `#`, and runs of blanks by one.
pub(crate) fn mask(text: &str) -> String {
    let mut masked = Masked::default();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let quoted = quoted(rest, masked.is_word_open()).map(|length| (length, true));
        let (length, is_masked) = quoted.unwrap_or_else(|| word(rest, first));
        let (part, after) = rest.split_at(length);
        masked.push(part, is_masked);
        rest = after;
    }
    masked.text
}

/// Joins what makes an alert what it is, and bounds it.
pub(crate) fn of(parts: &[String]) -> String {
    bounded(&parts.join(" | "))
}

/// The length of a quoted text at the start. An apostrophe inside a word quotes nothing.
fn quoted(text: &str, in_word: bool) -> Option<usize> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '"' | '\'' | '`'))?;
    if in_word && quote == '\'' {
        return None;
    }
    let end = text.get(1..)?.find(quote)? + 2;
    let behind = text.get(end..)?.chars().next();
    let is_closing = quote != '\'' || !behind.is_some_and(char::is_alphanumeric);
    is_closing.then_some(end)
}

/// The length of the word or character at the start, and whether it is masked.
fn word(text: &str, first: char) -> (usize, bool) {
    if !first.is_ascii_alphanumeric() {
        return (first.len_utf8(), false);
    }
    if is_uuid(text) {
        return (UUID_CHARS, true);
    }
    let length = text.find(|next: char| !next.is_ascii_alphanumeric()).unwrap_or(text.len());
    let word = text.get(..length).unwrap_or(text);
    if first.is_ascii_digit() || is_variable(word) {
        return (length, true);
    }
    // The letters before a number stay, so that `task42` and `task43` are one and `job42` is another.
    (word.find(|next: char| next.is_ascii_digit()).unwrap_or(length), false)
}

fn is_uuid(text: &str) -> bool {
    let Some(start) = text.as_bytes().get(..UUID_CHARS) else { return false };
    start.iter().enumerate().all(|(index, byte)| match index {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}

fn is_variable(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let hex = word.strip_prefix("0x").unwrap_or(word);
    let is_hex = !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_long_hex = is_hex && digits > 0 && hex.len() >= HEX_CHARS_MIN;
    let is_marked_hex = is_hex && hex.len() < word.len();
    is_long_hex || is_marked_hex || (digits > 0 && word.len() >= ID_CHARS_MIN)
}

#[derive(Default)]
struct Masked {
    text: String,
}

impl Masked {
    fn is_word_open(&self) -> bool {
        self.text.chars().next_back().is_some_and(|last| last.is_alphanumeric() || last == MASK)
    }

    fn push(&mut self, part: &str, is_masked: bool) {
        if is_masked {
            self.push_mask();
        } else if part.chars().all(|next| next.is_whitespace() || next.is_control()) {
            if !self.text.is_empty() && !self.text.ends_with(' ') {
                self.text.push(' ');
            }
        } else {
            self.text.push_str(part);
        }
    }

    /// `10.0.0.1:80`, `1-2-3` and a UUID are one mask and not several.
    fn push_mask(&mut self) {
        let stem = self.text.trim_end_matches(['.', ':', '-', '+', '/']);
        if stem.ends_with(MASK) && self.text.len() - stem.len() <= 1 {
            self.text.truncate(stem.len());
        } else {
            self.text.push(MASK);
        }
    }
}

fn bounded(text: &str) -> String {
    const HASH_CHARS: usize = 17;
    let text = text.trim();
    if text.len() <= BYTES_MAX {
        return text.to_owned();
    }
    let mut end = BYTES_MAX - HASH_CHARS;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}~{:016x}", text.get(..end).unwrap_or_default(), hash(text.as_bytes()))
}

/// FNV-1a: the same on every machine and in every version, as fingerprints are stored.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_between_occurrences_is_masked() {
        for (text, want) in [
            ("mod_jk child workerEnv in error state 9", "mod_jk child workerEnv in error state #"),
            ("from 10.251.203.80:50010 to 10.0.0.1", "from # to #"),
            ("blk_-7372087176866857012", "blk_-#"),
            ("attempt_1445144423722_0020_m_000003_0", "attempt_#_#_m_#_#"),
            ("id b9000564-fe1a-409b-b8cc-1e88b294cd1d", "id #"),
            ("at 0x7f12ab and deadbeef1", "at # and #"),
            ("open \"/x/1\" failed", "open # failed"),
            ("can't open 'a file' now", "can't open # now"),
            ("thread worker-12   done", "thread worker-# done"),
            ("2024-01-01T12:00:00.123Z x", "# x"),
            ("token eyJhbGciOiJIUzI1NiJ9abc", "token #"),
            ("facade added", "facade added"),
            ("h\u{e9}llo 1", "h\u{e9}llo #"),
        ] {
            assert_eq!(mask(text), want, "{text}");
        }
    }

    #[test]
    fn long_fingerprints_are_cut_and_stay_different() {
        let long = |end: &str| of(&[format!("{}{end}", "\u{e9}".repeat(400))]);
        assert!(long("a").len() <= BYTES_MAX);
        assert_ne!(long("a"), long("b"));
        assert_eq!(of(&["a".into(), "b".into()]), "a | b");
    }
}
