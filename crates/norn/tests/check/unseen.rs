//! Functions that a property names and whose calls are not recorded: which, why, and the remedy.

use std::{fs, process::Command};

use serde_json::Value;
use tempfile::TempDir;

use crate::kit::{norn, norn_with};

const PROGRAM: &str = "#include <pthread.h>
#include \"norn.h\"
struct list { int count; };
static struct list one, two;
__attribute__((noinline)) void list_add(struct list *it) { it->count++; }
static inline __attribute__((always_inline)) void list_clear(struct list *it) { it->count = 0; }
__attribute__((noinline)) void list_never(struct list *it) { it->count = 7; }
void foreign(struct list *it);
static void *other(void *unused) { foreign(&two); return unused; }
int main(int argc, char **argv) {
  pthread_t thread;
  pthread_create(&thread, 0, other, 0);
  list_add(&one);
  list_clear(&two);
  NORN_EVENT(\"added\", &one);
  if (argc > 1) list_never(&one);
  return pthread_join(thread, 0);
}
";

const FOREIGN: &str = "struct list { int count; }; void foreign(struct list *it) { it->count++; }";

/// Builds the program, one of its functions without instrumentation.
fn build(folder: &TempDir) {
    fs::write(folder.path().join("program.c"), PROGRAM).unwrap();
    fs::write(folder.path().join("foreign.c"), FOREIGN).unwrap();
    let words = ["-c", "-g", "foreign.c"];
    let status = Command::new("gcc").args(words).current_dir(folder.path()).status().unwrap();
    assert!(status.success());
    let words = ["cc", "-g", "-O1", "-pthread", "-o", "subject", "program.c", "foreign.o"];
    let ran = norn(words, folder);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

/// The messages about a property with this first event, whose second event occurs.
fn said(event: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    build(&folder);
    let property =
        format!("U(c) {{ event it: {event} event other: call list_add(c) pattern: it other }}");
    fs::write(folder.path().join("u.norn"), property).unwrap();
    let ran = norn(["check", "u.norn", "--", "./subject"], &folder);
    // A property with an event that never occurred was not checked.
    let missing = ran.stdout.contains("U: never seen in the recorded run: it");
    assert_eq!(ran.code, Some(if missing { 3 } else { 0 }), "{ran:?}");
    let unchecked = "norn: U was not checked: these events never occurred: it\n";
    assert_eq!(ran.stderr, if missing { unchecked } else { "" });
    let before_summary = ran.stdout.lines().take_while(|it| !it.starts_with("1 property with "));
    before_summary.collect::<Vec<_>>().join("\n")
}

#[test]
fn an_unknown_function_is_reported() {
    insta::assert_snapshot!(said("call list_ad(c)"), @r"
    U: never seen in the recorded run: it
    U: it: the program has no function `list_ad`
      hint: did you mean `list_add`?
    ");
    insta::assert_snapshot!(said("call pthread_crate(c)"), @r"
    U: never seen in the recorded run: it
    U: it: the program has no function `pthread_crate`
      hint: did you mean `pthread_create`?
    ");
    insta::assert_snapshot!(said("call queue_*(c)"), @r"
    U: never seen in the recorded run: it
    U: it: the program has no function like `queue_*`
      hint: norn sees functions that were built with norn, and functions of shared libraries that such code calls; not macros, nor calls that the compiler drops or replaces (-fno-builtin)
    ");
}

/// An unknown alternative of an event is reported if its name has no wildcard.
#[test]
fn an_unknown_alternative_is_reported() {
    insta::assert_snapshot!(said("call list_add(c) | call list_nevr(c)"), @r"
    U: it: the program has no function `list_nevr`
      hint: did you mean `list_never`?
    ");
    assert_eq!(said("call list_add(c) | call queue_*(c)"), "");
}

#[test]
fn functions_without_recorded_calls_are_reported() {
    insta::assert_snapshot!(said("call list_clear(c)"), @r"
    U: never seen in the recorded run: it
    U: it: `list_clear` is inlined everywhere: its calls are not seen
      hint: build with -fno-inline, or mark the place with NORN_EVENT
    ");
    insta::assert_snapshot!(said("call list_never(c)"), @r"
    U: never seen in the recorded run: it
    U: it: `list_never` was never called
    ");
}

#[test]
fn a_function_without_instrumentation_is_reported() {
    insta::assert_snapshot!(said("call foreign(c)"), @r"
    U: never seen in the recorded run: it
    U: it: `foreign` was not built with norn: its calls are not seen
      hint: build the file that it is in with `norn cc`, or mark the place with NORN_EVENT
    ");
}

#[test]
fn unknown_variables_and_marks_are_reported() {
    insta::assert_snapshot!(said("write one.cuont as c"), @r"
    U: never seen in the recorded run: it
    U: it: no variable `one.cuont` was used like this
      hint: did you mean `one.count`?
    ");
    insta::assert_snapshot!(said("lock one as c"), @r"
    U: never seen in the recorded run: it
    U: it: no variable `one` was used like this
    ");
    insta::assert_snapshot!(said("mark addd(c)"), @r"
    U: never seen in the recorded run: it
    U: it: no mark `addd` was passed
      hint: did you mean `added`?
    ");
}

/// Overlapping patterns each match all their functions.
#[test]
fn several_patterns_match_one_function() {
    assert_eq!(said("call *_add(c)"), "");
}

/// A trace without recorded calls of a function proves nothing about it.
#[test]
fn an_unrecorded_function_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    build(&folder);
    let property =
        "U(c) { event it: call list_never(c) event other: call list_add(c) pattern: it other }";
    fs::write(folder.path().join("u.norn"), property).unwrap();
    let ran = norn(["run", "--function", "list_add", "--", "./subject"], &folder);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let words = ["predict", "run.norn", "--property", "u.norn", "--format", "json"];
    let json: Value = serde_json::from_str(&norn(words, &folder).stdout).unwrap();
    let unseen = &json["properties"][0]["unseen"][0];
    assert_eq!((&unseen["event"], &unseen["why"]), (&"it".into(), &"not-recorded".into()));
}

/// clang does not pass unused parameters: there is no object to bind.
#[test]
fn a_removed_parameter_is_reported() {
    let program = "#include <pthread.h>
      static int object;
      static __attribute__((noinline)) void drop(int *it, int why) { object -= why; }
      static void *other(void *unused) { drop(&object, 1); return unused; }
      int main(void) {
        pthread_t thread;
        pthread_create(&thread, 0, other, 0);
        drop(&object, 2);
        return pthread_join(thread, 0);
      }";
    let property = "U(c) { event it: call drop(c) event any: call drop(_) pattern: it any any }";
    for compiler in ["clang-14", "clang-19"].into_iter().filter(|it| is_there(it)) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("program.c"), program).unwrap();
        fs::write(folder.path().join("u.norn"), property).unwrap();
        let words = ["cc", "-g", "-O2", "-pthread", "-o", "subject", "program.c"];
        let ran = norn_with(compiler, words, &folder);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let ran = norn(["check", "u.norn", "--", "./subject"], &folder);
        let text = "U: it: `it` of `drop` is not passed in a register: it is seen as 0\n  hint: ";
        assert!(ran.stdout.contains(text), "{ran:?}");
        assert!(!ran.stdout.contains("U: any"), "{ran:?}");
    }
}

fn is_there(compiler: &str) -> bool {
    Command::new(compiler).arg("--version").output().is_ok_and(|it| it.status.success())
}
