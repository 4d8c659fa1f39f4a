//! Which limit holds for a client: of those that were set, the one that names it most closely, in Kafka's order.

use std::sync::Arc;

use crate::metadata::{
    ClientQuotasImage, MetadataImage, QuotaEntity,
    QuotaEntityType::{ClientId, User},
};

/// What a client can be limited in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quota {
    Produce,
    Fetch,
    /// Of the time of one thread, in percent (KIP-124).
    Request,
    ControllerMutation,
}

impl Quota {
    /// The key that it is set by.
    pub fn key(self) -> &'static str {
        match self {
            Self::Produce => "producer_byte_rate",
            Self::Fetch => "consumer_byte_rate",
            Self::Request => "request_percentage",
            Self::ControllerMutation => "controller_mutation_rate",
        }
    }
}

/// Who shares a meter: all clients of a user under a quota of users, all that bear a client id under one of client ids.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct MeterKey {
    pub(super) quota: Quota,
    pub(super) user: Option<String>,
    pub(super) client_id: Option<String>,
}

/// Of longer client ids, those that begin alike share a meter: nobody's name takes much memory.
const NAMED_CHARS_MAX: usize = 256;

fn named(client_id: &str) -> String {
    client_id.chars().take(NAMED_CHARS_MAX).collect()
}

/// The limits that are set.
#[derive(Default)]
pub(super) struct Limits {
    set: Arc<ClientQuotasImage>,
    has_request: bool,
}

impl Limits {
    pub(super) fn of(image: &MetadataImage) -> Self {
        let set = Arc::clone(&image.client_quotas);
        let has_request = set.values().any(|it| it.contains_key(Quota::Request.key()));
        Self { set, has_request }
    }

    pub(super) fn are_of(&self, image: &MetadataImage) -> bool {
        Arc::ptr_eq(&self.set, &image.client_quotas)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// Whether anyone has a quota of the time that requests take.
    pub(super) fn has_request(&self) -> bool {
        self.has_request
    }

    /// The closest limit, and whose meter counts.
    pub(super) fn find(
        &self,
        quota: Quota,
        user: &str,
        client_id: &str,
    ) -> Option<(MeterKey, f64)> {
        if self.is_empty() {
            return None;
        }
        // A client without an id is of no quota of client ids, as in Kafka.
        let applies = |it: &&Level| it.client_id == Of::Nobody || !client_id.is_empty();
        CLOSEST_FIRST.iter().filter(applies).find_map(|level| {
            let bound = self.set.get(&level.entity(user, client_id))?.get(quota.key())?.0;
            let user = (level.user != Of::Nobody).then(|| user.to_owned());
            let client_id = (level.client_id != Of::Nobody).then(|| named(client_id));
            Some((MeterKey { quota, user, client_id }, bound))
        })
    }
}

/// Whom a part of a quota's entity names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// This user, or this client id.
    One,
    /// Those that are not named.
    Default,
    /// It has no such part.
    Nobody,
}

struct Level {
    user: Of,
    client_id: Of,
}

const fn level(user: Of, client_id: Of) -> Level {
    Level { user, client_id }
}

const CLOSEST_FIRST: [Level; 8] = [
    level(Of::One, Of::One),
    level(Of::One, Of::Default),
    level(Of::One, Of::Nobody),
    level(Of::Default, Of::One),
    level(Of::Default, Of::Default),
    level(Of::Default, Of::Nobody),
    level(Of::Nobody, Of::One),
    level(Of::Nobody, Of::Default),
];

impl Level {
    fn entity(&self, user: &str, client_id: &str) -> QuotaEntity {
        let parts = [(User, self.user, user), (ClientId, self.client_id, client_id)];
        let part = |(kind, of, name): (_, _, &str)| match of {
            Of::One => Some((kind, Some(name.to_owned()))),
            Of::Default => Some((kind, None)),
            Of::Nobody => None,
        };
        parts.into_iter().filter_map(part).collect()
    }
}
