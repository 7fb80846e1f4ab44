//! The explanations of failures in text reports.
// Long because it contains the explanations line by line.

mod memory;
mod misuse;

use serde_json::{Value, json};

use crate::kit::{Ran, Subject, subject};

/// Replays a handwritten schedule of a subject with arguments.
fn follow(subject: &Subject, arguments: &[&str], schedule: &[(&str, Value)], format: &str) -> Ran {
    subject.write(arguments, schedule);
    let ran = subject.replay("clip.json", &["--timeout", "20", "--format", format]);
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    ran
}

/// The explanation in the output, from the failure on; addresses differ from machine to machine.
fn story(ran: &Ran) -> String {
    let lines = ran.stderr.lines().skip_while(|it| !it.contains(" switches)"));
    let lines = lines.map(|it| it.split(" (by the clip").next().unwrap_or(it));
    lines.map(hide).collect::<Vec<_>>().join("\n")
}

/// Replaces every address by `0x…`, and the number of repeated reads.
fn hide(line: &str) -> String {
    let mut parts = line.split("0x");
    let mut text = parts.next().unwrap_or("").to_owned();
    for part in parts {
        text.push_str("0x…");
        text.push_str(part.trim_start_matches(|it: char| it.is_ascii_hexdigit()));
    }
    let often = text.find(" times)").and_then(|end| Some(text[..end].rfind('(')? + 1..end));
    if let Some(digits) = often {
        text.replace_range(digits, "many");
    }
    text.trim_end().to_owned()
}

/// The explanation of the failure that a schedule of a subject leads to.
fn explained(source: &str, arguments: &[&str], schedule: &[(&str, Value)]) -> String {
    story(&follow(&subject(source), arguments, schedule, "text"))
}

