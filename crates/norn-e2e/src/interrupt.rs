//! Interrupts commands at chosen moments, and looks for what they leave behind.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    process::{Ran, finish, kill, start},
    schema::{line_errors, report_errors},
};

/// A variable of the environment by which the processes of a command are found.
const MARK: &str = "NORN_TEST_MARK";
/// How long to wait for a command to get ready.
const READY: Duration = Duration::from_mins(1);

/// A program with millions of events: prediction and everything after it take long.
pub const LONG: &str = r"
#include <pthread.h>
enum { THREADS = 4, ROUNDS = 150000, SIZE = 512 };
static int shared[SIZE], hits;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *own) {
    int *mine = own;
    for (int i = 0; i < ROUNDS; i++) {
        mine[i % SIZE] += shared[(i * 7) % SIZE];
        if (i % 64 == 0) {
            pthread_mutex_lock(&lock);
            shared[i % SIZE] += 1;
            pthread_mutex_unlock(&lock);
        }
    }
    hits++;
    return 0;
}
int main(void) {
    static int mine[THREADS][SIZE];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, work, mine[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    return 0;
}
";

/// When a command is interrupted.
#[derive(Debug)]
pub enum Moment {
    /// This long after it can be interrupted.
    After(Duration),
    /// When this file exists.
    File(PathBuf),
}

/// A command that was interrupted.
#[derive(Debug)]
pub struct Interrupted {
    /// Its output and exit status.
    pub ran: Ran,
    /// The time from the signal to its end.
    pub time: Duration,
    /// Files that it left in the folder for temporary files.
    pub scratch: Vec<PathBuf>,
    /// Processes that it left behind.
    pub processes: Vec<String>,
}

/// Starts a command, sends it `SIGTERM` at a moment, and waits for its end. `scratch` is its folder for
/// temporary files, which must be empty. A command that ends before the moment is not interrupted.
pub fn interrupt(mut command: Command, scratch: &Path, moment: &Moment) -> Interrupted {
    let mark = format!("{}-{}", std::process::id(), scratch.display());
    command.env("TMPDIR", scratch).env(MARK, &mark);
    let name = format!("{command:?}");
    let mut child = start(command);
    wait(&mut child, |child| catches_term(child.id()));
    match moment {
        Moment::After(time) => thread::sleep(*time),
        Moment::File(path) => wait(&mut child, |_| path.exists()),
    }
    let sent = Instant::now();
    kill("-TERM", &child.id().to_string());
    let ran = finish(&name, child);
    let time = sent.elapsed();
    let left = fs::read_dir(scratch).unwrap().map(|it| it.unwrap().path());
    Interrupted { ran, time, scratch: left.collect(), processes: processes(&mark) }
}

impl Interrupted {
    /// What is wrong with it, in words: the report of an interrupted hunt, in one of the formats for
    /// programs, and what it left behind.
    pub fn problems(&self) -> Vec<String> {
        let Interrupted { ran, scratch, processes, .. } = self;
        let mut problems = Vec::new();
        if !scratch.is_empty() {
            problems.push(format!("it left files behind: {scratch:?}"));
        }
        if !processes.is_empty() {
            problems.push(format!("it left processes behind: {processes:?}"));
        }
        let lines: Result<Vec<Value>, _> = ran.stdout.lines().map(serde_json::from_str).collect();
        let lines = match lines {
            Ok(lines) if !lines.is_empty() => lines,
            other => {
                problems.push(format!("it wrote no report: {other:?}, {ran:?}"));
                return problems;
            }
        };
        for line in &lines {
            let is_line = !line["line"].is_null();
            let errors = if is_line { line_errors(line) } else { report_errors(line) };
            problems.extend(errors);
        }
        let end = &lines[lines.len() - 1];
        let ended = end["summary"]["ended"].as_str().unwrap_or("?");
        if !["interrupted", "complete", "budget"].contains(&ended) {
            problems.push(format!("the report says that it ended by {ended}"));
        }
        let code = end["exit"]["code"].as_i64();
        if code != ran.code.map(Into::into) {
            problems.push(format!("the report has the exit status {code:?}: {:?}", ran.code));
        }
        problems
    }

    /// Whether the signal ended it, and not its own end.
    pub fn is_cut(&self) -> bool {
        self.ran.stdout.contains("\"ended\":\"interrupted\"")
    }
}

/// Waits until a condition holds or the command has ended.
fn wait(child: &mut Child, condition: impl Fn(&Child) -> bool) {
    let begun = Instant::now();
    while !condition(child) && child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < READY, "the command does not get ready");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Whether a process has a handler for `SIGTERM`.
fn catches_term(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|it| it.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|it| u64::from_str_radix(it.trim(), 16).ok());
    caught.is_some_and(|it| it & (1 << (libc::SIGTERM - 1)) != 0)
}

/// The processes with a mark in their environment, by number and name.
fn processes(mark: &str) -> Vec<String> {
    let wanted = format!("{MARK}={mark}");
    let all = fs::read_dir("/proc").unwrap().flatten().filter_map(|it| {
        let environment = fs::read(it.path().join("environ")).ok()?;
        let is_ours = environment.split(|it| *it == 0).any(|it| it == wanted.as_bytes());
        let name = fs::read_to_string(it.path().join("comm")).unwrap_or_default();
        is_ours.then(|| format!("{} {}", it.file_name().to_string_lossy(), name.trim()))
    });
    all.collect()
}
