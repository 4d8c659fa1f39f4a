//! A column of nullable byte strings: their bytes one after the other, and a list of lengths.
//!
//! Checked once when it is made; reading it then has no error to report.

/// Length -1 is null.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Column<'a> {
    data: &'a [u8],
    lens: &'a [i32],
}

impl<'a> Column<'a> {
    pub(crate) fn new(
        name: &str,
        data: &'a [u8],
        lens: &'a [i32],
        count: usize,
    ) -> Result<Self, String> {
        if lens.len() != count {
            return Err(format!("{} lengths of {name} for {count} records", lens.len()));
        }
        let total = total(lens).ok_or_else(|| format!("a length of {name} below -1"))?;
        if total != data.len() as u64 {
            return Err(format!("{} bytes of {name}, but lengths for {total}", data.len()));
        }
        Ok(Self { data, lens })
    }

    /// One item a record; nothing at all for a column that was not asked for.
    pub(crate) fn iter(self) -> impl Iterator<Item = Option<&'a [u8]>> {
        let mut rest = self.data;
        self.lens.iter().map(move |&len| take(&mut rest, len))
    }
}

fn total(lens: &[i32]) -> Option<u64> {
    lens.iter().try_fold(0, |sum, &len| match len {
        -1 => Some(sum),
        _ => u64::try_from(len).ok().map(|len| sum + len),
    })
}

/// Takes `len` bytes off the front of `rest`; null for -1, and for what cannot be taken.
pub(crate) fn take<'a>(rest: &mut &'a [u8], len: i32) -> Option<&'a [u8]> {
    let len = usize::try_from(len).ok()?;
    let (item, after) = rest.split_at_checked(len)?;
    *rest = after;
    Some(item)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_and_empty_are_different() {
        let column = Column::new("keys", b"abc", &[2, -1, 0, 1], 4).unwrap();
        let items: Vec<_> = column.iter().collect();
        assert_eq!(items, [Some(&b"ab"[..]), None, Some(&b""[..]), Some(&b"c"[..])]);
    }

    #[test]
    fn lists_that_disagree_are_refused() {
        for (data, lens, count) in [
            (&b"abc"[..], &[3][..], 2),
            (b"abc", &[2], 1),
            (b"abc", &[4], 1),
            (b"abc", &[-2, 5], 2),
            (b"", &[i32::MAX, i32::MAX, i32::MAX], 3),
        ] {
            assert!(Column::new("keys", data, lens, count).is_err(), "{lens:?}");
        }
    }
}
