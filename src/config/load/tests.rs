//! Good configurations reach their fields; of bad ones every problem is told at once.

use proptest::prelude::*;

use super::*;
use crate::config::{edited, print_defaults};

fn load(text: &str) -> Result<Loaded, Problems> {
    let mut problems = Problems::default();
    let entries = flatten_file("k.toml", text, &mut problems);
    Config::from_entries(&entries, problems)
}

#[test]
fn every_problem_is_told_at_once_with_its_line() {
    let text = "num.partition = 3\nnode.id = \"one\"\n[klamm.groups.\"a*\"]\nassignor = \"x\"\n\
                [klamm.alert.sinks.am]\nurl = \"x\"\n";
    let problems = load(text).unwrap_err().to_string();
    for want in [
        "k.toml:1: num.partition: is no setting; did you mean `num.partitions`?",
        "k.toml:2: node.id: `one` is not a whole number from -2147483648 to 2147483647",
        "k.toml:4: klamm.groups.\"a*\".assignor: is no setting; did you mean `klamm.assignor`?",
        "needs a `type`: alertmanager, webhook or log",
    ] {
        assert!(problems.contains(want), "{want}\nin\n{problems}");
    }
}

#[test]
fn problems_stand_in_the_order_of_the_file() {
    let text = "num.io = 3\nzzz = 1\naaa = 2\n\n\n\n\n\n\nnode.id = -1\nbbb = 1";
    let problems = load(text).unwrap_err();
    let places: Vec<&str> = problems.0.iter().map(|it| it.place.as_str()).collect();
    assert_eq!(places, ["k.toml:1", "k.toml:2", "k.toml:3", "k.toml:10", "k.toml:11"]);
}

#[test]
fn a_line_that_is_no_toml_hides_no_other_problem() {
    let text = "a = = 3\nnum.partition = 3\nlog.dirs = \"a\"\nlog.dirs = \"b\"\nbad";
    let problems = load(text).unwrap_err().to_string();
    for want in [
        "k.toml:1: ",
        "k.toml:2: num.partition: ",
        "k.toml:4: log.dirs: duplicate key",
        "k.toml:5: ",
    ] {
        assert!(problems.contains(want), "{want}\nin\n{problems}");
    }
}

#[test]
fn a_number_outside_its_range_is_refused() {
    for text in [
        "klamm.plugin.memory.max.bytes = 4294967297",
        "klamm.plugin.memory.max.bytes = 1",
        "klamm.plugin.threads = 18446744073709551615",
        "num.partitions = 0",
        "num.partitions = 2147483647",
        "offsets.topic.num.partitions = 10001",
    ] {
        assert!(load(text).is_err(), "{text}");
    }
}

#[test]
fn who_may_connect_is_named_where_nobody_else_may() {
    let problems = load("max.connections.per.ip = 0").unwrap_err().to_string();
    let told = problems.matches("max.connections.per.ip: 0 keeps everyone out").count();
    assert_eq!(told, 1, "{problems}");
    let named = r#""max.connections.per.ip.overrides" = "127.0.0.1:9""#;
    assert!(load(&format!("max.connections.per.ip = 0\n{named}")).is_ok());
}

#[test]
fn a_file_that_is_no_configuration_is_refused_before_it_is_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.toml");
    let sparse = File::create(&file).unwrap();
    sparse.set_len(1 << 40).unwrap();
    let refused = |path: &Path| Config::load(Some(path), &[]).unwrap_err().to_string();
    assert!(refused(&file).contains("cannot be read: it has more than"));
    std::fs::write(&file, b"a = \xff").unwrap();
    assert!(refused(&file).contains("cannot be read: it is no UTF-8 text"));
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let socket = folder.path().join("socket");
    let _bound = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    for no_file in [folder.path(), &pipe, &socket, Path::new("/dev/zero")] {
        assert!(refused(no_file).contains("cannot be read: it is not a file"));
    }
}

#[test]
fn the_first_of_very_many_problems_are_listed_and_the_rest_is_counted() {
    let lines: Vec<String> = (0..300_000).map(|it| format!("num.partition{it} = 1")).collect();
    let text = lines.join("\n");
    let problems = load(&text).unwrap_err();
    assert_eq!(problems.0.len(), 300_000);
    let told = problems.to_string();
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 101);
    assert!(lines[99].starts_with("k.toml:100: num.partition99: is no setting; did you"));
    assert_eq!(lines[100], "and 299900 more");
}