#[test]
fn a_deadlock_of_three_threads() {
    let text = explained(
        "three_locks.c",
        &[],
        &[
            ("T0", json!({"before": "join"})),
            ("T0.1", json!({"after": "lock in take"})),
            ("T0.2", json!({"after": "lock in take"})),
            ("T0.3", json!({"after": "lock in take"})),
        ],
    );
    insta::assert_snapshot!(text, @r"
    norn: deadlock

      T0.1  waits for the lock forks[1] at take three_locks.c:10
              called by eat three_locks.c:16
            T0.2 took it at take three_locks.c:10
              called by eat three_locks.c:15
      T0.2  waits for the lock forks[2] at take three_locks.c:10
              called by eat three_locks.c:16
            T0.3 took it at take three_locks.c:10
              called by eat three_locks.c:15
      T0.3  waits for the lock forks[0] at take three_locks.c:10
              called by eat three_locks.c:16
            T0.1 took it at take three_locks.c:10
              called by eat three_locks.c:15
      T0    waits for the end of T0.1 at main three_locks.c:25
      T0.1  waits for T0.2, which waits for T0.3, which waits for T0.1

      the last events          T0           T0.1               T0.2               T0.3
                               begins
        main three_locks.c:24  create T0.1
        main three_locks.c:24  create T0.2
        main three_locks.c:24  create T0.3
                                            begins
        eat three_locks.c:14                read seats[0] = 0
        take three_locks.c:10               lock forks[0]
                                                               begins
        eat three_locks.c:14                                   read seats[1] = 1
        take three_locks.c:10                                  lock forks[1]
                                                                                  begins
        eat three_locks.c:14                                                      read seats[2] = 2
        take three_locks.c:10                                                     lock forks[2]
    ");
}

#[test]
fn a_signal_that_came_too_early() {
    let text = explained(
        "lost_signal.c",
        &[],
        &[
            ("T0", json!({"before": "join"})),
            ("T0.1", json!({"after": "read in receive"})),
            ("T0.2", json!("end")),
        ],
    );
    insta::assert_snapshot!(text, @r"
    norn: deadlock

      T0    waits for the end of T0.1 at main lost_signal.c:30
      T0.1  waits for a signal of delivered at receive lost_signal.c:12
            T0.2 signalled before the wait began, and no thread was waiting, at deliver lost_signal.c:21
      T0.2  has ended
            no thread is left that could end these waits

      the last events             T0           T0.1              T0.2
                                  begins
        main lost_signal.c:28     create T0.1
        main lost_signal.c:29     create T0.2
                                               begins
        receive lost_signal.c:10               read letters = 0
                                                                 begins
        deliver lost_signal.c:19                                 lock lock
        deliver lost_signal.c:20                                 write letters = 1
        deliver lost_signal.c:21                                 signal delivered
        deliver lost_signal.c:22                                 unlock lock
                                                                 ends
        receive lost_signal.c:11               lock lock
        receive lost_signal.c:12               wait delivered
    ");
}

#[test]
fn a_signal_that_woke_another_thread() {
    let text = explained(
        "one_signal.c",
        &[],
        &[
            ("T0", json!({"before": "lock in main"})),
            ("T0.1", json!("blocks")),
            ("T0.2", json!("blocks")),
            ("T0", json!("blocks")),
        ],
    );
    insta::assert_snapshot!(text, @r"
    norn: deadlock

      T0    waits for the end of T0.2 at main one_signal.c:22
      T0.2  waits for a signal of started at run one_signal.c:10
            T0 signalled during the wait, and woke T0.1, at main one_signal.c:20
      T0.1  has ended
            no thread is left that could end these waits

      the last events         T0              T0.1          T0.2
                              begins
        main one_signal.c:17  create T0.1
        main one_signal.c:17  create T0.2
                                              begins
        run one_signal.c:9                    lock lock
        run one_signal.c:10                   read go = 0
        run one_signal.c:10                   wait started
                                                            begins
        run one_signal.c:9                                  lock lock
        run one_signal.c:10                                 read go = 0
        run one_signal.c:10                                 wait started
        main one_signal.c:18  lock lock
        main one_signal.c:19  write go = 1
        main one_signal.c:20  signal started
        main one_signal.c:21  unlock lock
        run one_signal.c:10                   wake started
        run one_signal.c:10                   read go = 1
        run one_signal.c:11                   unlock lock
                                              ends
        main one_signal.c:22  join T0.1
    ");
}

#[test]
fn a_barrier_and_a_semaphore_that_no_thread_posts() {
    let text = explained(
        "too_few.c",
        &[],
        &[
            ("T0", json!({"before": "sem-wait"})),
            ("T0.1", json!("blocks")),
            ("T0.2", json!("blocks")),
        ],
    );
    insta::assert_snapshot!(text, @r"
    norn: deadlock

      T0    waits for the semaphore tickets at main too_few.c:19
            it began with 0, was posted 2 times and taken 2 times
            T0.1 posted it at meet too_few.c:9
            T0.2 posted it at meet too_few.c:9
      T0.1  waits at the barrier meeting at meet too_few.c:10
            2 of 3 threads arrived: T0.1 and T0.2
      T0.2  waits at the barrier meeting at meet too_few.c:10
            2 of 3 threads arrived: T0.1 and T0.2
            no thread is left that could end these waits

      the last events      T0                T0.1              T0.2
                           begins
        main too_few.c:16  init meeting
        main too_few.c:17  init tickets
        main too_few.c:18  create T0.1
        main too_few.c:18  create T0.2
                                             begins
        meet too_few.c:9                     sem-post tickets
        meet too_few.c:10                    barrier meeting
                                                               begins
        meet too_few.c:9                                       sem-post tickets
        meet too_few.c:10                                      barrier meeting
        main too_few.c:19  sem-wait tickets
        main too_few.c:19  sem-wait tickets
    ");
}

#[test]
fn a_livelock_of_two_threads() {
    let text = explained("spins.c", &[], &[("T0", json!({"before": "join"}))]);
    insta::assert_snapshot!(text, @r"
    norn: livelock

      T0.1  keeps running, last seen at spin spins.c:9
            it read ready[1] = 0
              no thread has written there
      T0.2  keeps running, last seen at spin spins.c:9
            it read ready[0] = 0
              T0 wrote 0 there at main spins.c:17
      T0    waits for the end of T0.1 at main spins.c:19

      the last events
                         T0    begins
        main spins.c:17  T0    atomic write ready[0] = 0
        main spins.c:18  T0    create T0.1
        main spins.c:18  T0    create T0.2
                         T0.1  begins
        spin spins.c:8   T0.1  read one_of[0] = 0
        spin spins.c:9   T0.1  atomic read ready[1] = 0 (many times)
                         T0.2  begins
        spin spins.c:8   T0.2  read one_of[1] = 1
        spin spins.c:9   T0.2  atomic read ready[0] = 0 (many times)
    ");
}

#[test]
fn a_thread_that_never_ends() {
    let subject = subject("endless.c");
    let ran = subject.run(&["--strategy", "round-robin", "--max-steps", "2000"]);
    assert_eq!(ran.status.code(), Some(3), "{ran:?}");
    assert!(ran.stderr.contains("not finished after 2000 events"), "{ran:?}");
    assert!(ran.stderr.contains("T0.1  keeps running, last seen at step endless.c:"), "{ran:?}");
    assert!(ran.stderr.contains("it read limit = -1"), "{ran:?}");
    assert!(ran.stderr.contains("no thread has written there"), "{ran:?}");
    assert!(ran.stderr.contains("T0    waits for the end of T0.1 at main endless.c:"), "{ran:?}");
}

#[test]
fn json_has_the_story() {
    let subject = subject("two_locks.c");
    let schedule = [
        ("T0", json!({"before": "join"})),
        ("T0.1", json!({"after": "lock in rightwards"})),
        ("T0.2", json!({"after": "lock in leftwards"})),
    ];
    let ran = follow(&subject, &[], &schedule, "json");
    let line = &ran.json()["run"];
    assert_eq!(line["consequence"], "deadlock");
    assert_eq!(line["verdict"], json!({"followed": 3}));
    let stuck = &line["story"]["stuck"];
    assert_eq!(stuck["cycle"], json!(["T0.1", "T0.2"]));
    let first = &stuck["waiters"][0];
    assert_eq!(first["thread"], "T0.1");
    assert_eq!(first["for"]["lock"]["object"]["name"], "right");
    let holder = &first["for"]["lock"]["holders"][0];
    assert_eq!((&holder["thread"], &holder["mode"]), (&json!("T0.2"), &json!("mutex")));
    assert_eq!(holder["stack"][0]["function"], "leftwards");
    assert!(line["story"]["last"].as_array().is_some_and(|it| it.len() > 4), "{line}");
}

#[test]
fn a_passing_run_has_no_story() {
    let subject = subject("lost_update.c");
    let options = ["--strategy", "round-robin", "--quantum", "100", "--format", "json"];
    let ran = subject.run(&options);
    let line = &ran.json()["run"];
    assert_eq!((&line["consequence"], &line["story"]), (&json!("none"), &Value::Null), "{line}");
}
