//! Components as text: what a toolchain would make, with the bodies that a test wants.
//!
//! The canonical ABI passes a partitioner's batch by pointer and a transform's in sixteen words; answers are pointers
//! to memory laid out as the comments tell. Memory from 64 KiB on is the guest's heap; below it lie answers.

use crate::plugin::HookKind;

/// The bodies of a guest's functions, in core WebAssembly text. `$out` (an address) may be used for answers.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) hook: HookKind,
    pub(super) version: &'static str,
    pub(super) key_pure: bool,
    /// `(param $ptr i32) (param $len i32) (result i32)`.
    pub(super) configure: String,
    /// `(result i32)`, what comes after the description was laid out.
    pub(super) describe: String,
    /// See [`call_type`].
    pub(super) call: String,
    /// An import that nobody grants.
    pub(super) import: &'static str,
}

/// Gives all partitions of the first topic to the first member, numbered from 0.
const ALL_TO_THE_FIRST: &str = "
    (memory.fill (i32.const 2048) (i32.const 0) (i32.const 64))
    (if (local.get 5) (then
      (i32.store (i32.const 2052) (i32.const 4096)) (i32.store (i32.const 2056) (i32.const 1))
      (i64.store (i32.const 4096) (i64.load (local.get 2)))
      (i32.store (i32.const 4104) (i32.const 4200)) (i32.store (i32.const 4108) (i32.const 1))
      (i64.store (i32.const 4200) (i64.load (local.get 4)))
      (i32.store (i32.const 4208) (i32.const 4304))
      (i32.store (i32.const 4212) (i32.load offset=12 (local.get 4)))
      (loop $next
        (i32.store (i32.add (i32.const 4304) (i32.shl (local.get $i) (i32.const 2))) (local.get $i))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br_if $next (i32.lt_u (local.get $i) (i32.load (i32.const 4212)))))))
    (global.get $out)";

/// Address of the hook's answer. Zero there is `ok` with empty lists.
const OUT: u32 = 2048;

impl Text {
    /// A guest that does nothing wrong: all to partition 0, all kept; an assignor that answers with nothing.
    pub(super) fn good(hook: HookKind) -> Self {
        Self {
            hook,
            version: "1.0.0",
            key_pure: false,
            configure: ok().into(),
            describe: String::new(),
            call: match hook {
                HookKind::Partitioner => zeros("(i32.load offset=12 (local.get $batch))"),
                HookKind::Assignor => ALL_TO_THE_FIRST.into(),
                HookKind::Transform => ok().into(),
            },
            import: "",
        }
    }

    /// Answers the smoke call well, and every later call with this body, which leaves an `i32`.
    pub(super) fn later(self, body: &str) -> Self {
        let topic_len = match self.hook {
            HookKind::Partitioner => "(i32.load offset=4 (local.get $batch))",
            HookKind::Assignor | HookKind::Transform => "(local.get 1)",
        };
        let call = format!(
            "(if (i32.ne {topic_len} (i32.const 16)) (then (return (block (result i32) {body})))) {}",
            self.call
        );
        Self { call, ..self }
    }

    pub(super) fn call(self, call: impl Into<String>) -> Self {
        Self { call: call.into(), ..self }
    }

    pub(super) fn configure(self, configure: impl Into<String>) -> Self {
        Self { configure: configure.into(), ..self }
    }

    pub(super) fn version(self, version: &'static str) -> Self {
        Self { version, ..self }
    }

    pub(super) fn wasm(&self) -> Vec<u8> {
        wat::parse_str(self.wat()).unwrap_or_else(|error| panic!("{error}\n{}", self.wat()))
    }

