//! Client quotas (KIP-13, KIP-546): what of which clients is limited to how much.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

/// What a quota can be of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum QuotaEntityType {
    User,
    ClientId,
    Ip,
}

impl QuotaEntityType {
    /// Kafka's name of it.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::ClientId => "client-id",
            Self::Ip => "ip",
        }
    }

    pub fn of_name(name: &str) -> Option<Self> {
        [Self::User, Self::ClientId, Self::Ip].into_iter().find(|it| it.name() == name)
    }
}

/// Whom a quota is for; a name of `None` is the default for those that have none of their own.
pub type QuotaEntity = BTreeMap<QuotaEntityType, Option<String>>;

/// The quotas of an entity, by Kafka's key (`producer_byte_rate`).
pub type Quotas = BTreeMap<String, QuotaValue>;

/// All quotas that are set; no entity is without any. Shared with the images before: there may be many, and each change copies the map.
pub type ClientQuotasImage = BTreeMap<Arc<QuotaEntity>, Arc<Quotas>>;

/// A limit; a finite number above 0, as the controller sees to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuotaValue(pub f64);

impl Eq for QuotaValue {}
