//! Which sessions live, which are evicted, and what an incremental fetch leaves out.

use bytes::Bytes;

use super::*;
use crate::{
    api::fetch::request::Topic,
    base::{Offset, TopicId},
};

const NOW: TimestampMs = TimestampMs(1_000_000);

fn target(partition: i32) -> Target {
    Target { topic: Topic::Name("a".into()), partition }
}

fn asked(offset: i64) -> Asked {
    Asked {
        fetch_offset: Offset(offset),
        max_bytes: 10,
        current_leader_epoch: None,
        last_fetched_epoch: None,
    }
}

fn request(session: (i32, i32), partitions: &[i32], forgotten: &[i32]) -> SessionRequest {
    SessionRequest {
        session_id: session.0,
        session_epoch: session.1,
        uses_topic_ids: false,
        partitions: partitions.iter().map(|&it| (target(it), asked(0))).collect(),
        forgotten: forgotten.iter().map(|&it| target(it)).collect(),
    }
}

fn data(high_watermark: i64, records: &'static [u8], error: ErrorCode) -> PartitionData {
    PartitionData::default()
        .with_high_watermark(high_watermark)
        .with_log_start_offset(0)
        .with_records(Some(Bytes::from_static(records)))
        .with_error_code(error.code())
}

/// Fetches, every partition being answered by `answer`. Returns the session's id and the partitions told of.
fn fetch(
    sessions: &FetchSessions,
    request: SessionRequest,
    answer: impl Fn(i32) -> PartitionData,
) -> Result<(i32, Vec<i32>), ErrorCode> {
    let fetch = sessions.begin(request, NOW)?;
    let answers: Vec<_> =
        fetch.partitions.iter().map(|(it, _)| (it.clone(), answer(it.partition))).collect();
    let (id, answers) = sessions.finish(&fetch, answers, NOW)?;
    Ok((id, answers.into_iter().map(|(it, _)| it.partition).collect()))
}

fn quiet(_: i32) -> PartitionData {
    data(5, b"", ErrorCode::None)
}

#[test]
fn a_session_answers_what_changed_and_nothing_else() {
    let sessions = FetchSessions::default();
    let (id, told) = fetch(&sessions, request((0, 0), &[0, 1, 2], &[]), quiet).unwrap();
    assert!(id > 0);
    assert_eq!(told, [0, 1, 2], "the first answer is whole");
    let news = |partition| match partition {
        0 => data(5, b"", ErrorCode::None),
        1 => data(6, b"", ErrorCode::None),
        _ => data(5, b"x", ErrorCode::None),
    };
    let mut epoch = 0;
    let mut step =
        |partitions: &[i32], forgotten: &[i32], answer: &dyn Fn(i32) -> PartitionData| {
            epoch += 1;
            fetch(&sessions, request((id, epoch), partitions, forgotten), answer).unwrap().1
        };
    assert_eq!(step(&[], &[], &quiet), [0; 0]);
    assert_eq!(step(&[], &[], &news), [1, 2]);
    assert_eq!(step(&[], &[], &news), [2], "the watermark was told, the records are new ones");
    assert_eq!(step(&[3], &[2], &news), [3], "3 is new, 2 is forgotten");
    let failing = |_| data(6, b"", ErrorCode::NotLeaderOrFollower);
    assert_eq!(step(&[], &[0, 1], &failing), [3]);
    assert_eq!(step(&[], &[], &failing), [3], "an error is told every time");
    assert_eq!(step(&[], &[], &|_| data(6, b"", ErrorCode::None)), [3], "and its end");
    assert_eq!(step(&[], &[], &|_| data(6, b"", ErrorCode::None)), [0; 0]);
}

#[test]
fn a_partition_with_records_goes_to_the_end_of_the_order() {
    let sessions = FetchSessions::default();
    let records = |it| data(5, if it == 0 { b"x" } else { b"" }, ErrorCode::None);
    let (id, _) = fetch(&sessions, request((0, 0), &[0, 1, 2], &[]), records).unwrap();
    let next = sessions.begin(request((id, 1), &[], &[]), NOW).unwrap();
    let order: Vec<_> = next.partitions.iter().map(|(it, _)| it.partition).collect();
    assert_eq!(order, [1, 2, 0]);
}

#[test]
fn a_changed_offset_is_taken_over() {
    let sessions = FetchSessions::default();
    let (id, _) = fetch(&sessions, request((0, 0), &[0], &[]), quiet).unwrap();
    let mut moved = request((id, 1), &[0], &[]);
    moved.partitions[0].1 = asked(9);
    assert_eq!(sessions.begin(moved, NOW).unwrap().partitions[0].1, asked(9));
}

