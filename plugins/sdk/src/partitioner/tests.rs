//! What a batch shows of its columns, and which columns it refuses.

use super::*;

fn columns<'a>() -> Columns<'a> {
    Columns { topic: "t", partitions: 3, count: 3, sequence: u32::MAX, ..Columns::default() }
}

#[test]
fn records_carry_their_columns() {
    let columns = Columns {
        keys: b"k0k2",
        key_lens: &[2, -1, 2],
        values: b"v",
        value_lens: &[0, 1, -1],
        headers: b"av1bav2",
        header_lens: &[1, 1, 2, 1, 1, -1, 1, 1, 2],
        ..columns()
    };
    let batch = Batch::new(columns, Needs::KEYS | Needs::VALUES | Needs::HEADERS).unwrap();
    let records: Vec<_> = batch.records().collect();
    assert_eq!(records[0].key, Some(&b"k0"[..]));
    assert_eq!(records[0].value, Some(&b""[..]));
    assert_eq!(records[0].headers(), []);
    assert_eq!(records[1].key, None);
    assert_eq!(records[1].header("a").unwrap().value, Some(&b"v2"[..]));
    assert_eq!(records[1].header("b").unwrap().value, None);
    assert_eq!(records[1].header("c"), None);
    assert_eq!(records[1].headers().len(), 3);
    assert_eq!(records[2].value, None);
    assert_eq!(records[2].headers(), []);
    assert_eq!(batch.keys().collect::<Vec<_>>(), records.iter().map(|r| r.key).collect::<Vec<_>>());
}

#[test]
fn the_number_of_a_record_wraps() {
    let batch = Batch::new(columns(), Needs::NONE).unwrap();
    assert_eq!(batch.records().map(|r| r.sequence).collect::<Vec<_>>(), [u32::MAX, 0, 1]);
}

#[test]
fn a_column_that_was_not_asked_for_is_not_looked_at() {
    let columns = Columns { keys: b"junk", key_lens: &[1], ..columns() };
    let batch = Batch::new(columns, Needs::NONE).unwrap();
    assert_eq!(batch.keys().count(), 0);
    assert_eq!(batch.records().filter(|record| record.key.is_none()).count(), 3);
}

#[test]
fn a_column_that_was_asked_for_must_be_there() {
    for needs in [Needs::KEYS, Needs::VALUES] {
        assert!(Batch::new(columns(), needs).is_err());
    }
    assert!(Batch::new(columns(), Needs::HEADERS).is_ok(), "no record has a header");
}

#[test]
fn a_topic_has_a_partition() {
    assert!(Batch::new(Columns { partitions: 0, ..columns() }, Needs::NONE).is_err());
}

#[test]
fn malformed_headers_are_refused() {
    let cases: [(&[u8], &[i32]); 8] = [
        (b"a", &[3, 1, -1]),
        (b"a", &[-1, 1, -1]),
        (b"ab", &[1, 1, -1, 0, 1, -1]),
        (b"a", &[0, -1, 1]),
        (b"a", &[0, 1, -2]),
        (b"a", &[0, 1, 1]),
        (b"ab", &[0, 1, -1]),
        (b"a", &[0, 1, -1, 0]),
    ];
    for (data, lens) in cases {
        let columns = Columns { headers: data, header_lens: lens, ..columns() };
        assert!(Batch::new(columns, Needs::HEADERS).is_err(), "{lens:?}");
    }
}

proptest::proptest! {
    #[test]
    fn no_columns_make_it_panic(
        data: Vec<u8>,
        lens in proptest::collection::vec(-3..6_i32, 0..12),
        count in 0..5_u32,
        partitions in 0..3_u32,
    ) {
        let columns = Columns {
            topic: "t", partitions, count,
            keys: &data, key_lens: &lens,
            values: &data, value_lens: &lens,
            headers: &data, header_lens: &lens,
            sequence: 0, seed: 0,
        };
        for needs in [Needs::KEYS, Needs::VALUES, Needs::HEADERS] {
            if let Ok(batch) = Batch::new(columns, needs) {
                proptest::prop_assert_eq!(batch.records().count(), count as usize);
            }
        }
    }
}
