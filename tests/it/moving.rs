//! Replicas that move between log directories (KIP-113), under a producer, and under kill −9.

use std::{path::PathBuf, sync::mpsc, thread, time::Duration};

use kafka_protocol::messages::{
    AlterReplicaLogDirsRequest, DescribeLogDirsRequest, TopicName,
    alter_replica_log_dirs_request::{AlterReplicaLogDir, AlterReplicaLogDirTopic},
};

use crate::support::{Broker, Client, Session, eventually};

const DIRS: [&str; 2] = ["data", "more"];
const LOG_DIR_NOT_FOUND: i16 = 57;
const UNKNOWN_TOPIC_OR_PARTITION: i16 = 3;

fn name(topic: &str) -> TopicName {
    TopicName(topic.to_owned().into())
}

fn start() -> Broker {
    let broker = Broker::with(&[("log.dirs", "data,more"), ("log.segment.bytes", "1048576")]);
    broker.client().create_topic("t", 1, &[]);
    broker
}

fn dir(broker: &Broker, at: usize) -> PathBuf {
    broker.data_dir().with_file_name(DIRS[at])
}

fn alter(client: &mut Client, topic: &str, path: &std::path::Path) -> i16 {
    let topic = AlterReplicaLogDirTopic::default().with_name(name(topic)).with_partitions(vec![0]);
    let path = path.display().to_string();
    let dir = AlterReplicaLogDir::default().with_path(path.into()).with_topics(vec![topic]);
    let response = client.call(2, &AlterReplicaLogDirsRequest::default().with_dirs(vec![dir]));
    response.results[0].partitions[0].error_code
}

/// Where the partition lies, and whether it is on its way elsewhere.
fn place(broker: &Broker, client: &mut Client) -> (usize, bool) {
    let described = client.call(4, &DescribeLogDirsRequest::default().with_topics(None));
    let (mut lies_in, mut moves) = (None, false);
    for result in &described.results {
        let topic = result.topics.iter().find(|it| it.name == name("t"));
        for partition in topic.into_iter().flat_map(|it| &it.partitions) {
            if partition.is_future_key {
                moves = true;
            } else {
                let is_it = |at: &usize| dir(broker, *at).to_str() == Some(&*result.log_dir);
                lies_in = (0..2).find(is_it);
            }
        }
    }
    (lies_in.expect("it lies somewhere"), moves)
}

#[test]
fn a_replica_moves_to_and_fro_while_a_producer_sends() {
    let broker = start();
    let (first, mut client) = (place(&broker, &mut broker.client()).0, broker.client());
    let (stop, stopped) = mpsc::channel::<()>();
    let mut sender = broker.client();
    let sending = thread::spawn(move || {
        let session = Session::new(&mut sender);
        let mut sent = 0;
        while stopped.try_recv() == Err(mpsc::TryRecvError::Empty) {
            let value = format!("{sent:0>1000}");
            let batch = session.batch(sent, &[(None, Some(value.as_str()))]);
            sender.must_produce("t", 0, batch);
            sent += 1;
        }
        sent
    });
    for target in [1 - first, first] {
        assert_eq!(alter(&mut client, "t", &dir(&broker, target)), 0);
        eventually("it has moved", || {
            (place(&broker, &mut client) == (target, false)).then_some(())
        });
    }
    drop(stop);
    let sent = usize::try_from(sending.join().unwrap()).unwrap();
    let values = client.values("t", 0);
    assert_eq!(values.len(), sent);
    let in_order = values.iter().enumerate().all(|(at, it)| *it == format!("{at:0>1000}"));
    assert!(in_order, "each once, in order");
    assert_eq!(alter(&mut client, "t", &dir(&broker, 0).join("nowhere")), LOG_DIR_NOT_FOUND);
    // It is made where it was asked for.
    for target in 0..2 {
        let topic = format!("made-in-{target}");
        let refused = alter(&mut client, &topic, &dir(&broker, target));
        assert_eq!(refused, UNKNOWN_TOPIC_OR_PARTITION);
        client.create_topic(&topic, 1, &[]);
        assert!(dir(&broker, target).join(format!("{topic}-0")).exists());
    }
}

#[test]
fn a_kill_at_any_time_of_a_move_leaves_one_replica_that_has_everything() {
    let mut broker = start();
    let mut client = broker.client();
    let session = Session::new(&mut client);
    let value = "v".repeat(100_000);
    let mut sent = 0;
    let mut produce = |client: &mut Client, count: i32| {
        for _ in 0..count {
            let batch = session.batch(sent, &[(None, Some(value.as_str()))]);
            client.must_produce("t", 0, batch);
            sent += 1;
        }
        usize::try_from(sent).unwrap()
    };
    produce(&mut client, 40);
    for after_ms in [0, 1, 3, 9, 27] {
        let target = 1 - place(&broker, &mut client).0;
        assert_eq!(alter(&mut client, "t", &dir(&broker, target)), 0);
        thread::sleep(Duration::from_millis(after_ms));
        broker.kill_and_restart();
        client = broker.client();
        let count = produce(&mut client, 2);
        eventually("it has moved", || {
            (place(&broker, &mut client) == (target, false)).then_some(())
        });
        assert_eq!(client.values("t", 0).len(), count);
        eventually("nothing is left behind", || {
            let folders = [0, 1].map(|at| dir(&broker, at).read_dir().unwrap().flatten());
            let names =
                folders.into_iter().flatten().filter_map(|it| it.file_name().into_string().ok());
            let of_topic: Vec<_> = names.filter(|it| it.starts_with("t-0")).collect();
            (of_topic == ["t-0"]).then_some(())
        });
    }
}
