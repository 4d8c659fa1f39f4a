//! A partitioner that keeps each tenant's records together: keys look like `tenant:rest`, and the
//! tenant alone decides.
//!
//! A consumer that reads a partition sees whole tenants, and the records of a key in order. A key without
//! a separator is a tenant of its own. Records without a key go round-robin.

use klamm_plugin::partitioner::{Batch, Partitioner, Record};
use klamm_plugin::{Description, Needs};
use serde::{Deserialize, Serialize};

/// The table `[config]` of the plugin's TOML file.
#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ByTenant {
    /// Ends the tenant's name in a key.
    separator: char,
}

impl Default for ByTenant {
    fn default() -> Self {
        Self { separator: ':' }
    }
}

impl Partitioner for ByTenant {
    fn describe() -> Description {
        let summary = "Keeps records together whose keys begin with the same tenant.";
        let defaults = serde_json::to_string(&Self::default()).unwrap_or_default();
        Description::new("partitioner-by-tenant", env!("CARGO_PKG_VERSION"), summary)
            .needs(Needs::KEYS)
            .key_pure()
            .settings(&defaults)
    }

    fn configure(settings: &str) -> Result<Self, String> {
        serde_json::from_str(settings).map_err(|error| error.to_string())
    }

    fn partition(&mut self, batch: &Batch<'_>) -> Result<Vec<u32>, String> {
        let place = |record: Record<'_>| match record.key {
            Some(key) => scale(hash(self.tenant(key)), batch.partitions()),
            None => record.sequence % batch.partitions(),
        };
        Ok(batch.records().map(place).collect())
    }
}

impl ByTenant {
    /// Keys are bytes: one that is not text is cut at the separator's bytes all the same.
    fn tenant<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        let mut buffer = [0; 4];
        let separator = self.separator.encode_utf8(&mut buffer).as_bytes();
        let end = key.windows(separator.len()).position(|window| window == separator);
        end.and_then(|end| key.get(..end)).unwrap_or(key)
    }
}

/// FNV-1a in 64 bits. Frozen: where the records are depends on it.
fn hash(tenant: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    tenant.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

fn scale(hash: u64, partitions: u32) -> u32 {
    // The upper bits of FNV-1a are poor for short names: fold them in.
    let mixed = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((u128::from(mixed) * u128::from(partitions)) >> 64) as u32
}

klamm_plugin::partitioner!(ByTenant);

#[cfg(test)]
mod tests {
    use super::*;
    use klamm_plugin::partitioner::Columns;

    fn place(plugin: &mut ByTenant, keys: &[Option<&[u8]>], partitions: u32) -> Vec<u32> {
        let lens: Vec<i32> =
            keys.iter().map(|key| key.map_or(-1, |key| key.len() as i32)).collect();
        let data = keys.iter().flatten().copied().collect::<Vec<_>>().concat();
        let columns = Columns {
            partitions,
            count: keys.len() as u32,
            keys: &data,
            key_lens: &lens,
            ..Columns::default()
        };
        plugin.partition(&Batch::new(columns, Needs::KEYS).unwrap()).unwrap()
    }

    #[test]
    fn a_tenants_records_stay_together() {
        let keys: [Option<&[u8]>; 4] =
            [Some(b"acme:1"), Some(b"acme:2:x"), Some(b"acme"), Some(b"acme:")];
        let places = place(&mut ByTenant::default(), &keys, 1000);
        assert!(places.iter().all(|place| *place == places[0]), "{places:?}");
    }

    #[test]
    fn tenants_spread_over_the_partitions() {
        let keys: Vec<String> = (0..3000).map(|i| format!("tenant-{i}:order")).collect();
        let keys: Vec<Option<&[u8]>> = keys.iter().map(|key| Some(key.as_bytes())).collect();
        let places = place(&mut ByTenant::default(), &keys, 10);
        for partition in 0..10 {
            let count = places.iter().filter(|place| **place == partition).count();
            assert!((200..400).contains(&count), "{count} of 3000 in partition {partition}");
        }
    }

    #[test]
    fn records_without_a_key_take_turns() {
        assert_eq!(place(&mut ByTenant::default(), &[None; 4], 3), [0, 1, 2, 0]);
    }

    #[test]
    fn the_separator_is_a_setting() {
        let mut plugin = ByTenant::configure(r#"{"separator":"→"}"#).unwrap();
        let keys: [Option<&[u8]>; 2] = [Some("acme→1".as_bytes()), Some(b"acme")];
        let places = place(&mut plugin, &keys, 1000);
        assert_eq!(places[0], places[1]);
        for bad in [r#"{"separator":"::"}"#, r#"{"seperator":":"}"#, "7"] {
            assert!(ByTenant::configure(bad).is_err(), "{bad}");
        }
        assert!(ByTenant::configure("{}").is_ok());
    }
}
