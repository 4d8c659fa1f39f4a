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
    ControllerMutation,
}

impl Quota {
    /// The key that it is set by.
    pub fn key(self) -> &'static str {
        match self {
            Self::Produce => "producer_byte_rate",
            Self::Fetch => "consumer_byte_rate",
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

/// The limits that are set.
#[derive(Default)]
pub(super) struct Limits(Arc<ClientQuotasImage>);

impl Limits {
    pub(super) fn of(image: &MetadataImage) -> Self {
        Self(Arc::clone(&image.client_quotas))
    }

    pub(super) fn are_of(&self, image: &MetadataImage) -> bool {
        Arc::ptr_eq(&self.0, &image.client_quotas)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
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
        let (own_user, any_user) = (Some(Some(user)), Some(None));
        let (own_id, any_id) = (Some(Some(client_id)), Some(None));
        let closest_first = [
            (own_user, own_id),
            (own_user, any_id),
            (own_user, None),
            (any_user, own_id),
            (any_user, any_id),
            (any_user, None),
            (None, own_id),
            (None, any_id),
        ];
        // A client without an id is of no quota of client ids, as in Kafka.
        let applies = |(_, id): &(_, Option<_>)| id.is_none() || !client_id.is_empty();
        closest_first.into_iter().filter(applies).find_map(|(of_user, of_id)| {
            let bound = self.0.get(&entity(of_user, of_id))?.get(quota.key())?.0;
            let user = of_user.map(|_| user.to_owned());
            let client_id = of_id.map(|_| client_id.to_owned());
            Some((MeterKey { quota, user, client_id }, bound))
        })
    }
}

fn entity(user: Option<Option<&str>>, client_id: Option<Option<&str>>) -> QuotaEntity {
    let parts = [(User, user), (ClientId, client_id)];
    parts.into_iter().filter_map(|(kind, name)| Some((kind, name?.map(String::from)))).collect()
}
