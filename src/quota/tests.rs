//! Limits as an image has them, and clients that use what they may or more.

use proptest::prelude::*;

use super::*;
use crate::metadata::{MetadataRecord, QuotaEntityType, QuotaValue};

const WINDOW_MS: i64 = 1_000;
const WINDOWS: i64 = 11;

/// The default of a part of an entity; no such part is empty.
const DEFAULT: &str = "<default>";

/// User, client id, key and value.
fn quotas(limits: &[(&str, &str, &str, f64)]) -> ClientQuotas {
    let mut image = MetadataImage::default();
    for &(user, client_id, key, value) in limits {
        let parts = [(QuotaEntityType::User, user), (QuotaEntityType::ClientId, client_id)];
        let named = parts.into_iter().filter(|(_, name)| !name.is_empty());
        let entity = named.map(|(it, name)| (it, Some(name.into()).filter(|_| name != DEFAULT)));
        image.replay(&MetadataRecord::ClientQuota {
            entity: entity.collect(),
            key: key.into(),
            value: Some(QuotaValue(value)),
        });
    }
    let quotas = ClientQuotas::new(&crate::config::Config::default().quota);
    quotas.apply(&image);
    quotas
}

fn of_client(key: &str, value: f64) -> ClientQuotas {
    quotas(&[("", "app", key, value)])
}

#[test]
fn without_a_quota_nothing_is_counted_or_held_back() {
    let quotas = quotas(&[]);
    assert!(!quotas.is_active());
    assert_eq!(quotas.record(Quota::Produce, "ANONYMOUS", "app", 1e12, 0), 0);
    assert_eq!(quotas.burst(Quota::Fetch, "ANONYMOUS", "app"), None);
    let others = of_client("producer_byte_rate", 1.0);
    assert_eq!(others.record(Quota::Produce, "ANONYMOUS", "other", 1e12, 0), 0);
    assert_eq!(others.record(Quota::Fetch, "ANONYMOUS", "app", 1e12, 0), 0);
    assert_eq!(others.meters.lock().len(), 0);
}

#[test]
fn the_closest_limit_holds() {
    let closest_first = [
        ("u", "c"),
        ("u", DEFAULT),
        ("u", ""),
        (DEFAULT, "c"),
        (DEFAULT, DEFAULT),
        (DEFAULT, ""),
        ("", "c"),
        ("", DEFAULT),
    ];
    for at in 0..closest_first.len() {
        let set: Vec<_> = (1_u32..)
            .zip(&closest_first[at..])
            .map(|(value, &(user, id))| (user, id, "consumer_byte_rate", f64::from(value)))
            .collect();
        let burst = quotas(&set).burst(Quota::Fetch, "u", "c");
        assert_eq!(burst, Some(10.0), "{:?}", closest_first[at]);
    }
}

#[test]
fn a_quota_of_a_user_is_shared_by_its_clients_and_one_of_client_ids_is_not() {
    let shared = quotas(&[(DEFAULT, "", "producer_byte_rate", 100.0)]);
    assert_eq!(shared.record(Quota::Produce, "u", "a", 1_000.0, 0), 0);
    assert!(shared.record(Quota::Produce, "u", "b", 1_000.0, 0) > 0);
    let apart = quotas(&[("", DEFAULT, "producer_byte_rate", 100.0)]);
    assert_eq!(apart.record(Quota::Produce, "u", "a", 1_000.0, 0), 0);
    assert_eq!(apart.record(Quota::Produce, "u", "b", 1_000.0, 0), 0);
    assert_eq!(apart.record(Quota::Produce, "u", "", 1e9, 0), 0);
}

#[test]
fn a_burst_passes_and_is_paid_for_later() {
    let quotas = of_client("producer_byte_rate", 1_000.0);
    let send = |bytes, now_ms| quotas.record(Quota::Produce, "u", "app", bytes, now_ms);
    // Ten seconds' worth passes at once; twice that takes ten more, and as long again if more is sent then.
    assert_eq!(send(10_000.0, 0), 0);
    assert_eq!(send(10_000.0, 0), 10_000);
    assert_eq!(send(1_000.0, 10_000), 11_000);
    assert_eq!(send(0.0, 21_000), 0);
}

#[test]
fn time_above_the_quota_is_waited_for_no_longer_than_a_window() {
    let quotas = of_client("request_percentage", 50.0);
    assert!(quotas.has_request());
    let take = |percent, now_ms| quotas.record(Quota::Request, "u", "app", percent, now_ms);
    // Five seconds of a thread in ten seconds.
    assert_eq!(take(500.0, 0), 0);
    assert_eq!(take(10.0, 0), 200);
    assert_eq!(take(1_000.0, 0), 1_000);
    let other = quotas.record(Quota::Request, "u", "other", 1e9, 0);
    assert_eq!(other, 0);
    quotas.apply(&MetadataImage::default());
    assert!(!quotas.has_request());
}

#[test]
fn what_may_be_left_unsent_is_not_counted_then() {
    let quotas = of_client("consumer_byte_rate", 100.0);
    let fetch = |bytes, now_ms| quotas.admit(Quota::Fetch, "u", "app", bytes, now_ms);
    assert_eq!(fetch(900.0, 0), Ok(0));
    assert_eq!(fetch(200.0, 0), Err(1_000));
    assert_eq!(fetch(200.0, 0), Err(1_000));
    assert_eq!(fetch(100.0, 0), Ok(0));
    assert_eq!(fetch(200.0, 11_000), Ok(0));
    assert_eq!(quotas.admit(Quota::Fetch, "u", "other", 1e9, 0), Ok(0));
}