    fn wat(&self) -> String {
        let Self { hook, version, key_pure, configure, describe, call, import } = self;
        let (types, instance, name) = interface(*hook);
        let (params, version_len) = (params(*hook), version.len());
        let key_pure = i32::from(*key_pure);
        format!(
            r#"(component
  {import}
  (import "klamm:plugin/log@1.0.0" (instance $log
    (type $l (enum "debug" "info" "warn" "error"))
    (export "level" (type $level (eq $l)))
    (export "write" (func (param "level" $level) (param "text" string)))))
  (core module $libc
    (memory (export "memory") 16)
    (global $heap (mut i32) (i32.const 65536))
    (func (export "reset") (param i32) (global.set $heap (i32.const 65536)))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      (local $at i32)
      (local.set $at (i32.and (i32.add (global.get $heap) (i32.const 7)) (i32.const -8)))
      (global.set $heap (i32.add (local.get $at) (local.get 3)))
      (block $fits
        (br_if $fits (i32.le_u (global.get $heap) (i32.mul (memory.size) (i32.const 65536))))
        (br_if $fits (i32.ne (i32.const -1) (memory.grow (i32.add (i32.const 1) (i32.shr_u (local.get 3) (i32.const 16))))))
        unreachable)
      (local.get $at)))
  (core instance $libc (instantiate $libc))
  (core func $write (canon lower (func $log "write") (memory (core memory $libc "memory")) string-encoding=utf8))
  (core module $main
    (import "libc" "memory" (memory 0))
    (import "log" "write" (func $log (param i32 i32 i32)))
    (global $out i32 (i32.const {OUT}))
    (global $state (mut i32) (i32.const 0))
    (data (i32.const 512) "{version}")
    (data (i32.const 600) "{{}}test guest")
    (func (export "describe") (result i32)
      (i32.store (i32.const 1024) (i32.const 602)) (i32.store (i32.const 1028) (i32.const 10))
      (i32.store (i32.const 1032) (i32.const 512)) (i32.store (i32.const 1036) (i32.const {version_len}))
      (i32.store (i32.const 1040) (i32.const 602)) (i32.store (i32.const 1044) (i32.const 10))
      (i32.store8 (i32.const 1048) (i32.const 15)) (i32.store8 (i32.const 1049) (i32.const {key_pure}))
      (i32.store (i32.const 1052) (i32.const 600)) (i32.store (i32.const 1056) (i32.const 2))
      {describe}
      (i32.const 1024))
    (func $loop (loop $again (br $again)))
    (func $recurse (call $recurse) (call $recurse))
    (func (export "configure") (param $ptr i32) (param $len i32) (result i32) {configure})
    (func (export "call") {params} (result i32) (local $i i32) {call}))
  (core instance $main (instantiate $main
    (with "libc" (instance $libc))
    (with "log" (instance (export "write" (func $write))))))
  (type $needs-d (flags "keys" "values" "headers" "timestamps"))
  (export $needs "needs" (type $needs-d))
  (type $description-d (record (field "name" string) (field "version" string) (field "summary" string)
    (field "needs" $needs) (field "key-pure" bool) (field "settings" string)))
  (export $description "description" (type $description-d))
  (func $describe (result $description) (canon lift (core func $main "describe")
    (memory (core memory $libc "memory")) string-encoding=utf8))
  (func $configure (param "settings" string) (result (result (error string))) (canon lift
    (core func $main "configure") (memory (core memory $libc "memory")) (realloc (core func $libc "realloc")) string-encoding=utf8))
  (instance $plugin
    (export "describe" (func $describe))
    (export "configure" (func $configure)))
  (export "klamm:plugin/plugin@1.0.0" (instance $plugin))
  {types}
  (func $hook {instance} (canon lift (core func $main "call") (memory (core memory $libc "memory"))
    (realloc (core func $libc "realloc")) (post-return (core func $libc "reset")) string-encoding=utf8))
  (instance $hook (export "{func}" (func $hook)))
  (export "klamm:plugin/{name}@1.0.0" (instance $hook)))"#,
            func = func_name(*hook),
        )
    }
}

/// `ok` with nothing in it.
pub(super) fn ok() -> &'static str {
    "(memory.fill (i32.const 2048) (i32.const 0) (i32.const 64)) (global.get $out)"
}

/// `err("test guest")`.
pub(super) fn err() -> &'static str {
    "(i32.store8 (i32.const 2048) (i32.const 1)) (i32.store (i32.const 2052) (i32.const 602))
     (i32.store (i32.const 2056) (i32.const 10)) (global.get $out)"
}

/// `ok` with a list of so many zero words in the guest's untouched memory.
pub(super) fn zeros(count: &str) -> String {
    list(4, "(i32.const 524288)", count)
}

