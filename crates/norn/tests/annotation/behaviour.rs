//! What annotations mean, by the events that they leave and by what hunts find. Subjects with fixed twins
//! are in `subjects/annotation`.

use serde_json::Value;

use crate::kit::{events, program, run};

const HEAD: &str = r"
#include <pthread.h>
#include <stdint.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
void AnnotateHappensBefore(const char *, int, const volatile void *);
void AnnotateHappensAfter(const char *, int, const volatile void *);
void WTFAnnotateHappensBefore(const char *, int, const volatile void *);
void WTFAnnotateHappensAfter(const char *, int, const volatile void *);
void AnnotateRWLockAcquired(const char *, int, const volatile void *, long);
void AnnotateRWLockReleased(const char *, int, const volatile void *, long);
void AnnotateIgnoreReadsBegin(const char *, int);
void AnnotateIgnoreReadsEnd(const char *, int);
int RunningOnValgrind(void);
double ValgrindSlowdown(void);
void __tsan_read4_pc(void *, void *);
void __tsan_write_range_pc(void *, size_t, void *);
void __tsan_external_write(void *, void *, void *);
void *__tsan_external_register_tag(const char *);
uint16_t __sanitizer_unaligned_load16(const void *);
void __sanitizer_unaligned_store32(void *, uint32_t);
uint64_t __sanitizer_unaligned_load64(const void *);
void __tsan_mutex_pre_lock(void *, unsigned);
void __tsan_mutex_post_lock(void *, unsigned, int);
int __tsan_mutex_pre_unlock(void *, unsigned);
void __tsan_mutex_post_unlock(void *, unsigned);
void *__tsan_get_current_report(void);
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned);
void __tsan_switch_to_fiber(void *, unsigned);
";

/// The operations of a run on objects whose names begin with `object`.
fn operations(source: &str, object: &str) -> Vec<String> {
    let folder = program(&format!("{HEAD}{source}"));
    let is_ours = |it: &&Value| it["object"].as_str().is_some_and(|it| it.starts_with(object));
    let word = |it: &Value, name: &str| it[name].as_str().map(|it| format!(" {it}"));
    let all = events(folder.path());
    let shown = all.iter().filter(is_ours).map(|it| {
        format!("{}{}", it["op"].as_str().unwrap(), word(it, "mode").unwrap_or_default())
    });
    shown.collect()
}

#[test]
fn happens_before() {
    let found = operations(
        "int sync; int main(void) {
            AnnotateHappensBefore(0, 1, &sync); AnnotateHappensAfter(0, 2, &sync);
            WTFAnnotateHappensBefore(0, 3, &sync); WTFAnnotateHappensAfter(0, 4, &sync);
            return 0; }",
        "sync",
    );
    let pair = ["happens-before", "happens-after"];
    assert_eq!(found, [pair, pair].concat());
}

#[test]
fn accesses_that_no_compiler_instruments() {
    let found = operations(
        "char memory[32]; int main(void) {
            __tsan_read4_pc(memory, (void *)main);
            __tsan_write_range_pc(memory, 24, (void *)main);
            __tsan_external_write(memory, (void *)main, __tsan_external_register_tag(\"list\"));
            __sanitizer_unaligned_store32(memory + 3, 0x01020304);
            if (__sanitizer_unaligned_load16(memory + 3) != 0x0304) return 1;
            if (__sanitizer_unaligned_load64(memory + 1) >> 16 != 0x01020304) return 2;
            return 0; }",
        "memory",
    );
    assert_eq!(found, ["read", "write", "write", "write", "read", "read"]);
}

/// The plain accesses and atomic operations in the code of a lock are not recorded.
#[test]
fn locks_of_the_program() {
    let found = operations(
        "struct { int word; int owner; } lock; int main(void) {
            __tsan_mutex_pre_lock(&lock, 0);
            while (__atomic_exchange_n(&lock.word, 1, __ATOMIC_ACQUIRE)) {}
            lock.owner = 1;
            __tsan_mutex_post_lock(&lock, 0, 0);
            __tsan_mutex_pre_lock(&lock, 1 << 6);
            __tsan_mutex_post_lock(&lock, 1 << 6, 2);
            int held = __tsan_mutex_pre_unlock(&lock, 1 << 7);
            lock.owner = 0;
            __atomic_store_n(&lock.word, 0, __ATOMIC_RELEASE);
            __tsan_mutex_post_unlock(&lock, 1 << 7);
            return held != 3; }",
        "lock",
    );
    assert_eq!(found, [["acquire mutex"; 3], ["release mutex"; 3]].concat());
    let found = operations(
        "int lock; int main(void) {
            AnnotateRWLockAcquired(0, 1, &lock, 1); AnnotateRWLockReleased(0, 2, &lock, 1);
            AnnotateRWLockAcquired(0, 1, &lock, 0); AnnotateRWLockReleased(0, 2, &lock, 0);
            return 0; }",
        "lock",
    );
    assert_eq!(found, ["acquire write", "release write", "acquire read", "release read"]);
}

#[test]
fn ignored_accesses() {
    let found = operations(
        "int seen[64]; int main(void) {
            seen[0] = 1;
            AnnotateIgnoreReadsBegin(0, 1);
            AnnotateIgnoreReadsBegin(0, 1);
            seen[1] = seen[0] + 1;
            AnnotateIgnoreReadsEnd(0, 1);
            memset(seen + 8, seen[1], sizeof seen / 2);
            AnnotateIgnoreReadsEnd(0, 1);
            AnnotateIgnoreReadsEnd(0, 1);
            seen[2] = seen[9];
            return 0; }",
        "seen",
    );
    assert_eq!(found, ["write", "read", "write"]);
}

#[test]
fn what_programs_ask() {
    let folder = program(&format!(
        "{HEAD}int main(void) {{ return RunningOnValgrind() || ValgrindSlowdown() != 10.0 || \
         __tsan_get_current_report(); }}"
    ));
    assert_eq!(run(folder.path(), ["record", "./prog"]).code, Some(0));
}

/// A switch to a fiber and back, on one thread. With or without the flag that it does not synchronise,
/// the two are in one order; the flag only leaves out the edge to the target.
#[test]
fn fibers() {
    let count = |flags: u32| {
        let folder = program(&format!(
            "{HEAD}int main(void) {{ void *home = __tsan_get_current_fiber(); \
             void *other = __tsan_create_fiber(0); if (!home || home == other) return 1; \
             __tsan_switch_to_fiber(other, {flags}); if (__tsan_get_current_fiber() != other) return 2; \
             __tsan_switch_to_fiber(home, {flags}); return __tsan_get_current_fiber() != home; }}"
        ));
        let all = events(folder.path());
        let of = |op: &str| all.iter().filter(|it| it["op"] == op).count();
        (of("happens-before"), of("happens-after"))
    };
    assert_eq!(count(0), (4, 2));
    assert_eq!(count(1), (2, 2));
}
