//! How often connections may be made, by all addresses together and by each (KIP-612). What is above is told for how long.

use std::{collections::HashMap, net::IpAddr, sync::Arc};

use super::meters::{Meter, Meters};
use crate::{
    config::QuotaWindow,
    metadata::{ClientQuotasImage, MetadataImage, QuotaEntityType, Quotas},
};

/// The quota's key.
const KEY: &str = "connection_creation_rate";

/// How often connections were made, and may be.
pub struct ConnectionRates {
    window: QuotaWindow,
    /// `max.connection.creation.rate`, a second; `None` is no limit.
    max: Option<f64>,
    all: Meter,
    limits: IpLimits,
    of_ips: Meters<IpAddr>,
}

/// The quotas of addresses.
#[derive(Default)]
struct IpLimits {
    of: Arc<ClientQuotasImage>,
    named: HashMap<IpAddr, f64>,
    default: Option<f64>,
}

impl ConnectionRates {
    pub fn new(window: QuotaWindow) -> Self {
        Self {
            window,
            max: None,
            all: Meter::rate(window),
            limits: IpLimits::default(),
            of_ips: Meters::default(),
        }
    }

    /// `max.connection.creation.rate`
    pub fn set_max(&mut self, a_second: i32) {
        self.max = Some(f64::from(a_second)).filter(|_| a_second != i32::MAX);
    }

    /// Takes the limits of addresses from an image.
    pub fn apply(&mut self, image: &MetadataImage) {
        if !Arc::ptr_eq(&self.limits.of, &image.client_quotas) {
            self.limits = IpLimits::of(&image.client_quotas);
        }
    }

    /// Counts a connection of any address: for how many milliseconds its listener has to wait before it is served.
    pub fn record(&mut self, now_ms: i64) -> u32 {
        let Some(max) = self.max else { return 0 };
        self.all.record(1.0, max, now_ms);
        self.all.bounded_throttle_ms(max, now_ms)
    }

    /// Counts a connection of an address, which [`Self::record`] has counted among all.
    ///
    /// # Errors
    ///
    /// The address makes too many: the connection is to be closed after so many milliseconds, and is not counted after all.
    pub fn admit(&mut self, ip: IpAddr, now_ms: i64) -> Result<(), u32> {
        let ip = ip.to_canonical();
        let Some(bound) = self.limits.find(ip) else { return Ok(()) };
        let meter = self.of_ips.meter(ip, || Meter::rate(self.window), now_ms);
        meter.record(1.0, bound, now_ms);
        let wait = meter.bounded_throttle_ms(bound, now_ms);
        if wait == 0 {
            return Ok(());
        }
        meter.record(-1.0, bound, now_ms);
        if let Some(max) = self.max {
            self.all.record(-1.0, max, now_ms);
        }
        Err(wait)
    }
}

impl IpLimits {
    fn of(quotas: &Arc<ClientQuotasImage>) -> Self {
        let mut limits = Self { of: Arc::clone(quotas), ..Self::default() };
        for (entity, quotas) in quotas.iter() {
            match (entity.get(&QuotaEntityType::Ip), bound(quotas)) {
                (Some(None), Some(bound)) => limits.default = Some(bound),
                (Some(Some(ip)), Some(bound)) => {
                    // The controller has seen to it that it is one.
                    limits.named.extend(ip.parse().map(|ip: IpAddr| (ip.to_canonical(), bound)));
                }
                _ => {}
            }
        }
        limits
    }

    fn find(&self, ip: IpAddr) -> Option<f64> {
        self.named.get(&ip).copied().or(self.default)
    }
}

fn bound(quotas: &Quotas) -> Option<f64> {
    quotas.get(KEY).map(|it| it.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::{MetadataRecord, QuotaValue};

    const WINDOW: QuotaWindow = QuotaWindow { num: 11, size_seconds: 1 };

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// Addresses with their quotas; an empty one is the default.
    fn rates(of_ips: &[(&str, f64)]) -> ConnectionRates {
        let mut image = MetadataImage::default();
        for &(ip, value) in of_ips {
            let name = Some(ip.to_owned()).filter(|it| !it.is_empty());
            image.replay(&MetadataRecord::ClientQuota {
                entity: [(QuotaEntityType::Ip, name)].into(),
                key: KEY.into(),
                value: Some(QuotaValue(value)),
            });
        }
        let mut rates = ConnectionRates::new(WINDOW);
        rates.apply(&image);
        rates
    }

    #[test]
    fn without_a_limit_nothing_is_counted() {
        let mut rates = rates(&[("10.0.0.1", 1.0)]);
        for _ in 0..1_000 {
            assert_eq!(rates.record(0), 0);
            assert_eq!(rates.admit(ip("10.0.0.2"), 0), Ok(()));
        }
        assert_eq!(rates.of_ips.len(), 0);
    }

    #[test]
    fn an_address_above_its_rate_is_told_for_how_long_and_is_not_counted_for_it() {
        let mut rates = rates(&[("", 2.0), ("10.0.0.9", 1_000.0)]);
        let one = ip("10.0.0.1");
        // Ten seconds' worth at once, as of any rate.
        assert!((0..20).all(|_| rates.admit(one, 0).is_ok()));
        assert_eq!(rates.admit(one, 0), Err(500));
        assert_eq!(rates.admit(one, 0), Err(500), "what was refused is not counted");
        assert_eq!(rates.admit(ip("10.0.0.2"), 0), Ok(()), "others have their own");
        assert_eq!(rates.admit(ip("::ffff:10.0.0.1"), 0), Err(500), "the same in both protocols");
        assert!((0..100).all(|_| rates.admit(ip("10.0.0.9"), 0).is_ok()), "it has its own limit");
        assert_eq!(rates.admit(one, 11_000), Ok(()));
    }

    #[test]
    fn all_addresses_together_wait_and_no_longer_than_a_window() {
        let mut rates = rates(&[("", 1.0)]);
        rates.set_max(10);
        assert!((0..100).all(|_| rates.record(0) == 0));
        assert_eq!(rates.record(0), 100);
        assert_eq!((0..50).map(|_| rates.record(0)).max(), Some(1_000));
        rates.set_max(i32::MAX);
        assert_eq!(rates.record(0), 0);
        rates.set_max(0);
        assert_eq!(rates.record(0), 1_000, "none a second is one in each window");
    }

    #[test]
    fn what_an_address_is_refused_is_not_counted_among_all() {
        let mut rates = rates(&[("10.0.0.1", 1.0)]);
        rates.set_max(10);
        for _ in 0..1_000 {
            assert_eq!(rates.record(0), 0);
            let _ = rates.admit(ip("10.0.0.1"), 0);
        }
        assert!((0..90).all(|_| rates.record(0) == 0), "ten were admitted");
        assert_eq!(rates.record(0), 100);
    }

    #[test]
    fn a_removed_quota_holds_nobody_any_more() {
        let mut rates = rates(&[("", 1.0)]);
        assert!((0..100).any(|_| rates.admit(ip("10.0.0.1"), 0).is_err()));
        rates.apply(&MetadataImage::default());
        assert_eq!(rates.admit(ip("10.0.0.1"), 0), Ok(()));
    }

    #[test]
    fn invented_addresses_do_not_take_the_nodes_memory() {
        let mut rates = rates(&[("", 1.0)]);
        for at in 0..25_000_u32 {
            let _ = rates.admit(IpAddr::from(at.to_be_bytes()), i64::from(at));
            assert!(rates.of_ips.len() <= 10_000);
        }
    }
}
