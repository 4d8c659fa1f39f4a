//! How many connections each address has, and may have: `max.connections.per.ip`.
//!
//! Rule: a connection too many is closed at once, as in Kafka, so that one address keeps none of the others out.

use std::{collections::HashMap, net::IpAddr, sync::Arc};

use parking_lot::Mutex;

/// Connections by address.
pub(super) struct PerIp(Mutex<State>);

#[derive(Default)]
struct State {
    max: usize,
    overrides: HashMap<IpAddr, usize>,
    open: HashMap<IpAddr, usize>,
}

/// One connection's place, left when this is dropped.
pub(super) struct Place {
    of: Arc<PerIp>,
    address: IpAddr,
}

impl PerIp {
    pub(super) fn new(max: usize, overrides: &[(IpAddr, usize)]) -> Arc<Self> {
        let per_ip = Self(Mutex::default());
        per_ip.set_max(max, overrides);
        Arc::new(per_ip)
    }

    /// From now on; connections that are there stay.
    pub(super) fn set_max(&self, max: usize, overrides: &[(IpAddr, usize)]) {
        let mut state = self.0.lock();
        state.max = max;
        state.overrides = overrides.iter().map(|&(it, max)| (it.to_canonical(), max)).collect();
    }

    /// A place for one more; `None` when the address has as many as it may.
    pub(super) fn enter(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        // One machine has one address, whichever protocol its listener speaks.
        let address = address.to_canonical();
        let mut state = self.0.lock();
        let max = state.overrides.get(&address).copied().unwrap_or(state.max);
        let count = state.open.get(&address).copied().unwrap_or(0);
        if count >= max {
            return None;
        }
        state.open.insert(address, count + 1);
        Some(Place { of: Arc::clone(self), address })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let open = &mut self.of.0.lock().open;
        match open.get_mut(&self.address) {
            Some(count) if *count > 1 => *count -= 1,
            // An address without connections takes no memory.
            _ => drop(open.remove(&self.address)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_its_own_places_and_gets_them_back() {
        let [common, favoured, banned] =
            ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map(|it| it.parse::<IpAddr>().unwrap());
        let per_ip = PerIp::new(2, &[(favoured, 3), (banned, 0)]);
        for (address, max) in [(common, 2), (favoured, 3), (banned, 0)] {
            let places: Vec<_> = (0..max).map(|_| per_ip.enter(address).unwrap()).collect();
            assert!(per_ip.enter(address).is_none(), "{address}");
            drop(places);
            assert_eq!(per_ip.enter(address).is_some(), max > 0, "{address}");
        }
        assert!(per_ip.0.lock().open.is_empty());
    }

    #[test]
    fn a_changed_limit_holds_at_once() {
        let [one, other] = ["10.0.0.1", "10.0.0.2"].map(|it| it.parse::<IpAddr>().unwrap());
        let per_ip = PerIp::new(1, &[]);
        let _first = per_ip.enter(one).unwrap();
        per_ip.set_max(2, &[(other, 0)]);
        let _second = per_ip.enter(one).unwrap();
        assert!(per_ip.enter(one).is_none() && per_ip.enter(other).is_none());
        per_ip.set_max(1, &[]);
        assert!(per_ip.enter(one).is_none() && per_ip.enter(other).is_some());
    }

    #[test]
    fn an_address_is_the_same_in_both_protocols() {
        let per_ip = PerIp::new(1, &[]);
        let _place = per_ip.enter("10.0.0.1".parse().unwrap()).unwrap();
        assert!(per_ip.enter("::ffff:10.0.0.1".parse().unwrap()).is_none());
        assert!(per_ip.enter("::1".parse().unwrap()).is_some());
    }
}
