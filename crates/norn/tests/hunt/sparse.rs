//! Runs in which little happened are named, and threads that the program did not wait for run
//! nevertheless.

use serde_json::json;

use crate::kit::{Hunt, hunt_text, norn, source_folder};

/// Two threads that nobody waits for write the same variable; how `main` ends is left open.
fn hasty(end: &str) -> String {
    format!(
        "#include <pthread.h>\n#include <stdlib.h>\nstatic int balance;\n\
         static void *pay(void *unused) {{\n  balance += 10;\n  return unused;\n}}\n\
         int main(void) {{\n  pthread_t one, two;\n  pthread_create(&one, 0, pay, 0);\n\
         pthread_create(&two, 0, pay, 0);\n  {end}\n}}\n"
    )
}

fn hunt(text: &str, options: &[&str]) -> Hunt {
    Hunt::read(&hunt_text(text, &[&["--format", "json"], options].concat()).0)
}

/// The threads run in an explored run, and their race is predicted from that.
#[test]
fn the_race_of_threads_that_nobody_waits_for_is_found() {
    for end in ["return 0;", "exit(0);", "_exit(0);"] {
        let text = format!("#include <unistd.h>\n{}", hasty(end));
        let hunt = hunt(&text, &["--explore", "4"]);
        assert_eq!(hunt.code, Some(1), "{end}: {hunt:?}");
        assert!(hunt.harmful().any(|it| it["class"] == "race"), "{end}: {hunt:?}");
        let note =
            json!([{ "running-threads": { "threads": ["T0.1", "T0.2"], "continued": true } }]);
        assert_eq!(hunt.json["notes"], note, "{end}: {hunt:?}");
    }
}

#[test]
fn unfinished_threads_are_named_in_the_text() {
    let (ran, _folder) = hunt_text(&hasty("return 0;"), &["--explore", "0"]);
    let note = "little was seen: the program ended while T0.1, T0.2 were still running\n";
    assert!(ran.stdout.contains(note), "{ran:?}");
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

/// A thread that is blocked for good has done what it would do.
#[test]
fn a_blocked_thread_is_not_unfinished() {
    let text = "#include <pthread.h>\n#include <semaphore.h>\nstatic sem_t ready, never;\n\
                static void *serve(void *unused) {\n  sem_post(&ready);\n  sem_wait(&never);\n  \
                return unused;\n}\n\
                int main(void) {\n  pthread_t one;\n  sem_init(&ready, 0, 0);\n  \
                sem_init(&never, 0, 0);\n  pthread_create(&one, 0, serve, 0);\n  \
                sem_wait(&ready);\n  return 0;\n}\n";
    let hunt = hunt(text, &["--explore", "0"]);
    assert_eq!(hunt.json["notes"], json!([]), "{hunt:?}");
}

#[test]
fn a_program_with_one_thread_is_named() {
    let hunt = hunt("static int n;\nint main(void) { n++; return 0; }\n", &["--explore", "0"]);
    assert_eq!((hunt.code, &hunt.json["notes"]), (Some(0), &json!(["one-thread"])), "{hunt:?}");
}

#[test]
fn threads_that_share_nothing_are_named() {
    let text = "#include <pthread.h>\nstatic long slots[64];\n\
                static void *fill(void *slot) { *(long *)slot = 1; return 0; }\n\
                int main(void) {\n  pthread_t one, two;\n  \
                pthread_create(&one, 0, fill, &slots[0]);\n  \
                pthread_create(&two, 0, fill, &slots[32]);\n  \
                pthread_join(one, 0);\n  pthread_join(two, 0);\n  return 0;\n}\n";
    let shared = hunt(text, &["--explore", "0"]);
    assert_eq!(shared.json["notes"], json!(["nothing-shared"]), "{shared:?}");
    let one = hunt(&text.replace("&slots[32]", "&slots[0]"), &["--explore", "0"]);
    assert_eq!(one.json["notes"], json!([]), "{one:?}");
}

/// The hint appears if more executions would help, and only then.
#[test]
fn the_budget_is_mentioned_only_if_it_is_too_small() {
    let text = "#include <pthread.h>\nstatic int a, b, c;\n\
                static void *add(void *unused) { a++; b++; c++; return unused; }\n\
                int main(void) {\n  pthread_t one, two;\n  pthread_create(&one, 0, add, 0);\n  \
                pthread_create(&two, 0, add, 0);\n  pthread_join(one, 0);\n  \
                pthread_join(two, 0);\n  return 0;\n}\n";
    let hint = "hint: --budget sets the maximum number of executions";
    let said = |options: &[&str]| hunt_text(text, options).0.stdout.contains(hint);
    assert!(said(&["--explore", "0", "--budget", "2"]));
    assert!(!said(&["--explore", "0"]));
    assert!(!said(&["--explore", "2", "--budget", "500"]));
}

/// A script that starts a server and its client. When the inputs of the server are fed back, the
/// client gets no answer, and what the script then does proves nothing.
#[test]
fn inputs_are_not_recorded_for_a_program_that_a_script_starts() {
    let server = "#include <stdio.h>\n#include <unistd.h>\nint main(void) {\n  char byte;\n  \
                  return read(0, &byte, 1) == 1 ? 0 : 1;\n}\n";
    let folder = source_folder("server.c", server);
    let built = norn("cc", ["-g", "-pthread", "-o", "server", "server.c"], &folder);
    assert_eq!(built.code, Some(0), "{built:?}");
    std::fs::write(folder.path().join("test.sh"), "#!/bin/sh\necho x | ./server\n").unwrap();
    let script = ["--explore", "0", "--", "sh", "./test.sh"];
    let words = ["--record-inputs"].into_iter().chain(script);
    let refused = norn("hunt", words, &folder);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("cannot record the inputs of a program that `sh` starts"));
    assert!(refused.stderr.contains("\nhint: give norn the program itself"), "{refused:?}");
    assert_eq!(norn("hunt", script, &folder).code, Some(0));
    let direct = ["--record-inputs", "--explore", "0", "--", "./server"];
    assert_ne!(norn("hunt", direct, &folder).code, Some(2));
}
