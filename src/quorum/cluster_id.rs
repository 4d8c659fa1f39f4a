//! Ids of clusters: a random UUID in base64, as Kafka writes its own.

use uuid::Uuid;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A new id, 22 characters. As in Kafka it never begins with `-`, which tools would take for an option.
pub(super) fn random() -> String {
    loop {
        let id = encode(Uuid::new_v4());
        if !id.starts_with('-') {
            return id;
        }
    }
}

/// Base64 for URLs, without padding.
fn encode(id: Uuid) -> String {
    let bits = id.as_u128();
    (0..22u32)
        .map(|at| {
            let shift = 122 - 6 * i64::from(at);
            // The last character has but two bits left.
            let six = if shift >= 0 { bits >> shift } else { bits << -shift } & 63;
            char::from(ALPHABET.get(six as usize).copied().unwrap_or(b'A'))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_written_in_base64_for_urls() {
        assert_eq!(encode(Uuid::nil()), "AAAAAAAAAAAAAAAAAAAAAA");
        assert_eq!(encode(Uuid::max()), "_____________________w");
        assert_eq!(encode(Uuid::from_u128(1)), "AAAAAAAAAAAAAAAAAAAAAQ");
    }

    #[test]
    fn a_random_id_never_looks_like_an_option() {
        for _ in 0..1_000 {
            let id = random();
            assert_eq!((id.len(), id.starts_with('-')), (22, false));
        }
    }
}
