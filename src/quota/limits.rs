//! Which limit holds for a client: of those that were set, the one that names it most closely, in Kafka's order.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

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
    const ALL: [Self; 4] = [Self::Produce, Self::Fetch, Self::Request, Self::ControllerMutation];

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
    /// At which levels there are any: nothing is looked for at the others.
    levels: BTreeMap<Quota, Vec<Level>>,
}

impl Limits {
    pub(super) fn of(image: &MetadataImage) -> Self {
        let set = Arc::clone(&image.client_quotas);
        let mut levels = BTreeMap::<Quota, BTreeSet<usize>>::new();
        for (entity, quotas) in set.iter() {
            let at = CLOSEST_FIRST.iter().position(|it| it.is_of(entity));
            for quota in Quota::ALL.into_iter().filter(|it| quotas.contains_key(it.key())) {
                levels.entry(quota).or_default().extend(at);
            }
        }
        let closest_first = |at: BTreeSet<usize>| {
            at.into_iter().filter_map(|it| CLOSEST_FIRST.get(it).copied()).collect()
        };
        let levels = levels.into_iter().map(|(quota, at)| (quota, closest_first(at))).collect();
        Self { set, levels }
    }

    pub(super) fn are_of(&self, image: &MetadataImage) -> bool {
        Arc::ptr_eq(&self.set, &image.client_quotas)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// Whether anyone has such a quota.
    pub(super) fn has(&self, quota: Quota) -> bool {
        self.levels.contains_key(&quota)
    }

    /// The closest limit, and whose meter counts.
    pub(super) fn find(
        &self,
        quota: Quota,
        user: &str,
        client_id: &str,
    ) -> Option<(MeterKey, f64)> {
        // A client without an id is of no quota of client ids, as in Kafka.
        let applies = |it: &&Level| it.client_id == Of::Nobody || !client_id.is_empty();
        self.levels.get(&quota)?.iter().filter(applies).find_map(|level| {
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

#[derive(Clone, Copy, PartialEq, Eq)]
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
    fn is_of(self, entity: &QuotaEntity) -> bool {
        let of = |kind| match entity.get(&kind) {
            Some(Some(_)) => Of::One,
            Some(None) => Of::Default,
            None => Of::Nobody,
        };
        self == level(of(User), of(ClientId))
    }

    fn entity(self, user: &str, client_id: &str) -> QuotaEntity {
        let parts = [(User, self.user, user), (ClientId, self.client_id, client_id)];
        let part = |(kind, of, name): (_, _, &str)| match of {
            Of::One => Some((kind, Some(name.to_owned()))),
            Of::Default => Some((kind, None)),
            Of::Nobody => None,
        };
        parts.into_iter().filter_map(part).collect()
    }
}