#[test]
fn folders_that_would_hold_each_others_files_are_refused() {
    for (text, key) in [
        ("log.dirs = \"d,d/x\"", "log.dirs: "),
        ("log.dirs = \"e/f/g,b,e/f\"", "log.dirs: "),
        ("log.dirs = \"d\"\nklamm.plugin.dir = \"./d\"", "klamm.plugin.dir: "),
        ("log.dirs = \"b,d\"\nklamm.plugin.dir = \"d/plugins\"", "klamm.plugin.dir: "),
    ] {
        let problems = load(text).unwrap_err().to_string();
        assert!(problems.contains(key) && problems.contains(" lies in "), "{problems}");
    }
    assert!(load("log.dirs = \"d,dx\"\nklamm.plugin.dir = \"d-plugins\"").is_ok());
}

#[test]
fn every_address_path_and_duration_is_checked_at_once() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().display();
    let text = format!(
        "klamm.http.listen = \":9644\"\nlisteners = \"PLAINTEXT://a b:9092\"\n\
         advertised.listeners = \"PLAINTEXT://127.0.0.300:1\"\nlog.dirs = \"{path}\"\n\
         klamm.plugin.dir = \"{path}/below\"\ncontroller.quorum.voters = \"1@host\"\n\
         listener.security.protocol.map = \"PLAINTEXT\"\n\
         klamm.plugin.call.timeout.ms = 18446744073709551615\n\
         [klamm.alert.sinks.am]\ntype = \"alertmanager\"\nurl = \"http://:9093\"\n"
    );
    let problems = load(&text).unwrap_err();
    let keys: Vec<&str> = problems.0.iter().map(|it| it.key.as_str()).collect();
    assert_eq!(
        keys,
        [
            "klamm.http.listen",
            "listeners",
            "advertised.listeners",
            "log.dirs",
            "klamm.plugin.dir",
            "controller.quorum.voters",
            "listener.security.protocol.map",
            "klamm.plugin.call.timeout.ms",
            "klamm.alert.sinks.\"am\"",
        ],
        "{problems}"
    );
}

#[test]
fn two_sockets_want_two_ports() {
    for text in [
        "listeners = \"A://127.0.0.1:1,B://127.0.0.1:1\"\n\
         listener.security.protocol.map = \"A:PLAINTEXT,B:PLAINTEXT\"",
        "listeners = \"PLAINTEXT://:9644\"",
    ] {
        assert!(load(text).unwrap_err().to_string().contains("the same port"), "{text}");
    }
    let two = "listeners = \"A://127.0.0.1:0,B://127.0.0.1:0\"\n\
               listener.security.protocol.map = \"A:PLAINTEXT,B:PLAINTEXT\"";
    assert!(load(two).is_ok());
    assert!(load("log.dirs = \"a,./a\"").unwrap_err().to_string().contains("twice"));
}

#[test]
fn settings_reach_their_fields() {
    let text = "listeners = [\"PLAINTEXT://127.0.0.1:0\"]\nnum.partitions = 7\nlog.dirs = \"a,b\"\n\
                [klamm.groups.\"g?\"]\nklamm.assignor = \"sticky\"\n\
                [klamm.alert.sinks.am]\ntype = \"alertmanager\"\nurl = \"http://127.0.0.1:9093\"";
    let config = load(text).unwrap().config;
    assert_eq!(config.net.listeners[0].port, 0);
    assert_eq!(config.node.num_partitions, 7);
    assert_eq!(config.log.dirs.len(), 2);
    assert_eq!(config.group_patterns.find("g1").unwrap()["klamm.assignor"], "sticky");
    assert_eq!(config.alert.sinks["am"].kind, SinkKind::Alertmanager);
}

/// All that the `server.properties` of Kafka 4.1 sets.
#[test]
fn kafkas_own_file_with_its_texts_in_quotes_is_a_configuration() {
    let text = "process.roles = \"broker,controller\"\nnode.id = 1\n\
                controller.quorum.bootstrap.servers = \"localhost:9093\"\n\
                listeners = \"PLAINTEXT://:9092,CONTROLLER://:9093\"\n\
                inter.broker.listener.name = \"PLAINTEXT\"\n\
                advertised.listeners = \"PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093\"\n\
                controller.listener.names = \"CONTROLLER\"\n\
                listener.security.protocol.map = \"CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL\"\n\
                num.network.threads = 3\nnum.io.threads = 8\nsocket.send.buffer.bytes = 102400\n\
                socket.receive.buffer.bytes = 102400\nsocket.request.max.bytes = 104857600\n\
                log.dirs = \"kraft-combined-logs\"\nnum.partitions = 1\n\
                num.recovery.threads.per.data.dir = 2\noffsets.topic.replication.factor = 1\n\
                share.coordinator.state.topic.replication.factor = 1\n\
                share.coordinator.state.topic.min.isr = 1\n\
                transaction.state.log.replication.factor = 1\ntransaction.state.log.min.isr = 1\n\
                log.retention.hours = 168\nlog.segment.bytes = 1073741824\n\
                log.retention.check.interval.ms = 300000\n";
    let loaded = load(text).unwrap();
    assert!(loaded.meaningless.contains(&"share.coordinator.state.topic.min.isr".into()));
    assert_eq!(loaded.config.broker_listeners().count(), 1);
}

