//! Findings that are not reported or do not fail the hunt: suppressed, in the baseline, or harmless.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::kit::{Ran, norn, norn_hunt, subjects};

/// The classes of which there is one finding in these programs.
const ONLY: [&str; 2] = ["--only", "race,atomicity"];

/// A folder with a program that has one bug: a length is read twice, and written in between.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(subjects("hunt").join("string_buffer.c"), folder.path().join("buffer.c")).unwrap();
    folder
}

fn hunt(folder: &TempDir, options: &[&str]) -> Ran {
    let usual = ["-j", "2", "--explore", "0"];
    norn_hunt(usual.iter().chain(&ONLY).chain(options).chain(&["buffer.c"]), folder)
}

fn write(folder: &TempDir, name: &str, text: &str) {
    fs::write(folder.path().join(name), text).unwrap();
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

#[test]
fn suppressed_findings_do_not_count() {
    let folder = folder();
    for (line, code) in [
        ("atomicity:eraser", 0),
        ("atomicity:^source.length$", 0),
        ("*:buffer.c", 0),
        ("called_from_lib:buffer", 0),
        ("atomicity:^length$", 0),
        ("race:eraser", 1),
        ("atomicity:^raser", 1),
        ("# atomicity:eraser", 1),
    ] {
        write(&folder, "my.supp", line);
        let ran = hunt(&folder, &["--suppressions", "my.supp"]);
        assert_eq!(ran.code, Some(code), "{line}: {ran:?}");
    }
}

#[test]
fn suppressions_are_listed_with_their_use() {
    let folder = folder();
    write(&folder, "my.supp", "race:nobody\n\n# the buffer is known\natomicity:eraser\nrice:x\n");
    let ran = hunt(&folder, &["--suppressions", "my.supp"]);
    insta::assert_snapshot!(ran.stdout, @r"
    nothing harmful that counts; 1 candidate in 33 events of 3 threads: 1 confirmed (1 harmful), 0 infeasible, 0 not confirmed, 0 not tried; 2 executions and 1 replay
    1 suppressed
      atomicity:eraser (my.supp:4) used once
    ");
    insta::assert_snapshot!(ran.stderr, @r"
    norn: my.supp:5: `rice:x` is ignored: it is no `kind:pattern` with a known kind
    hint: kinds are *, race, atomicity, atomic-set, lifetime, lock-misuse, descriptor, called_from_lib, deadlock, mutex, order, property, race_top, signal, thread
    ");
    let ran = hunt(&folder, &["-v", "--suppressions", "my.supp"]);
    assert!(ran.stdout.contains("  race:nobody (my.supp:1) not used\n"), "{ran:?}");
    let json = json(&hunt(&folder, &["--format", "json", "--suppressions", "my.supp"]));
    assert_eq!(json["findings"][0]["suppressed_by"]["suppression"], "atomicity:eraser");
    assert_eq!(json["suppressions"][0]["used"], 0);
    assert_eq!(json["suppressions"][1]["used"], 1);
}

#[test]
fn findings_of_the_baseline_do_not_count() {
    let folder = folder();
    assert_eq!(hunt(&folder, &[]).code, Some(1));
    let written = hunt(&folder, &["--write-baseline", "known.json"]);
    assert_eq!(written.code, Some(0), "{written:?}");
    let again = hunt(&folder, &["--baseline", "known.json"]);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert!(again.stdout.ends_with("1 in the baseline, not reported\n"), "{again:?}");

    // A moved line does not make the finding new; another function does.
    let source = folder.path().join("buffer.c");
    let text = fs::read_to_string(&source).unwrap();
    fs::write(&source, format!("\n\n\n{text}")).unwrap();
    let moved = hunt(&folder, &["--baseline", "known.json", "--format", "json"]);
    assert_eq!(moved.code, Some(0), "{moved:?}");
    assert_eq!(json(&moved)["findings"][0]["suppressed_by"], "baseline");
    fs::write(&source, text.replace("eraser", "cleaner")).unwrap();
    assert_eq!(hunt(&folder, &["--baseline", "known.json"]).code, Some(1));
}

#[test]
fn observed_failures_can_be_in_the_baseline() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "buffer.c", "int main(void) { __builtin_abort(); }");
    assert_eq!(hunt(&folder, &[]).code, Some(1));
    assert_eq!(hunt(&folder, &["--write-baseline", "known.json"]).code, Some(0));
    let again = hunt(&folder, &["--baseline", "known.json", "--format", "json"]);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert_eq!(json(&again)["observed"][0]["suppressed_by"], "baseline");
    write(&folder, "buffer.c", "int main(void) { return *(volatile int *)8; }");
    assert_eq!(hunt(&folder, &["--baseline", "known.json"]).code, Some(1));
}

/// Two threads update a variable; the function does so `times` times, at different lines.
fn updates(times: usize) -> String {
    let update = "  total++;\n".repeat(times);
    format!(
        "#include <pthread.h>\nstatic volatile int total;\n\
         static void *add(void *unused) {{\n{update}  return unused;\n}}\n\
         int main(void) {{\n  pthread_t one, two;\n  pthread_create(&one, 0, add, 0);\n  \
         pthread_create(&two, 0, add, 0);\n  pthread_join(one, 0);\n  pthread_join(two, 0);\n  \
         return 0;\n}}\n"
    )
}

#[test]
fn a_known_bug_does_not_hide_another_one_in_the_same_function() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "buffer.c", &updates(1));
    assert_eq!(hunt(&folder, &["--write-baseline", "known.json"]).code, Some(0));
    let known = fs::read_to_string(folder.path().join("known.json")).unwrap();
    assert!(known.contains("\"line\": 4"), "{known}");
    assert_eq!(hunt(&folder, &["--baseline", "known.json"]).code, Some(0));
    write(&folder, "buffer.c", &format!("\n\n{}", updates(1)));
    assert_eq!(hunt(&folder, &["--baseline", "known.json"]).code, Some(0));
    write(&folder, "buffer.c", &updates(2));
    assert_eq!(hunt(&folder, &["--baseline", "known.json"]).code, Some(1));
}

