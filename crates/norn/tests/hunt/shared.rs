//! Hunts whose executions are in a store: interrupted, and shared by several processes.

use std::{
    fs,
    process::Child,
    thread,
    time::{Duration, Instant},
};

use norn_e2e::{postgres::Server, process};
use tempfile::TempDir;

use crate::kit::{Ran, command, norn, norn_hunt, subjects};

/// A folder with a program that has several bugs.
fn program() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let source = subjects("localize").join("account.c");
    let build = ["-g", "-O1", "-pthread", "-o", "program", source.to_str().unwrap()];
    assert_eq!(norn("cc", build, &folder).code, Some(0));
    folder
}

/// The options of a hunt. Each execution leaves a line in a file, and sleeps, in a shell that norn does not
/// control.
fn words<'a>(options: &[&'a str], script: &'a str) -> Vec<&'a str> {
    let common = ["--budget", "16", "--format", "json"];
    [&common[..], options, &["--", "sh", "-c", script]].concat()
}

fn start(folder: &TempDir, words: &[&str]) -> Child {
    let mut hunt = command("hunt");
    hunt.args(words).current_dir(folder.path());
    process::start(hunt)
}

fn kill(mut child: Child) {
    process::kill("-KILL", &format!("-{}", child.id()));
    child.wait().unwrap();
}

/// Number of executions so far.
fn executions(folder: &TempDir) -> u64 {
    let lines = fs::read_to_string(folder.path().join("executions")).unwrap_or_default();
    lines.lines().count() as u64
}

/// The numbers of executions that a hunt made, and that it took from its store.
fn counts(ran: &Ran) -> (u64, u64) {
    let (_, rest) = ran.stderr.split_once("this process made ").unwrap();
    let (made, rest) = rest.split_once(" executions, and took ").unwrap();
    let (taken, _) = rest.split_once(' ').unwrap();
    (made.parse().unwrap(), taken.parse().unwrap())
}

fn wait_until(mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(2);
    while !condition() {
        assert!(Instant::now() < deadline, "nothing happens any more");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_killed_hunt_goes_on_without_repeating_executions() {
    const KILLS: u64 = 3;
    let folder = program();
    let script = "echo >> executions; exec ./program";
    let whole = norn_hunt(words(&["-j", "1", "--store", "whole.db"], script), &folder);
    let (all, none) = counts(&whole);
    assert_eq!((executions(&folder), none), (all, 0), "{whole:?}");
    fs::remove_file(folder.path().join("executions")).unwrap();
    let words = words(&["-j", "1", "--store", "hunt.db"], script);
    for number in 1..=KILLS {
        let hunt = start(&folder, &words);
        wait_until(|| executions(&folder) >= number * 4);
        kill(hunt);
    }
    let before = executions(&folder);
    let rest = norn_hunt(&words, &folder);
    assert_eq!((rest.code, &rest.stdout), (Some(1), &whole.stdout), "{}", rest.stderr);
    let (made, taken) = counts(&rest);
    assert_eq!(executions(&folder) - before, made);
    // One process was making one execution whenever it was killed; all others are in the store.
    assert_eq!(made + taken, all);
    assert!(taken + KILLS >= before && made > 0, "{taken} of {before}, {made} made");
    // There is nothing left to execute.
    assert_eq!(counts(&norn_hunt(&words, &folder)), (0, all));
}

#[test]
fn workers_on_a_server_do_not_change_the_findings() {
    let Some(mut server) = Server::start() else { return };
    let folder = program();
    let script = "echo >> executions; sleep 0.2; exec ./program";
    let plain = norn_hunt(words(&[], script), &folder);
    fs::remove_file(folder.path().join("executions")).unwrap();
    let url = server.url();
    let store = ["--store", &url, "-j", "1", "--lease", "2"];
    let hunt = start(&folder, &words(&store, script));
    wait_until(|| executions(&folder) > 0);
    let worker = || start(&folder, &[&store[..], &["--worker"]].concat());
    let (killed, worker) = (worker(), worker());
    wait_until(|| executions(&folder) >= 6);
    kill(killed);
    wait_until(|| executions(&folder) >= 9);
    server.restart();
    let hunt = process::finish("hunt", hunt);
    assert_eq!((hunt.code, hunt.stdout), (plain.code, plain.stdout), "{}", hunt.stderr);
    let worker = process::finish("worker", worker);
    assert_eq!(worker.code, Some(0), "{worker:?}");
    let (_, made) = worker.stderr.split_once("this worker made ").unwrap();
    let (made, _) = made.split_once(" executions").unwrap();
    assert!(made.parse::<u64>().unwrap() > 0, "{worker:?}");
    // Every execution has one result, with its trace.
    let open = "SELECT count(*) FROM execution WHERE result IS NULL";
    let empty = "SELECT count(*) FROM execution e WHERE NOT EXISTS \
                 (SELECT 1 FROM execution_file f WHERE f.execution = e.id AND f.name = '0.chunks')";
    assert_eq!((server.sql(open), server.sql(empty)), ("0".to_owned(), "0".to_owned()));
    assert_eq!(server.sql("SELECT ended FROM hunt"), "1");
}

#[test]
fn four_processes_are_faster_than_one() {
    let folder = program();
    let script = "echo >> executions; sleep 1; exec ./program";
    let begin = Instant::now();
    let alone = norn_hunt(words(&["-j", "1", "--store", "one.db"], script), &folder);
    let one = begin.elapsed().as_secs_f64();
    fs::remove_file(folder.path().join("executions")).unwrap();
    let begin = Instant::now();
    let hunt = start(&folder, &words(&["-j", "1", "--store", "four.db"], script));
    wait_until(|| executions(&folder) > 0);
    let worker = || start(&folder, &["--store", "four.db", "--worker", "-j", "1"]);
    let workers = [worker(), worker(), worker()];
    let together = process::finish("hunt", hunt);
    let four = begin.elapsed().as_secs_f64();
    assert_eq!(together.stdout, alone.stdout);
    for worker in workers {
        assert_eq!(process::finish("worker", worker).code, Some(0));
    }
    assert!(one >= 1.8 * four, "one process: {one:.1} s, four: {four:.1} s");
}

#[test]
fn a_store_is_for_one_build_of_a_program() {
    let folder = program();
    let refused = |words: &[&str], message: &str| {
        let ran = norn_hunt(words, &folder);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(message), "{ran:?}");
    };
    refused(&["--worker"], "--store");
    refused(&["--store", "none.db", "--worker"], "`none.db` has no hunt");
    fs::write(folder.path().join("x.c"), "int main(void) { return 0; }").unwrap();
    refused(&["--store", "hunt.db", "x.c"], "not a source file");
    let first = ["--budget", "2", "--store", "hunt.db", "--", "./program"];
    assert!(matches!(norn_hunt(first, &folder).code, Some(0 | 1)));
    refused(&["--store", "hunt.db", "--", "./program", "2"], "of another program");
    let path = folder.path().join("program");
    let mut content = fs::read(&path).unwrap();
    // What follows the sections of an ELF file has no meaning, but it is another file.
    content.push(0);
    fs::remove_file(&path).unwrap();
    fs::write(&path, content).unwrap();
    refused(&first, "of another program, build");
    refused(&["--store", "hunt.db", "--worker"], "not the one of the hunt");
}
