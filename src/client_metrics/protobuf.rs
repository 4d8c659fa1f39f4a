//! Fields of a protocol buffers message, read where they stand: nothing is allocated, and no length is believed.

/// A field's value by its wire type. What has 32 bits is of no field that is read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
    Fixed32,
}

/// The field that a message begins with, and what follows it; `None` for bytes that are none.
fn first(message: &[u8]) -> Option<(u64, Value<'_>, &[u8])> {
    let (key, rest) = varint(message)?;
    let (value, rest) = match key & 7 {
        0 => varint(rest).map(|(it, rest)| (Value::Varint(it), rest))?,
        1 => {
            let (bytes, rest) = rest.split_first_chunk()?;
            (Value::Fixed64(u64::from_le_bytes(*bytes)), rest)
        }
        2 => {
            let (length, rest) = varint(rest)?;
            let (bytes, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            (Value::Bytes(bytes), rest)
        }
        5 => (Value::Fixed32, rest.get(4..)?),
        // Groups went before OpenTelemetry came.
        _ => return None,
    };
    Some((key >> 3, value, rest))
}

fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (at, byte) in bytes.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((value, bytes.get(at + 1..)?));
        }
    }
    None
}

/// Calls with each field of a message. `None` if it is none, or the call says so.
pub(super) fn each_field<'a>(
    mut message: &'a [u8],
    mut act: impl FnMut(u64, Value<'a>) -> Option<()>,
) -> Option<()> {
    while !message.is_empty() {
        let (tag, value, rest) = first(message)?;
        act(tag, value)?;
        message = rest;
    }
    Some(())
}

/// Calls with each message, or text, of a repeated field.
pub(super) fn each<'a>(
    message: &'a [u8],
    wanted: u64,
    mut act: impl FnMut(&'a [u8]) -> Option<()>,
) -> Option<()> {
    each_field(message, |tag, value| match value {
        Value::Bytes(bytes) if tag == wanted => act(bytes),
        _ => Some(()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_by_their_wire_types() {
        let message =
            [0x08, 0x96, 0x01, 0x12, 2, b'h', b'i', 0x1d, 1, 2, 3, 4, 0x21, 7, 0, 0, 0, 0, 0, 0, 0];
        let mut fields = Vec::new();
        each_field(&message, |tag, value| {
            fields.push((tag, value));
            Some(())
        })
        .unwrap();
        let want = [
            (1, Value::Varint(150)),
            (2, Value::Bytes(b"hi")),
            (3, Value::Fixed32),
            (4, Value::Fixed64(7)),
        ];
        assert_eq!(fields, want);
    }

    #[test]
    fn what_ends_early_or_never_is_no_message() {
        for message in [
            &[0x08][..],
            &[0x08, 0x80],
            &[0x12, 3, b'h', b'i'],
            &[0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
            &[0x21, 7],
            &[0x1d, 1],
            &[0x0b],
            &[0x80; 11],
        ] {
            assert_eq!(each_field(message, |_, _| Some(())), None, "{message:?}");
        }
    }
}