#[test]
fn what_is_larger_than_any_burst_passes_and_is_waited_for_afterwards() {
    let quotas = of_client("consumer_byte_rate", 100.0);
    let fetch = |bytes, now_ms| quotas.admit(Quota::Fetch, "u", "app", bytes, now_ms);
    assert_eq!(fetch(5_000.0, 0), Ok(40_000));
    assert_eq!(fetch(5_000.0, 5_000), Err(90_000));
    assert_eq!(fetch(10.0, 5_000), Err(40_100));
}

#[test]
fn mutations_are_refused_once_the_bucket_is_overdrawn() {
    let quotas = of_client("controller_mutation_rate", 2.0);
    let create = |partitions, now_ms| {
        quotas.try_record(Quota::ControllerMutation, "u", "app", partitions, now_ms)
    };
    // 22 tokens at first, and one request may overdraw.
    assert_eq!(create(30.0, 0), Ok(()));
    assert_eq!(create(1.0, 0), Err(4_000));
    assert_eq!(create(1.0, 3_999), Err(1));
    assert_eq!(create(1.0, 4_000), Ok(()));
    // What was not done after all is given back.
    let again = || quotas.record(Quota::ControllerMutation, "u", "app", -1.0, 4_000);
    assert_eq!(again(), 0);
    assert_eq!(create(1.0, 4_000), Ok(()));
}

#[test]
fn invented_client_ids_do_not_take_the_nodes_memory() {
    let quotas = quotas(&[("", DEFAULT, "producer_byte_rate", 1.0)]);
    let send = |id: &str, now_ms| quotas.record(Quota::Produce, "u", id, 100.0, now_ms);
    for at in 0..25_000 {
        send(&format!("id-{at}"), at);
        assert!(send("steady", at) > 0 || at == 0);
        assert!(quotas.meters.lock().len() <= 10_000);
    }
}

#[test]
fn a_long_client_id_takes_no_more_of_it_than_a_short_one() {
    let quotas = quotas(&[("", DEFAULT, "producer_byte_rate", 1.0)]);
    let (key, _) = quotas.limits.load().find(Quota::Produce, "u", &"é".repeat(16_000)).unwrap();
    assert_eq!(key.client_id, Some("é".repeat(256)));
}

#[test]
fn a_changed_limit_holds_at_once() {
    let quotas = of_client("producer_byte_rate", 1.0);
    assert!(quotas.record(Quota::Produce, "u", "app", 1_000.0, 0) > 0);
    quotas.apply(&MetadataImage::default());
    assert!(!quotas.is_active());
    assert_eq!(quotas.record(Quota::Produce, "u", "app", 1_000.0, 1), 0);
}

proptest! {
    #[test]
    fn whatever_a_client_that_waits_sends_it_stays_below_twice_its_quota_and_a_burst(
        bound in 1_000_u32..100_000,
        requests in prop::collection::vec((1_u32..200_000, 0_i64..3_000), 50..300),
    ) {
        let quotas = of_client("producer_byte_rate", f64::from(bound));
        let (mut now_ms, mut sent) = (0_i64, 0_f64);
        for (bytes, pause_ms) in requests {
            let bytes = f64::from(bytes);
            let wait = quotas.record(Quota::Produce, "u", "app", bytes, now_ms);
            sent += bytes;
            // As in Kafka ten seconds are granted anew once eleven have passed in silence: the worst is 21 seconds' worth
            // each time.
            now_ms += i64::from(wait);
            let allowed = 2.0 * f64::from(bound) * (now_ms + WINDOWS * WINDOW_MS) as f64 / 1_000.0;
            prop_assert!(sent <= allowed + 200_000.0, "{sent} of {allowed} at {now_ms}");
            now_ms += pause_ms;
        }
    }

    #[test]
    fn a_client_of_many_small_requests_is_held_to_its_quota(
        bound in 1_000_u32..100_000,
        parts in prop::collection::vec(1_u32..50, 400),
    ) {
        let quotas = of_client("producer_byte_rate", f64::from(bound));
        let (mut now_ms, mut sent) = (0_i64, 0_f64);
        for percent in parts {
            let bytes = f64::from(bound) * f64::from(percent) / 100.0;
            now_ms += 1 + i64::from(quotas.record(Quota::Produce, "u", "app", bytes, now_ms));
            sent += bytes;
        }
        // The burst of the first windows is all that it gets above it.
        let allowed = f64::from(bound) * (now_ms + WINDOWS * WINDOW_MS) as f64 / 1_000.0;
        prop_assert!(sent <= allowed && sent >= 0.8 * allowed - 11.0 * f64::from(bound));
    }

    #[test]
    fn nobody_below_its_quota_is_ever_held_back(
        bound in 1_000_u32..100_000,
        pauses in prop::collection::vec(1_i64..2_000, 1..300),
    ) {
        let quotas = of_client("producer_byte_rate", f64::from(bound));
        let mut now_ms = 0;
        for pause_ms in pauses {
            now_ms += pause_ms;
            // No more than the pause before it allows.
            let bytes = f64::from(bound) * pause_ms as f64 / 1_000.0 * 0.7;
            prop_assert_eq!(quotas.record(Quota::Produce, "u", "app", bytes, now_ms), 0);
        }
    }
}
