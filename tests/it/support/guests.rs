//! Plugins made for a test: text with the body that the test wants, in a component that the broker loads from its folder.

use klamm::plugin::HookKind;

use text::{Text, list, ok};

#[path = "../../../src/plugin/tests/text.rs"]
#[expect(dead_code, reason = "the broker's own tests of plugins use the rest")]
mod text;

/// A partitioner by the last digit of the key, counted from the first partition or from the last one. Null keys and
/// empty ones go to partition 0.
pub(crate) fn by_last_digit(version: &'static str, from_the_end: bool) -> Vec<u8> {
    let place = if from_the_end {
        "(i32.sub (i32.sub (i32.load offset=8 (local.get $batch)) (i32.const 1)) (local.get $digit))"
    } else {
        "(local.get $digit)"
    };
    let answer = list(4, "(i32.const 524288)", "(i32.load offset=12 (local.get $batch))");
    let body = format!(
        "(local $digit i32) (local $end i32) (local $len i32)
         (local.set $end (i32.load offset=16 (local.get $batch)))
         (block $done (loop $next
           (br_if $done (i32.ge_u (local.get $i) (i32.load offset=12 (local.get $batch))))
           (local.set $len (i32.load (i32.add (i32.load offset=24 (local.get $batch))
             (i32.shl (local.get $i) (i32.const 2)))))
           (local.set $digit (i32.const 0))
           (if (i32.gt_s (local.get $len) (i32.const 0)) (then
             (local.set $end (i32.add (local.get $end) (local.get $len)))
             (local.set $digit (i32.rem_u (i32.sub (i32.load8_u (i32.sub (local.get $end) (i32.const 1)))
               (i32.const 48)) (i32.load offset=8 (local.get $batch))))))
           (i32.store (i32.add (i32.const 524288) (i32.shl (local.get $i) (i32.const 2))) {place})
           (local.set $i (i32.add (local.get $i) (i32.const 1)))
           (br $next)))
         {answer}"
    );
    Text { key_pure: true, ..Text::good(HookKind::Partitioner) }.version(version).call(body).wasm()
}

/// A transform by the first letter of the value: `d` drops, `x` replaces the value by `new`, `r` rejects, `a` raises an
/// alert; anything else is kept.
pub(crate) fn by_first_letter() -> Vec<u8> {
    Text::good(HookKind::Transform).call(BY_FIRST_LETTER).wasm()
}

/// Actions at 524288, lengths at 600000, replacement data at 700000, reasons at 850000, alerts at 900000.
const BY_FIRST_LETTER: &str = r"
  (local $entry i32) (local $letter i32) (local $replaced i32) (local $data i32) (local $reasons i32) (local $alerts i32)
  (local $key i32)
  (local.set $data (i32.const 700000))
  (i32.store16 (i32.const 840000) (i32.const 0x656e)) (i32.store8 (i32.const 840002) (i32.const 0x77))
  (block $done (loop $next
    (br_if $done (i32.ge_u (local.get $i) (local.get $count)))
    (local.set $entry (i32.add (local.get 6) (i32.mul (local.get $i) (i32.const 20))))
    (local.set $letter (i32.const 0))
    (if (i32.gt_s (i32.load offset=12 (local.get $entry)) (i32.const 0)) (then
      (local.set $letter (i32.load8_u (i32.add (local.get 4) (i32.load offset=8 (local.get $entry)))))))
    (i32.store8 (i32.add (i32.const 524288) (local.get $i)) (i32.const 0))
    (if (i32.eq (local.get $letter) (i32.const 100)) (then
      (i32.store8 (i32.add (i32.const 524288) (local.get $i)) (i32.const 1))))
    (if (i32.eq (local.get $letter) (i32.const 120)) (then
      (i32.store8 (i32.add (i32.const 524288) (local.get $i)) (i32.const 2))
      (local.set $key (i32.load offset=4 (local.get $entry)))
      (i32.store (i32.add (i32.const 600000) (i32.mul (local.get $replaced) (i32.const 12))) (local.get $key))
      (i32.store (i32.add (i32.const 600004) (i32.mul (local.get $replaced) (i32.const 12))) (i32.const 3))
      (i32.store (i32.add (i32.const 600008) (i32.mul (local.get $replaced) (i32.const 12))) (i32.const -1))
      (if (i32.gt_s (local.get $key) (i32.const 0)) (then
        (memory.copy (local.get $data) (i32.add (local.get 4) (i32.load (local.get $entry))) (local.get $key))
        (local.set $data (i32.add (local.get $data) (local.get $key)))))
      (memory.copy (local.get $data) (i32.const 840000) (i32.const 3))
      (local.set $data (i32.add (local.get $data) (i32.const 3)))
      (local.set $replaced (i32.add (local.get $replaced) (i32.const 1)))))
    (if (i32.eq (local.get $letter) (i32.const 114)) (then
      (i32.store8 (i32.add (i32.const 524288) (local.get $i)) (i32.const 3))
      (i32.store (i32.add (i32.const 850000) (i32.shl (local.get $reasons) (i32.const 3))) (i32.const 602))
      (i32.store (i32.add (i32.const 850004) (i32.shl (local.get $reasons) (i32.const 3))) (i32.const 10))
      (local.set $reasons (i32.add (local.get $reasons) (i32.const 1)))))
    (if (i32.eq (local.get $letter) (i32.const 97)) (then
      (local.set $entry (i32.add (i32.const 900000) (i32.shl (local.get $alerts) (i32.const 5))))
      (memory.fill (local.get $entry) (i32.const 0) (i32.const 32))
      (i32.store (local.get $entry) (local.get $i))
      (i32.store8 offset=4 (local.get $entry) (i32.const 2))
      (i32.store offset=8 (local.get $entry) (i32.const 602)) (i32.store offset=12 (local.get $entry) (i32.const 10))
      (i32.store offset=16 (local.get $entry) (i32.const 602)) (i32.store offset=20 (local.get $entry) (i32.const 4))
      (local.set $alerts (i32.add (local.get $alerts) (i32.const 1)))))
    (local.set $i (i32.add (local.get $i) (i32.const 1)))
    (br $next)))
  (memory.fill (i32.const 2048) (i32.const 0) (i32.const 64))
  (i32.store (i32.const 2052) (i32.const 524288)) (i32.store (i32.const 2056) (local.get $count))
  (i32.store (i32.const 2060) (i32.const 700000)) (i32.store (i32.const 2064) (i32.sub (local.get $data) (i32.const 700000)))
  (i32.store (i32.const 2068) (i32.const 600000)) (i32.store (i32.const 2072) (i32.mul (local.get $replaced) (i32.const 3)))
  (i32.store (i32.const 2084) (i32.const 850000)) (i32.store (i32.const 2088) (local.get $reasons))
  (i32.store (i32.const 2092) (i32.const 900000)) (i32.store (i32.const 2096) (local.get $alerts))
  (global.get $out)";

/// A transform that answers its smoke call, and then does this.
pub(crate) fn hostile_transform(body: &str) -> Vec<u8> {
    Text::good(HookKind::Transform).later(body).wasm()
}

/// A transform that keeps all records, and takes so many more pages of memory (64 KiB) at each call after its smoke call.
pub(crate) fn grows_by(pages: u32) -> Vec<u8> {
    hostile_transform(&format!("(drop (memory.grow (i32.const {pages}))) {}", ok()))
}

/// A transform that never ends `configure`.
pub(crate) fn loops_in_configure() -> Vec<u8> {
    Text::good(HookKind::Transform).configure("(call $loop) unreachable").wasm()
}
