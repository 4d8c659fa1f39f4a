//! Ids of clusters: a random UUID in base64, as Kafka writes its own.

use uuid::Uuid;

use crate::base::kafka_uuid;

/// A new id, 22 characters. As in Kafka it never begins with `-`, which tools would take for an option.
pub(super) fn random() -> String {
    loop {
        let id = kafka_uuid::encode(Uuid::new_v4());
        if !id.starts_with('-') {
            return id;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_id_never_looks_like_an_option() {
        for _ in 0..1_000 {
            let id = random();
            assert_eq!((id.len(), id.starts_with('-')), (22, false));
        }
    }
}
