//! What a batch shows of its columns, and which columns it refuses.

use super::*;

const DATA: &[u8] = b"keyvaluename";

fn columns<'a>() -> Columns<'a> {
    Columns {
        topic: "logs",
        partition: 7,
        count: 2,
        data: DATA,
        index: &[0, 3, 3, 5, -4, 0, -1, 5, 0, 10],
        base_timestamp: 1_700_000_000_000.0,
        now_ms: 1_700_000_000_500.0,
        state: b"state",
        ..Columns::default()
    }
}

#[test]
fn records_borrow_from_the_data() {
    let batch = Batch::new(columns()).unwrap();
    let records: Vec<_> = batch.records().collect();
    assert_eq!((records[0].key, records[0].value), (Some(&b"key"[..]), Some(&b"value"[..])));
    assert_eq!((records[1].key, records[1].value), (None, Some(&b""[..])));
    assert_eq!(records[0].timestamp_ms, 1_699_999_999_996);
    assert_eq!(records[1].timestamp_ms, 1_700_000_000_010);
    assert_eq!(batch.now_ms(), 1_700_000_000_500);
    assert_eq!((batch.topic(), batch.partition(), batch.state()), ("logs", 7, &b"state"[..]));
    assert_eq!(batch.record(1).unwrap().value, Some(&b""[..]));
    assert!(batch.record(2).is_none());
}

#[test]
fn headers_go_to_their_records() {
    let headers = [8, 4, 3, 5, 8, 4, 0, -1];
    let batch =
        Batch::new(Columns { headers: &headers, header_counts: &[0, 2], ..columns() }).unwrap();
    let records: Vec<_> = batch.records().collect();
    assert_eq!(records[0].headers(), []);
    assert_eq!(records[1].headers()[0], Header { name: b"name", value: Some(b"value") });
    assert_eq!(records[1].header("name").unwrap().value, None);
}

#[test]
fn without_headers_asked_for_there_are_none() {
    let batch = Batch::new(columns()).unwrap();
    assert!(batch.records().all(|record| record.headers().is_empty()));
}

#[test]
fn lists_that_disagree_are_refused() {
    let indexes: [&[i32]; 6] = [
        &[],
        &[0, 3, 3, 5, 0],
        &[0, 3, 3, 5, 0, 0, -1, 0, 0, 0, 1],
        &[0, 13, 0, 0, 0, 0, -1, 0, 0, 0],
        &[-1, 1, 0, 0, 0, 0, -1, 0, 0, 0],
        &[i32::MAX, i32::MAX, 0, 0, 0, 0, -2, 0, 0, 0],
    ];
    for index in indexes {
        assert!(Batch::new(Columns { index, ..columns() }).is_err(), "{index:?}");
    }
    let headers: [(&[i32], &[i32]); 6] = [
        (&[0, 1, 0, 0], &[1]),
        (&[0, 1, 0, 0], &[0, 0]),
        (&[0, 1, 0, 0], &[1, 1]),
        (&[0, 1, 0], &[0, 0]),
        (&[0, -1, 0, 0], &[0, 1]),
        (&[0, 1, 0, 0], &[2, -1]),
    ];
    for (headers, header_counts) in headers {
        let columns = Columns { headers, header_counts, ..columns() };
        assert!(Batch::new(columns).is_err(), "{headers:?} {header_counts:?}");
    }
}

#[test]
fn an_absurd_clock_saturates() {
    let batch =
        Batch::new(Columns { base_timestamp: f64::MAX, now_ms: f64::NAN, ..columns() }).unwrap();
    assert_eq!(batch.record(1).unwrap().timestamp_ms, i64::MAX);
    assert_eq!(batch.now_ms(), 0);
}

proptest::proptest! {
    #[test]
    fn no_columns_make_it_panic(
        data: Vec<u8>,
        words in proptest::collection::vec(-3..9_i32, 0..30),
        header_counts in proptest::collection::vec(-1..3_i32, 0..6),
        count in 0..6_u32,
    ) {
        let columns = Columns {
            count, data: &data, index: &words[..words.len().min(count as usize * 5)],
            headers: &words, header_counts: &header_counts, ..Columns::default()
        };
        if let Ok(batch) = Batch::new(columns) {
            proptest::prop_assert_eq!(batch.records().count(), count as usize);
        }
    }
}
