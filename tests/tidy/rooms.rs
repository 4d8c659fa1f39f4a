//! Which room may use which, and what it may do. The table is the truth; `ARCHITECTURE.md` explains it.

use super::{
    assert_none,
    source::{Source, rust},
};

/// A room of `src/`.
struct Room {
    name: &'static str,
    uses: Uses,
    /// Decides and never acts: no clock, no chance, no files, no sockets, no tasks.
    pure: bool,
}

/// What a room may use, besides itself and the ground below it.
enum Uses {
    These(&'static [&'static str]),
    /// The table's rooms up to this one.
    UpTo(&'static str),
}

const fn decides(name: &'static str, uses: &'static [&'static str]) -> Room {
    Room { name, uses: Uses::These(uses), pure: true }
}

const fn acts(name: &'static str, uses: &'static [&'static str]) -> Room {
    Room { name, uses: Uses::These(uses), pure: false }
}

const fn acts_up_to(name: &'static str, last: &'static str) -> Room {
    Room { name, uses: Uses::UpTo(last), pure: false }
}

const GROUND: [&str; 3] = ["base", "config", "telemetry"];

/// Lowest first.
const ROOMS: &[Room] = &[
    decides("base", &[]),
    decides("wire", &[]),
    // Topic configs speak of codecs; settings are read from a file.
    acts("config", &["wire"]),
    // The one clock that the acting rooms read.
    acts("telemetry", &[]),
    decides("machine", &[]),
    decides("metadata", &["wire"]),
    decides("group", &["wire", "machine", "metadata"]),
    decides("controller", &["wire", "machine", "metadata"]),
    decides("alert", &["wire", "machine"]),
    decides("quota", &["metadata"]),
    decides("client_metrics", &["wire", "metadata"]),
    acts("plugin", &["wire"]),
    acts("log", &["wire"]),
    acts("quorum", &["machine", "controller", "metadata", "log"]),
    acts("replica", &["wire", "metadata", "log"]),
    acts(
        "coordinator",
        &[
            "wire",
            "machine",
            "metadata",
            "group",
            "alert",
            "controller",
            "plugin",
            "log",
            "replica",
            "quorum",
        ],
    ),
    // Alerts leave a batch in the shapes of `alert`.
    acts("produce", &["wire", "metadata", "alert", "plugin", "log", "replica", "coordinator"]),
    acts_up_to("api", "produce"),
    // It sends what a log holds without reading it.
    acts("net", &["wire", "metadata", "quota", "log", "api"]),
    acts_up_to("http", "api"),
    acts_up_to("delivery", "api"),
    acts_up_to("broker", "delivery"),
    acts_up_to("cli", "broker"),
];

/// What acting looks like in code.
const ACTS: &[&str] = &[
    "tokio::",
    "std::fs",
    "fs::",
    "std::net",
    "std::thread",
    "thread::",
    "TcpStream",
    "Instant::now",
    "SystemTime::now",
    "telemetry::now",
    "rand::",
    "new_v4",
];

/// A crate that one room alone may use.
const EXCLUSIVE: &[(&str, &str)] = &[("wasmtime", "plugin"), ("openraft", "quorum")];

/// Rooms that may touch files at all, and which: data in `log`; the metadata log in `quorum`, whose files are its own;
/// `plugin` the watched folder and its cache; `config` and `cli` what the command line names.
const FILES: &[&str] = &["log", "quorum", "plugin", "config", "cli"];

fn room(name: &str) -> Option<&'static Room> {
    ROOMS.iter().find(|it| it.name == name)
}

fn rank(name: &str) -> usize {
    ROOMS.iter().position(|it| it.name == name).unwrap_or(usize::MAX)
}

fn may_use(from: &Room, used: &str) -> bool {
    let is_allowed = match from.uses {
        Uses::These(rooms) => rooms.contains(&used),
        Uses::UpTo(last) => rank(used) <= rank(last),
    };
    let is_ground = GROUND.contains(&used) && rank(used) < rank(from.name);
    used == from.name || is_ground || is_allowed
}

/// Files that are judged: those of rooms, `lib.rs` and `main.rs` apart.
fn judged() -> impl Iterator<Item = (&'static Room, Source)> {
    let ours = rust().into_iter().filter(|it| !matches!(it.room(), None | Some("lib" | "main")));
    ours.map(|source| {
        let name = source.room().unwrap_or_default();
        let room =
            room(name).unwrap_or_else(|| panic!("{}: no room `{name}` in the table", source.path));
        (room, source)
    })
}

#[test]
fn rooms_use_what_the_table_allows() {
    let mut complaints = Vec::new();
    for (room, source) in judged().filter(|(_, source)| !source.is_test()) {
        for used in rooms_used(&source.code(), depth(&source.path)) {
            if !may_use(room, &used) {
                complaints.push(format!("{}: `{}` may not use `{used}`", source.path, room.name));
            }
        }
    }
    assert_none(&complaints);
}

#[test]
fn rooms_that_decide_never_act() {
    let mut complaints = Vec::new();
    for (room, source) in judged().filter(|(room, source)| room.pure && !source.is_test()) {
        let code = source.code();
        for act in ACTS.iter().filter(|act| names(&code, act)) {
            complaints.push(format!("{}: `{}` only decides: no `{act}`", source.path, room.name));
        }
    }
    assert_none(&complaints);
}

#[test]
fn wasmtime_and_openraft_have_one_room_each() {
    let mut complaints = Vec::new();
    for (room, source) in judged() {
        let code = source.code();
        for (library, owner) in EXCLUSIVE {
            if room.name != *owner && names(&code, &format!("{library}::")) {
                complaints.push(format!("{}: only `{owner}` uses {library}", source.path));
            }
        }
    }
    assert_none(&complaints);
}

#[test]
fn files_are_touched_where_they_belong() {
    let mut complaints = Vec::new();
    for (room, source) in judged().filter(|(_, source)| !source.is_test()) {
        let code = source.code();
        let touches =
            ["std::fs", "fs::", "File::open", "File::create"].iter().any(|it| names(&code, it));
        if touches && !FILES.contains(&room.name) {
            complaints.push(format!("{}: `{}` touches files", source.path, room.name));
        }
    }
    assert_none(&complaints);
}

#[test]
fn the_table_is_in_order_and_names_what_is_there() {
    for it in ROOMS {
        let named = match it.uses {
            Uses::These(rooms) => rooms,
            Uses::UpTo(ref last) => std::slice::from_ref(last),
        };
        for used in named {
            assert!(
                rank(used) < rank(it.name),
                "`{}` uses `{used}`, which is not below it",
                it.name
            );
        }
    }
    let sources: Vec<_> = judged().map(|(room, _)| room.name).collect();
    for it in ROOMS {
        assert!(sources.contains(&it.name), "there is no room `{}`", it.name);
    }
}

/// Whether the code names it, as a word of its own.
fn names(code: &str, what: &str) -> bool {
    let part_of_word = |it: char| it.is_alphanumeric() || it == '_';
    code.match_indices(what).any(|(at, _)| !code[..at].ends_with(part_of_word))
}

/// How many `super::` lead from a file to the root: 1 in `src/a.rs` and `src/a/mod.rs`, 2 in `src/a/b.rs`.
fn depth(path: &str) -> usize {
    path.split('/').filter(|part| !matches!(*part, "src" | "mod.rs")).count()
}

/// The rooms that code names right after `crate::`, or after as many `super::` as lead to the root; or in a group that
/// follows.
fn rooms_used(code: &str, depth: usize) -> Vec<String> {
    let roots = ["crate::".to_owned(), "super::".repeat(depth)];
    let mut used: Vec<String> = roots
        .iter()
        .flat_map(|root| code.match_indices(root.as_str()).map(|(at, _)| &code[at + root.len()..]))
        .flat_map(first_words)
        .filter(|word| room(word).is_some())
        .collect();
    used.sort();
    used.dedup();
    used
}

/// What stands first in a path, or first in each path of a group `{a::b, c}`.
fn first_words(path: &str) -> Vec<String> {
    let word = |text: &str| {
        let text = text.trim_start();
        let end = text.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(text.len());
        text[..end].to_owned()
    };
    let Some(group) = path.strip_prefix('{') else { return vec![word(path)] };
    let (mut words, mut depth) = (Vec::new(), 0_usize);
    for piece in group.split_inclusive([',', '{', '}']) {
        if depth == 0 {
            words.push(word(piece));
        }
        match piece.chars().last() {
            Some('{') => depth += 1,
            Some('}') if depth == 0 => break,
            Some('}') => depth -= 1,
            _ => {}
        }
    }
    words
}

#[test]
fn grouped_imports_are_seen() {
    assert_eq!(rooms_used("use crate::wire::frame;", 2), ["wire"]);
    assert_eq!(
        rooms_used(
            "use crate::{\n    api::{Context, error::code, net},\n    base,\n};\nlet x = {log};",
            2
        ),
        ["api", "base"]
    );
}

#[test]
fn a_way_up_to_the_root_is_seen() {
    assert_eq!(rooms_used("super::super::api::handle()", depth("src/log/read.rs")), ["api"]);
    assert_eq!(rooms_used("use super::group::Group;", depth("src/log/read.rs")), [""; 0]);
    assert_eq!(rooms_used("use super::group::Group;", depth("src/log/mod.rs")), ["group"]);
}

#[test]
fn a_room_may_use_those_below_it_alone() {
    let group = room("group").unwrap();
    assert!(may_use(group, "wire") && may_use(group, "config") && may_use(group, "group"));
    assert!(!may_use(group, "plugin") && !may_use(group, "api"));
    assert!(!may_use(room("base").unwrap(), "config"));
    let http = room("http").unwrap();
    assert!(may_use(http, "plugin") && may_use(http, "api") && !may_use(http, "net"));
}

#[test]
fn a_word_within_another_is_not_that_word() {
    assert!(names("std::fs::read()", "fs::") && names("rand::rng()", "rand::"));
    assert!(!names("offsets::read()", "fs::") && !names("grand::rng()", "rand::"));
}
