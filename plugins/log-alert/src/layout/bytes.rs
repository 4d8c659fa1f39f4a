//! Steps over bytes that never leave the slice: beyond the end stands a NUL, which no layout knows.

const ESCAPE: u8 = 0x1b;

pub(crate) fn byte(line: &[u8], at: usize) -> u8 {
    line.get(at).copied().unwrap_or(0)
}

/// The rest of the line from `at`; empty beyond the end.
pub(crate) fn from(line: &[u8], at: usize) -> &[u8] {
    line.get(at..).unwrap_or_default()
}

/// The bytes of a range that has been cut to the line.
pub(crate) fn between(line: &[u8], start: usize, end: usize) -> &[u8] {
    line.get(start..end.min(line.len())).unwrap_or_default()
}

/// How many bytes from `at` on satisfy `is`.
pub(crate) fn run(line: &[u8], at: usize, is: impl Fn(u8) -> bool) -> usize {
    from(line, at).iter().take_while(|byte| is(**byte)).count()
}

pub(crate) fn find(line: &[u8], at: usize, wanted: u8) -> Option<usize> {
    from(line, at).iter().position(|byte| *byte == wanted).map(|found| at + found)
}

/// Beyond a terminal's colour code (`ESC [ … letter`) at `at`, or `at` itself.
pub(crate) fn after_colour(line: &[u8], at: usize) -> usize {
    if byte(line, at) != ESCAPE {
        return at;
    }
    if byte(line, at + 1) != b'[' {
        return at + 1;
    }
    let code = run(line, at + 2, |byte| matches!(byte, b'0'..=b'9' | b';' | b'?' | b':'));
    (at + 2 + code + 1).min(line.len())
}

/// Beyond spaces, tabs, carriage returns and colour codes.
pub(crate) fn after_blank(line: &[u8], mut at: usize) -> usize {
    loop {
        let next = match byte(line, at) {
            b' ' | b'\t' | b'\r' => at + 1,
            ESCAPE => after_colour(line, at),
            _ => return at,
        };
        at = next;
    }
}

pub(crate) const fn ends_word(byte: u8) -> bool {
    matches!(
        byte,
        0..=b' '
            | 0x7f
            | b'['
            | b']'
            | b'('
            | b')'
            | b'{'
            | b'}'
            | b'<'
            | b'>'
            | b'|'
            | b','
            | b';'
            | b'"'
    )
}

/// Decimal digits at the start, as a number; `None` without any or beyond nine.
pub(crate) fn number(digits: &[u8]) -> Option<u32> {
    let count = run(digits, 0, |byte| byte.is_ascii_digit());
    if count == 0 || count > 9 {
        return None;
    }
    Some(digits.iter().take(count).fold(0, |number, digit| number * 10 + u32::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_blank() {
        assert_eq!(after_blank(b" \x1b[1;31mERROR", 0), 8);
        assert_eq!(after_blank(b"\x1b[", 0), 2);
        assert_eq!(after_blank(b"\x1b", 0), 1);
    }

    #[test]
    fn a_number_of_ten_digits_is_no_level() {
        assert_eq!(number(b"42]"), Some(42));
        assert_eq!(number(b"1234567890"), None);
        assert_eq!(number(b"x"), None);
    }
}