/// `ok` with a list at a word of the answer.
pub(super) fn list(word: u32, ptr: &str, len: &str) -> String {
    format!(
        "(memory.fill (i32.const 2048) (i32.const 0) (i32.const 64))
         (i32.store (i32.const {}) {ptr}) (i32.store (i32.const {}) {len}) (global.get $out)",
        OUT + word,
        OUT + word + 4
    )
}

fn params(hook: HookKind) -> &'static str {
    match hook {
        HookKind::Partitioner => "(param $batch i32)",
        HookKind::Assignor => "(param i32 i32 i32 i32 i32 i32)",
        HookKind::Transform => {
            "(param i32 i32 i32) (param $count i32) (param i32 i32 i32 i32 i32 i32 i32 i32 f64 f64)
             (param $state-ptr i32) (param $state-len i32)"
        }
    }
}

fn func_name(hook: HookKind) -> &'static str {
    match hook {
        HookKind::Partitioner => "partition",
        HookKind::Assignor => "assign",
        HookKind::Transform => "process",
    }
}

/// The types, the function's type, and the interface.
fn interface(hook: HookKind) -> (&'static str, &'static str, &'static str) {
    match hook {
        HookKind::Partitioner => (
            r#"(type $batch-d (record (field "topic" string) (field "partitions" u32) (field "count" u32)
                (field "keys" (list u8)) (field "key-lens" (list s32)) (field "values" (list u8))
                (field "value-lens" (list s32)) (field "headers" (list u8)) (field "header-lens" (list s32))
                (field "sequence" u32) (field "seed" u32)))
              (export $batch "batch" (type $batch-d))"#,
            r#"(param "batch" $batch) (result (result (list u32) (error string)))"#,
            "partitioner",
        ),
        HookKind::Assignor => (
            r#"(type $tp-d (record (field "topic" string) (field "partitions" (list u32))))
              (export $tp "topic-partitions" (type $tp-d))
              (type $member-d (record (field "id" string) (field "instance-id" (option string))
                (field "rack" (option string)) (field "client-id" string) (field "topics" (list string))
                (field "user-data" (list u8)) (field "owned" (list $tp))))
              (export $member "member" (type $member-d))
              (type $partition-d (record (field "index" u32) (field "leader" s32) (field "racks" (list string))
                (field "lag" s64) (field "log-end-offset" s64) (field "byte-rate" f64)))
              (export $partition "partition" (type $partition-d))
              (type $topic-d (record (field "name" string) (field "partitions" (list $partition))))
              (export $topic "topic" (type $topic-d))
              (type $group-d (record (field "id" string) (field "members" (list $member)) (field "topics" (list $topic))))
              (export $group "group" (type $group-d))
              (type $assignment-d (record (field "member-id" string) (field "partitions" (list $tp))))
              (export $assignment "assignment" (type $assignment-d))"#,
            r#"(param "group" $group) (result (result (list $assignment) (error string)))"#,
            "assignor",
        ),
        HookKind::Transform => (
            r#"(type $batch-d (record (field "topic" string) (field "partition" u32) (field "count" u32)
                (field "data" (list u8)) (field "index" (list s32)) (field "headers" (list s32))
                (field "header-counts" (list s32)) (field "base-timestamp" f64) (field "now-ms" f64)
                (field "state" (list u8))))
              (export $batch "batch" (type $batch-d))
              (type $replacements-d (record (field "data" (list u8)) (field "lens" (list s32)) (field "header-lens" (list s32))))
              (export $replacements "replacements" (type $replacements-d))
              (type $severity-d (enum "info" "warning" "error" "critical"))
              (export $severity "severity" (type $severity-d))
              (type $alert-d (record (field "record" u32) (field "severity" $severity) (field "title" string)
                (field "fingerprint" string) (field "labels" (list (tuple string string)))))
              (export $alert "alert" (type $alert-d))
              (type $output-d (record (field "actions" (list u8)) (field "replaced" $replacements)
                (field "reasons" (list string)) (field "alerts" (list $alert)) (field "state" (list u8))))
              (export $output "output" (type $output-d))"#,
            r#"(param "batch" $batch) (result (result $output (error string)))"#,
            "transform",
        ),
    }
}