#[test]
fn wrong_sessions_are_refused_as_kafka_refuses_them() {
    use ErrorCode as E;
    let sessions = FetchSessions::default();
    let (id, _) = fetch(&sessions, request((0, 0), &[0], &[]), quiet).unwrap();
    let with_ids = |mut it: SessionRequest| {
        it.uses_topic_ids = true;
        it.partitions =
            vec![(Target { topic: Topic::Id(TopicId(uuid::Uuid::nil())), partition: 0 }, asked(0))];
        it
    };
    for (request, want) in [
        (request((id ^ 1, 1), &[0], &[]), Err(E::FetchSessionIdNotFound)),
        (request((0, 1), &[0], &[]), Err(E::FetchSessionIdNotFound)),
        (request((id, 2), &[], &[]), Err(E::InvalidFetchSessionEpoch)),
        (with_ids(request((id, 1), &[], &[])), Err(E::FetchSessionTopicIdError)),
        (request((id, 1), &[], &[]), Ok((id, vec![]))),
        (request((id, 1), &[], &[]), Err(E::InvalidFetchSessionEpoch)),
        (request((id, -1), &[7], &[]), Ok((0, vec![7]))),
        (request((id, 2), &[], &[]), Err(E::FetchSessionIdNotFound)),
    ] {
        let said = format!("{request:?}");
        assert_eq!(fetch(&sessions, request, quiet), want, "{said}");
    }
}

#[test]
fn a_request_without_a_session_gets_none() {
    let sessions = FetchSessions::default();
    assert_eq!(fetch(&sessions, request((0, -1), &[0, 1], &[]), quiet), Ok((0, vec![0, 1])));
    assert!(sessions.sessions.lock().is_empty());
}

#[test]
fn a_session_that_forgets_everything_ends() {
    let sessions = FetchSessions::default();
    let (id, _) = fetch(&sessions, request((0, 0), &[0], &[]), quiet).unwrap();
    assert_eq!(fetch(&sessions, request((id, 1), &[], &[0]), quiet), Ok((0, vec![])));
    assert!(sessions.sessions.lock().is_empty());
}

#[test]
fn two_requests_of_one_epoch_cannot_both_be_answered() {
    let sessions = FetchSessions::default();
    let (id, _) = fetch(&sessions, request((0, 0), &[0], &[]), quiet).unwrap();
    let first = sessions.begin(request((id, 1), &[], &[]), NOW).unwrap();
    let second = sessions.begin(request((id, 2), &[], &[]), NOW).unwrap();
    let answers = vec![(target(0), quiet(0))];
    let late = sessions.finish(&first, answers.clone(), NOW);
    assert_eq!(late.unwrap_err(), ErrorCode::InvalidFetchSessionEpoch);
    assert_eq!(sessions.finish(&second, answers, NOW).unwrap().0, id);
}

#[test]
fn a_full_cache_gives_way_to_nobody_but_the_idle_and_the_small_and_old() {
    let later = TimestampMs(NOW.0 + 120_001);
    let begin = |sessions: &FetchSessions, partitions: &[i32], now| {
        let fetch = sessions.begin(request((0, 0), partitions, &[]), now).unwrap();
        let answers = fetch.partitions.iter().map(|(it, _)| (it.clone(), quiet(0))).collect();
        sessions.finish(&fetch, answers, now).unwrap().0
    };
    let sessions = FetchSessions::new(1);
    let first = begin(&sessions, &[0], NOW);
    assert!(first > 0);
    assert_eq!(begin(&sessions, &[0, 1], NOW), 0, "full");
    sessions.begin(request((first, 1), &[], &[]), later).unwrap();
    assert_eq!(begin(&sessions, &[5], later), 0, "in use, and no smaller");
    let second = begin(&sessions, &[0, 1], later);
    assert!(second > 0, "an old, smaller one goes");
    let much_later = TimestampMs(later.0 + 120_001);
    assert!(begin(&sessions, &[9], much_later) > 0, "an idle one goes");
}

#[test]
fn epochs_wrap_past_the_one_that_begins_a_session() {
    assert_eq!(crate::api::fetch::session::next_epoch(i32::MAX), 1);
}

#[test]
fn the_partitions_of_all_sessions_are_bounded() {
    let sessions = FetchSessions { partitions_max: 5, ..FetchSessions::default() };
    let begin =
        |partitions: &[i32]| fetch(&sessions, request((0, 0), partitions, &[]), quiet).unwrap().0;
    let first = begin(&[0, 1, 2]);
    let second = begin(&[0, 1]);
    assert!(first > 0 && second > 0);
    assert_eq!(begin(&[0]), 0, "no room, and nobody has been idle for long");
    let grown = fetch(&sessions, request((first, 1), &[3], &[]), quiet);
    assert_eq!(grown, Err(ErrorCode::FetchSessionIdNotFound), "it may not grow either");
    assert!(begin(&[0, 1, 2]) > 0, "and is gone");
    assert!(fetch(&sessions, request((second, 1), &[1], &[]), quiet).is_ok(), "others live on");
}