#[test]
fn what_means_nothing_here_is_accepted_and_what_would_be_unsafe_is_not() {
    assert_eq!(load("num.io.threads = 8").unwrap().meaningless, ["num.io.threads"]);
    assert!(load("sasl.enabled.mechanisms = \"PLAIN\"").is_err());
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    let text = "group.min.session.timeout.ms = 90\ngroup.max.session.timeout.ms = 80";
    let problems = load(text).unwrap_err().to_string();
    assert!(problems.contains("k.toml:1: group.min.session.timeout.ms: 90 is above"), "{problems}");
}

#[test]
fn settings_of_consumer_groups_that_contradict_each_other_are_refused() {
    for (text, want) in [
        (
            "group.consumer.session.timeout.ms = 6000",
            "group.consumer.session.timeout.ms: 6000 is below group.consumer.min.session.timeout.ms (45000)",
        ),
        (
            "group.consumer.heartbeat.interval.ms = 15001",
            "group.consumer.heartbeat.interval.ms: 15001 is above group.consumer.max.heartbeat.interval.ms (15000)",
        ),
        (
            "group.consumer.min.heartbeat.interval.ms = 15001",
            "group.consumer.min.heartbeat.interval.ms (15001) is above group.consumer.max.heartbeat.interval.ms (15000)",
        ),
        (
            "group.consumer.min.session.timeout.ms = 1\ngroup.consumer.session.timeout.ms = 5000",
            "group.consumer.heartbeat.interval.ms: 5000 is not below group.consumer.session.timeout.ms (5000)",
        ),
        ("group.consumer.assignors = []", "group.consumer.assignors: needs an assignor"),
        (
            "group.coordinator.rebalance.protocols = \"consumer\"",
            "k.toml:1: group.coordinator.rebalance.protocols: must name classic",
        ),
        (
            "[klamm.groups.\"g*\"]\nconsumer.session.timeout.ms = 1000",
            "k.toml:2: klamm.groups: \"g*\": consumer.session.timeout.ms must be greater than or equal to",
        ),
        (
            "[klamm.groups.\"g*\"]\nconsumer.session.timeout.ms = \"soon\"",
            "Not a number of type INT",
        ),
    ] {
        let problems = load(text).unwrap_err().to_string();
        assert!(problems.contains(want), "{problems}");
    }
    let text = "[klamm.groups.\"g*\"]\nconsumer.session.timeout.ms = 50000";
    let patterns = load(text).unwrap().config.group_patterns;
    assert_eq!(patterns.find("g").unwrap()["consumer.session.timeout.ms"], "50000");
}

#[test]
fn how_often_logs_are_looked_at_is_also_when_they_are_flushed_unless_that_is_said() {
    let flush_ms = |text: &str| load(text).unwrap().config.topic_defaults.get("flush.ms").cloned();
    assert_eq!(flush_ms("node.id = 1"), None);
    assert_eq!(flush_ms("log.flush.scheduler.interval.ms = 500").as_deref(), Some("500"));
    let both = "log.flush.scheduler.interval.ms = 500\nlog.flush.interval.ms = 7";
    assert_eq!(flush_ms(both).as_deref(), Some("7"));
}

/// Every setting with its default, none commented out.
fn every_setting() -> String {
    let defaults = print_defaults();
    let is_setting = |it: &&str| it.contains(" = ");
    let lines = defaults.lines().filter(is_setting).map(|it| it.trim_start_matches("# "));
    lines.fold(String::new(), |text, line| text + line + "\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_a_file_holds_is_good_or_told(text in edited(&every_setting())) {
        if let Err(problems) = load(&text) {
            prop_assert!(!problems.to_string().is_empty());
        }
    }
}
