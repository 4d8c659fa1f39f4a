//! The subcommands as a person types them: what they print, how they end.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{Command, Output, Stdio},
    thread,
};

use crate::support::{Broker, eventually};

mod groups;

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_klamm"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a subcommand against a broker, to its end.
fn klamm(broker: &Broker, arguments: &[&str], input: &[u8]) -> Output {
    let mut command = command(arguments);
    command.env("KLAMM_BOOTSTRAP", broker.address().to_string());
    command.env("KLAMM_HTTP", broker.http_address().to_string());
    let mut child = command.spawn().expect("the binary starts");
    // It may end before it has read all.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn succeeds(broker: &Broker, arguments: &[&str], input: &[u8]) -> (String, String) {
    let output = klamm(broker, arguments, input);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{arguments:?}: {err}");
    (out, err)
}

#[track_caller]
fn fails(broker: &Broker, arguments: &[&str], want: &str) {
    let output = klamm(broker, arguments, b"");
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    let told = text(&output.stderr);
    assert!(told.contains(want), "{arguments:?} tells {told:?} without {want:?}");
}

#[test]
fn lines_come_back_as_they_were_sent_whatever_their_bytes() {
    let broker = Broker::start();
    let (_, told) = succeeds(&broker, &["produce", "orders"], b"a\xff\r\n\nlast");
    assert!(told.contains("made the topic orders, which did not exist; partitions: 1"), "{told}");
    let output = klamm(&broker, &["consume", "orders", "--exit"], b"");
    assert_eq!(output.stdout, b"a\xff\r\n\nlast\n");
    let (_, told) = succeeds(&broker, &["produce", "orders"], b"");
    assert_eq!(told, "0 records sent to orders\n");
    let (_, told) = succeeds(&broker, &["produce", "order"], b"x");
    assert!(told.contains("did you mean orders?"), "{told}");
    succeeds(&broker, &["produce", "t1"], b"x");
    let (_, told) = succeeds(&broker, &["produce", "t3"], b"x");
    assert!(!told.contains("did you mean"), "short names are all near: {told}");
}

#[test]
fn what_is_not_there_is_named_with_what_is() {
    let broker = Broker::with(&[("auto.create.topics.enable", "false")]);
    broker.client().create_topic("orders", 6, &[]);
    let partition = "orders has no partition 99, but 0 to 5";
    fails(&broker, &["consume", "orders", "-p", "99"], partition);
    fails(&broker, &["produce", "orders", "-p", "99"], partition);
    fails(&broker, &["consume", "order"], "there is no topic order; did you mean orders?");
    fails(&broker, &["produce", "order"], "the broker does not make it; did you mean orders?");
    fails(&broker, &["group", "describe", "nobody"], "Group nobody not found");
    fails(&broker, &["group", "delete", "nobody"], "GROUP_ID_NOT_FOUND");
    let meant = "there is no topic order; did you mean orders?";
    fails(&broker, &["topic", "describe", "order"], meant);
    fails(&broker, &["topic", "alter", "order", "-p", "9"], meant);
    fails(&broker, &["topic", "delete", "order"], meant);
}

#[test]
fn a_line_that_is_too_long_fails_alone_and_is_named() {
    let broker = Broker::start();
    let input = [b"first\n".to_vec(), vec![b'x'; 10_000_000], b"\nthird\n".to_vec()].concat();
    let output = klamm(&broker, &["produce", "t"], &input);
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stderr);
    assert!(
        told.contains("1 record sent") && told.contains("not acknowledged: line 2: t-0: "),
        "{told}"
    );
    assert!(told.contains("MESSAGE_TOO_LARGE"), "{told}");
    assert_eq!(succeeds(&broker, &["consume", "t", "--exit"], b"").0, "first\n");
}

/// Bad arguments: exit status 2, before any broker is asked.
#[track_caller]
fn is_refused(arguments: &[&str], want: &str) {
    let output = command(arguments).output().unwrap();
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
    assert!(told.contains(want), "{arguments:?} tells {told:?} without {want:?}");
}

#[test]
fn arguments_that_ask_for_nothing_possible_are_refused_with_what_to_type() {
    is_refused(&["topic", "alter", "t"], "--partitions <PARTITIONS>");
    is_refused(&["group", "alter", "g"], "--delete-config <KEY>");
    is_refused(&["topic", "list", "-b", "foo"], "`foo` is not HOST:PORT");
    is_refused(&["topic", "list", "-b", "a:1,b:x"], "`b:x` is not HOST:PORT");
    is_refused(&["topic", "list", "-b", ","], "no address was given");
    is_refused(&["plugin", "list", "--http", "foo"], "`foo` is not HOST:PORT");
    is_refused(&["plugin", "list", "-b", "127.0.0.1:9092"], "--http");
}