/// The program fails without a prediction: nobody posts the semaphore.
const STUCK: &str = "
#include <semaphore.h>
static sem_t items;
static void consume(void) { sem_wait(&items); }
int main(void) { sem_init(&items, 0, 1); consume(); consume(); }
";

/// The program locks a mutex twice.
const RELOCKED: &str = "
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void consume(void) { pthread_mutex_lock(&lock); }
int main(void) { consume(); consume(); }
";

/// Hunts with a suppression, which covers the failure or not.
fn suppress(source: &str, failure: &str, (line, covered): (&str, bool)) {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "buffer.c", source);
    write(&folder, "my.supp", line);
    let ran = hunt(&folder, &["--suppressions", "my.supp"]);
    assert_eq!(ran.code, Some(i32::from(!covered)), "{line}: {ran:?}");
    let headline = format!("seen under another schedule: {failure}");
    assert_eq!(ran.stdout.contains(&headline), !covered, "{line}: {ran:?}");
}

#[test]
fn observed_failures_can_be_suppressed() {
    for line in [("deadlock:buffer.c", true), ("*:consume", true), ("race:buffer.c", false)] {
        suppress(STUCK, "deadlock", line);
    }
    for line in [("lock-misuse:buffer.c", true), ("mutex:consume", true), ("deadlock:*", false)] {
        suppress(RELOCKED, "lock misuse", line);
    }
}

#[test]
fn invalid_baselines_are_errors() {
    let folder = folder();
    let said = |name: &str| {
        let ran = hunt(&folder, &["--baseline", name]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        ran.stderr
    };
    write(&folder, "other.json", "{}");
    write(&folder, "new.json", r#"{ "version": 9, "known": [] }"#);
    insta::assert_snapshot!(said("missing.json") + &said("other.json") + &said("new.json"), @r"
    norn: cannot read `missing.json`
    cause: No such file or directory (os error 2)
    norn: `other.json` is not a baseline
    cause: missing field `version` at line 1 column 2
    norn: cannot read `new.json`: it has version 9, and this norn reads 1 to 3
    hint: write a new one with --write-baseline
    ");
}

/// One thread reads twice, each time under the lock, and prints both values.
const LOOKS_TWICE: &str = r#"
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int level;
static int look(void) {
    pthread_mutex_lock(&lock);
    int seen = level;
    pthread_mutex_unlock(&lock);
    return seen;
}
static void *rise(void *unused) {
    pthread_mutex_lock(&lock);
    level = 7;
    pthread_mutex_unlock(&lock);
    return unused;
}
static void *watch(void *quiet) {
    int first = look(), second = look();
    if (!quiet) printf("%s\n", first == second ? "still" : "rising");
    return NULL;
}
int main(int argc, char **argv) {
    (void)argv;
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, watch, argc > 1 ? &threads : NULL);
    pthread_create(&threads[1], NULL, rise, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
"#;

#[test]
fn fail_on_selects_the_findings_that_fail_the_hunt() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "looks.c", LOOKS_TWICE);
    let code = |fail_on: &str, arguments: &[&str]| {
        let options = ["--explore", "0", "--fail-on", fail_on, "looks.c"];
        norn_hunt(options.iter().chain(arguments), &folder).code
    };
    assert_eq!(["harmful", "output", "any"].map(|it| code(it, &[])), [0, 1, 1].map(Some));
    let quiet = ["harmful", "output", "any"].map(|it| code(it, &["quiet"]));
    assert_eq!(quiet, [0, 0, 1].map(Some));
}

#[test]
fn candidates_are_suppressed_too() {
    let folder = folder();
    let build = ["-g", "-O1", "-pthread", "buffer.c", "-o", "buffer"];
    assert_eq!(norn("cc", build, &folder).code, Some(0));
    assert_eq!(norn("run", ["--strategy", "round-robin", "./buffer"], &folder).code, Some(0));
    write(&folder, "my.supp", "atomicity:eraser");
    let options = ["--suppressions", "my.supp", "run.norn"];
    let ran = norn("predict", ONLY.iter().chain(&options), &folder);
    insta::assert_snapshot!(ran.stdout, @r"
    0 candidates, 0 with a schedule; `norn hunt` tries them
      atomicity:eraser (my.supp:1) used once
    ");
}
