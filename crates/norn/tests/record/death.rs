//! However a run ends, the trace is complete up to the end.

use std::{
    fs,
    os::unix::{fs::MetadataExt as _, process::ExitStatusExt as _},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::kit::{
    Recorded, check as check_lines, finish, is_installed, kill, norn, record, run, start, subject,
    untested, written,
};

/// A number of the file that a subject shares with the kernel.
fn kept(file: &Path, index: usize) -> u128 {
    let bytes = fs::read(file).unwrap_or_default();
    let word = bytes.get(index * 4..index * 4 + 4);
    word.map_or(0, |it| u32::from_ne_bytes(it.try_into().unwrap()).into())
}

fn check(how: &str, end: &Value) {
    let recorded = subject("death.c").arguments(&[how, "kept"]).record();
    let last = kept(&recorded.folder.path().join("kept"), 0);
    assert_eq!(last, 1000);
    let counts = recorded.written("count");
    assert!(counts.iter().copied().eq(1..=last), "{how}: {} writes", counts.len());
    let info = recorded.info();
    assert_eq!((&info["end"], &info["complete"]), (end, &json!(true)), "{how}");
    assert_eq!(info["damage"], json!([]), "{how}");
}

#[test]
fn all_ways_to_exit_are_recorded() {
    for (how, status) in [("exit", 3), ("_exit", 4), ("_Exit", 5), ("quick_exit", 6), ("return", 8)]
    {
        check(how, &json!({"exited": status}));
    }
}

#[test]
fn a_deadly_signal_leaves_a_complete_trace() {
    for (how, signal) in [("abort", 6), ("null", 11), ("kill", 9), ("term", 15), ("trap", 4)] {
        check(how, &json!({"signaled": signal}));
    }
}

#[test]
fn a_stack_overflow_leaves_a_complete_trace() {
    check("overflow", &json!({"signaled": 11}));
}

#[test]
fn an_uncaught_exception_leaves_a_complete_trace() {
    let recorded = record("uncaught.cc");
    assert_eq!(recorded.ran.status.signal(), Some(6));
    assert_eq!(recorded.written("step"), [1]);
    assert_eq!(recorded.info()["end"], json!({"signaled": 6}));
}

#[test]
fn blocked_threads_are_named() {
    let recorded = record("deadlock.c");
    let info = recorded.info();
    assert_eq!(info["end"], json!({"signaled": 14}));
    let of =
        |it: &Value| format!("{} {} {}", it["thread"], it["op"], it["object"]).replace('"', "");
    let mut blocked: Vec<String> = info["blocked"].as_array().unwrap().iter().map(of).collect();
    blocked.sort();
    assert_eq!(blocked.len(), 3, "{blocked:?}");
    assert!(blocked[0].starts_with("T0 join"), "{blocked:?}");
    assert_eq!(blocked[1..], ["T0.1 acquire b", "T0.2 acquire a"]);
}

/// Records `killed.c` until both threads have counted far, then applies `what` to it.
fn interrupted(what: impl FnOnce(&str, &str)) -> Recorded {
    let subject = subject("killed.c").arguments(&["kept"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kept");
    let recorder = start(subject.recorder(&subject.build(), folder.path()));
    let begun = Instant::now();
    while kept(&file, 0) < 5000 || kept(&file, 1) < 5000 {
        assert!(begun.elapsed() < Duration::from_secs(50), "the subject does not count");
        thread::yield_now();
    }
    what(&recorder.id().to_string(), &kept(&file, 2).to_string());
    let ran = finish("norn record killed.c", recorder);
    Recorded::new(ran, folder)
}

/// The counts are without a gap and the last is the one that was kept, give or take the one that
/// was being written. Only the last may lack its value.
fn check_counts(recorded: &Recorded) {
    let events = recorded.events();
    for (index, name) in ["one", "two"].into_iter().enumerate() {
        let last = kept(&recorded.folder.path().join("kept"), index);
        let writes: Vec<_> = events.iter().filter(|it| it.is("write", name)).collect();
        let wrong =
            writes.iter().zip(1..).find(|(it, number)| it.value.is_some_and(|it| it.0 != *number));
        assert!(wrong.is_none(), "{wrong:?}");
        let unknown = writes.iter().filter(|it| it.value.is_none()).count();
        assert!(unknown <= 1, "{unknown}");
        let count = writes.len() as u128;
        assert!(count.abs_diff(last) <= 1, "{name}: recorded up to {count}, kept {last}");
    }
}

#[test]
fn a_killed_subject_leaves_a_complete_trace() {
    let recorded = interrupted(|_, subject| kill("-KILL", subject));
    assert_eq!(recorded.ran.status.signal(), Some(9));
    assert_eq!(recorded.info()["end"], json!({"signaled": 9}));
    check_counts(&recorded);
}

#[test]
fn a_termination_signal_is_forwarded() {
    let recorded = interrupted(|recorder, _| kill("-TERM", recorder));
    assert_eq!(recorded.ran.status.signal(), Some(15));
    assert_eq!(recorded.info()["end"], json!({"signaled": 15}));
    check_counts(&recorded);
}

/// When the recorder itself is killed, the subject continues, and the trace on disk can be read.
#[test]
fn a_killed_recorder_leaves_a_readable_trace() {
    let recorded = interrupted(|recorder, subject| {
        kill("-KILL", recorder);
        kill("-KILL", subject);
    });
    assert_eq!(recorded.ran.status.signal(), Some(9));
    let info = recorded.info();
    assert_eq!(info["complete"], json!(false));
    let text = recorded.norn(&["info"]).stdout;
    let (_, missing) = text.split_once("\nmissing\n").unwrap();
    let said = "  everything after the recorder was killed, which was before the subject ended\n";
    assert!(missing.starts_with(said), "{text}");
    let events = recorded.events();
    let ones = events.iter().filter(|it| it.is("write", "one") && it.value.is_some());
    assert!(ones.zip(1..).all(|(it, number)| it.value.unwrap().0 == number));
}

const FLOOD: &str = "200000";

/// The subject ran to its end, and the trace has a prefix without a gap.
fn check_flood(recorded: &Recorded, why: &str) {
    assert_eq!(recorded.ran.stdout, format!("{FLOOD}\n"));
    assert_eq!(recorded.ran.status.code(), Some(0));
    let info = recorded.info();
    assert_eq!((&info["stopped"], &info["end"]), (&json!(why), &json!({"exited": 0})));
    assert!(info["lost"].as_u64().unwrap() > 0);
    let counts = written(&recorded.events(), "count");
    assert!(counts.len() > 1000, "{}", counts.len());
    assert!(counts.iter().copied().eq(1..=counts.len() as u128));
}

#[test]
fn recording_stops_at_the_maximum_size() {
    let recorded = subject("flood.c")
        .arguments(&[FLOOD])
        .options(&["--max-size", "1M"])
        .not_compared()
        .record();
    check_flood(&recorded, "size");
    assert!(
        recorded.ran.stderr.starts_with("norn: the trace reached its maximum size;"),
        "{}",
        recorded.ran.stderr
    );
    let size = recorded.info()["bytes"].as_u64().unwrap();
    assert!((1 << 20..3 << 20).contains(&size), "{size}");
}

/// A small disk is mounted in a namespace of its own, which is gone afterwards.
#[test]
fn recording_stops_when_the_disk_is_full() {
    let folder = tempfile::tempdir().unwrap();
    let subject = subject("flood.c").arguments(&[FLOOD]);
    let recorder = subject.recorder(&subject.build(), folder.path());
    let script = "mount -t tmpfs -o size=1m small trace || exit 99
                  \"$@\"
                  status=$?
                  cp -r trace kept-trace
                  exit $status";
    fs::create_dir(folder.path().join("trace")).unwrap();
    let mut command = std::process::Command::new("unshare");
    command.args(["--mount", "sh", "-c", script, "sh"]);
    command.arg(recorder.get_program()).args(recorder.get_args()).current_dir(folder.path());
    let ran = run(command);
    if ran.status.code() == Some(99) || ran.stderr.contains("unshare failed") {
        return untested("a full disk: may not mount one here");
    }
    let trace = folder.path().join("trace");
    fs::remove_dir(&trace).unwrap();
    fs::rename(folder.path().join("kept-trace"), &trace).unwrap();
    let recorded = Recorded::new(ran, folder);
    check_flood(&recorded, "disk");
    assert!(
        recorded.ran.stderr.starts_with("norn: the trace could not be written completely"),
        "{}",
        recorded.ran.stderr
    );
}

/// A limit for the size of files is for those of the trace, not for the memory that is shared.
#[test]
fn recording_stops_at_the_file_size_limit() {
    let recorded = limited("ulimit -S -f 2000", "flood.c", &[FLOOD]);
    check_flood(&recorded, "disk");
    let said = &recorded.ran.stderr;
    let what = "norn: the trace could not be written completely: file too large; ";
    assert!(said.starts_with(what), "{said}");
    assert!(said.ends_with("\nhint: `ulimit -f` sets the largest size of a file\n"), "{said}");
    let info = recorded.norn(&["info"]).stdout;
    assert!(info.contains("\n  recording stopped: the trace could not be written\n"), "{info}");
}

/// Records under a limit that a shell sets.
fn limited(limit: &str, source: &str, arguments: &[&str]) -> Recorded {
    let folder = tempfile::tempdir().unwrap();
    let subject = subject(source).arguments(arguments);
    let recorder = subject.recorder(&subject.build(), folder.path());
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &format!("{limit} && exec \"$@\""), "sh"]).current_dir(folder.path());
    shell.arg(recorder.get_program()).args(recorder.get_args());
    Recorded::new(run(shell), folder)
}

/// Limits that are too low are reported before the program runs, and no files are left.
fn check_refused(limit: &str, said: &str) {
    let recorded = limited(limit, "fences.c", &[]);
    assert_eq!((&*recorded.ran.stdout, recorded.ran.status.code()), ("", Some(2)), "{limit}");
    let trace = recorded.trace();
    assert!(!trace.exists(), "{limit}");
    let text = recorded.ran.stderr.replace(&trace.display().to_string(), "[trace]");
    let size = norn_abi::arena::SIZE.div_ceil(1 << 20).to_string();
    check_lines(&text.replace(&size, "[size]"), said);
}

#[test]
fn limits_that_are_too_low_are_errors() {
    check_refused(
        "ulimit -S -f 100",
        "norn: cannot write the trace to `[trace]`: File too large (os error 27)
         hint: `ulimit -f` sets the largest size of a file",
    );
    check_refused(
        "ulimit -v 4000000",
        "norn: cannot create the memory that is shared with the subject: Cannot allocate memory \
         (os error 12)
         hint: it takes [size] MiB, most of which is never used; a limit is lower (the address space: \
         ulimit -v)",
    );
}

/// If the file size limit cannot be raised, the shared memory cannot be created.
#[test]
fn a_limit_that_cannot_be_raised_is_an_error() {
    let user = fs::metadata("/proc/self").unwrap().uid();
    let powerless = match user {
        0 if is_installed("setpriv") => "set -- setpriv --bounding-set=-sys_resource \"$@\"",
        0 => return,
        _ => "true",
    };
    check_refused(
        &format!("ulimit -f 2000 && {powerless}"),
        "norn: cannot create the memory that is shared with the subject: File too large \
         (os error 27)
         hint: it takes [size] MiB, most of which is never used; a limit is lower (the largest size \
         of a file: ulimit -f)",
    );
}

/// The address space suffices for the recorder, but not for the subject.
#[test]
fn a_subject_with_little_address_space_runs_unrecorded() {
    let folder = tempfile::tempdir().unwrap();
    let program = subject("fences.c").build();
    let mut recorder = norn(["record", "-o"]);
    recorder.arg(folder.path().join("trace")).args(["--", "sh", "-c"]);
    recorder.arg("ulimit -v 4000000 && exec \"$0\"").arg(program);
    let ran = run(recorder);
    assert_eq!((&*ran.stdout, ran.status.code()), ("fenced\n", Some(3)));
    let said =
        "norn: a program has not enough address space and was not recorded\nhint: recording needs";
    assert!(ran.stderr.starts_with(said), "{}", ran.stderr);
}