#[test]
fn another_protocols_answer_is_told_as_such() {
    let broker = Broker::start();
    let http = broker.http_address().to_string();
    fails(&broker, &["topic", "list", "-b", &http], &format!("no Kafka broker answers at {http}"));
}

#[test]
fn a_topic_grows_and_is_configured_in_one_call_and_each_failure_is_told() {
    let broker = Broker::start();
    broker.client().create_topic("orders", 2, &[]);
    let alter = |arguments: &[&'static str]| [&["topic", "alter", "orders"], arguments].concat();
    let (out, _) = succeeds(&broker, &alter(&["-p", "3", "-c", "segment.ms=60000"]), b"");
    assert_eq!(out, "orders: partitions: 3\norders: altered\n");
    // No shrinking; the config is set all the same.
    let shrink = alter(&["-p", "1", "-c", "segment.ms=70000"]);
    fails(&broker, &shrink, "INVALID_PARTITIONS");
    let (out, _) = succeeds(&broker, &["topic", "describe", "orders"], b"");
    assert!(out.contains("partition 2:") && out.contains("segment.ms=70000"), "{out}");
    let both = alter(&["-p", "1", "-c", "segment.ms=never"]);
    fails(&broker, &both, "INVALID_PARTITIONS");
    fails(&broker, &both, "segment.ms");
    let slip = "there is no config segment.m; did you mean segment.ms?";
    fails(&broker, &alter(&["--delete-config", "segment.m"]), slip);
    succeeds(&broker, &alter(&["--delete-config", "segment.ms"]), b"");
}

#[test]
fn lines_of_a_routed_topic_are_stored_in_their_order() {
    let broker = Broker::start();
    let example = "/examples/partitioner-by-tenant/partitioner-by-tenant.wasm";
    let wasm = std::fs::read(format!("{}{example}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    broker.load_plugin("by-tenant", &wasm);
    let of_tenant: fn(usize) -> String = |it| format!("{}:{it}={it}", ["acme", "zeta"][it % 2]);
    let of_key: fn(usize) -> String = |it| format!("k{}={it}", it % 7);
    for (topic, plugin, line, beginnings) in [
        ("tenants", "by-tenant", of_tenant, ["acme:", "zeta:"]),
        ("keys", "key-ordering", of_key, ["k0=", "k6="]),
    ] {
        broker.client().create_topic(topic, 6, &[("klamm.partitioner", plugin)]);
        let lines: Vec<String> = (0..200).map(line).collect();
        let input = lines.join("\n");
        let (_, told) = succeeds(&broker, &["produce", topic, "-K", "="], input.as_bytes());
        assert_eq!(told, format!("200 records sent to {topic}\n"));
        let (out, _) = succeeds(&broker, &["consume", topic, "--exit", "-K", "="], b"");
        assert_eq!(out.lines().count(), 200);
        for beginning in beginnings {
            let kept = |it: &&str| it.starts_with(beginning);
            let got: Vec<&str> = out.lines().filter(kept).collect();
            let sent: Vec<&str> = lines.iter().map(String::as_str).filter(kept).collect();
            assert_eq!(got, sent, "{topic}");
        }
    }
}

#[test]
fn what_is_stored_is_counted_though_other_partitions_refuse_theirs() {
    let broker = Broker::start();
    broker.client().create_topic("t", 2, &[("max.message.bytes", "300")]);
    // Keys of other partitions each: the long line is alone in its own.
    let key_of = |partition: i32| {
        let found = (0..50).map(|it| format!("k{it}")).find(|key| {
            let line = format!("{key}=probe\n");
            let before = broker.client().values("t", partition).len();
            succeeds(&broker, &["produce", "t", "-K", "="], line.as_bytes());
            broker.client().values("t", partition).len() > before
        });
        found.unwrap()
    };
    let (small, large) = (key_of(0), key_of(1));
    let input = format!("{small}=1\n{large}={}\n{small}=2\n", "x".repeat(500));
    let output = klamm(&broker, &["produce", "t", "-K", "="], input.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stderr);
    assert!(told.contains("2 records sent to t\n"), "{told}");
    assert!(told.contains("not acknowledged: line 2: t-1: MESSAGE_TOO_LARGE"), "{told}");
    assert!(broker.client().values("t", 0).ends_with(&["1".into(), "2".into()]));
}

#[test]
fn a_line_without_separator_is_counted_and_its_key_printed_as_null() {
    let broker = Broker::start();
    let (_, told) = succeeds(&broker, &["produce", "t", "-K", "="], b"a=1\nb\n");
    assert!(told.contains("1 line without `=`: sent without a key\n2 records sent to t"), "{told}");
    let (out, _) = succeeds(&broker, &["consume", "t", "--exit", "-K", "="], b"");
    assert_eq!(out, "a=1\nnull=b\n");
    let (out, _) = succeeds(&broker, &["consume", "t", "--exit", "--verbose"], b"");
    let first = out.lines().next().unwrap();
    assert!(first.starts_with("CreateTime:"), "{out}");
    assert!(first.ends_with("\tPartition:0\tOffset:0\tNO_HEADERS\ta\t1"), "{out}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let broker = Broker::start();
    succeeds(&broker, &["produce", "t"], &b"a line\n".repeat(50_000));
    let mut child = command(&["consume", "t", "--bootstrap", &broker.address().to_string()]);
    let mut child = child.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "a line\n");
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
}

#[test]
fn what_trickles_in_is_sent_at_once() {
    let broker = Broker::start();
    broker.client().create_topic("t", 1, &[]);
    let mut child = command(&["produce", "t", "--bootstrap", &broker.address().to_string()]);
    let mut child = child.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"now\n").unwrap();
    eventually("the line is stored while the input is open", || {
        (broker.client().values("t", 0) == ["now"]).then_some(())
    });
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_broker_that_goes_away_is_a_failure_and_no_silence() {
    let dying = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = dying.local_addr().unwrap().to_string();
    let serve = thread::spawn(move || {
        let (mut stream, _) = dying.accept().unwrap();
        stream.read_exact(&mut [0; 4]).unwrap();
    });
    let output = command(&["topic", "list", "--bootstrap", &address]).output().unwrap();
    serve.join().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stderr);
    assert!(told.contains("the broker closed the connection"), "{told}");
}

#[test]
fn the_list_of_plugins_has_a_header_and_shows_files_that_nothing_comes_of() {
    let mut broker = Broker::start();
    broker.announce("is passed over");
    broker.put_plugin_file("My Plugin.wasm", b"x");
    broker.wait_for_log("a file of the plugin folder is passed over");
    let list = eventually("the file is shown", || {
        let list = succeeds(&broker, &["plugin", "list"], b"").0;
        list.contains("My Plugin.wasm").then_some(list)
    });
    assert!(list.starts_with("NAME "), "{list}");
    assert!(list.lines().next().unwrap().ends_with("STATE"), "{list}");
}

#[test]
fn only_a_plugin_that_is_there_can_be_rolled_back() {
    let broker = Broker::start();
    let status = |name: &str| {
        let mut stream = TcpStream::connect(broker.http_address()).unwrap();
        let head = format!("POST /v1/plugins/{name}/rollback HTTP/1.0\r\nHost: klamm\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(status("nobody"), "404");
    assert_eq!(status("sticky"), "409");
}

#[test]
fn a_bad_configuration_is_told_whole_with_exit_status_2() {
    let mut command = command(&["serve", "--set", "klamm.http.listen=:9644"]);
    let command =
        command.args(["--set", "listeners=PLAINTEXT://a b:1", "--set", "num.partitions=0"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = text(&output.stderr);
    for want in [
        "--set: klamm.http.listen: names no host: 127.0.0.1:9644",
        "--set: listeners: ",
        "--set: num.partitions: `0` is not a whole number from 1 to 10000",
    ] {
        assert!(told.contains(want), "{told}has no\n{want}");
    }
}

/// The reader of standard error goes away behind the ready line.
#[test]
fn a_node_serves_in_little_address_space_and_without_a_reader_of_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 12000000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_klamm")]);
    command.current_dir(folder.path()).stderr(Stdio::piped()).arg("serve");
    for set in [
        "listeners=PLAINTEXT://127.0.0.1:0",
        "klamm.http.listen=127.0.0.1:0",
        "klamm.plugin.threads=2",
        "klamm.plugin.load.timeout.ms=60000",
    ] {
        command.args(["--set", set]);
    }
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let before: Vec<String> = lines.by_ref().take_while(|it| !it.contains("is ready")).collect();
    drop(lines);
    let warned = before.iter().filter(|it| it.contains("WARN")).count();
    assert_eq!(warned, 1, "{before:#?}");
    assert!(before.iter().any(|it| it.contains("ulimit -v")), "{before:#?}");
    assert_eq!(before.iter().filter(|it| it.contains("plugin is loaded")).count(), 7);
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_cache_that_cannot_be_used_is_told_once_and_stops_nobody() {
    let mut broker = Broker::start();
    let cache = broker.data_dir().join("plugin-cache");
    std::fs::remove_file(&cache).unwrap();
    std::fs::write(&cache, b"no folder").unwrap();
    broker.announce("their cache cannot be used");
    broker.terminate_and_restart();
    broker.wait_for_log("their cache cannot be used");
    assert_eq!(broker.plugin("sticky").unwrap().last_error, None);
}
