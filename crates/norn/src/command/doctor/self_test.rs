//! Compiles, records, hunts and replays a small program with a known bug.

use std::{
    env, fs,
    path::Path,
    process::{Command, Output, Stdio},
    time::Instant,
};

use anyhow::Context as _;
use serde_json::Value;

use super::{Check, Level};
use crate::scratch::Scratch;

/// Two threads increment a counter in two steps each, so that an update can be lost.
const PROGRAM: &str = r"
#include <assert.h>
#include <pthread.h>

static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int get(void) {
    pthread_mutex_lock(&lock);
    int value = counter;
    pthread_mutex_unlock(&lock);
    return value;
}

static void set(int value) {
    pthread_mutex_lock(&lock);
    counter = value;
    pthread_mutex_unlock(&lock);
}

static void *increment(void *unused) {
    (void)unused;
    set(get() + 1);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, increment, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    assert(counter == 2);
    return 0;
}
";

/// Environment variables of norn that the self-test keeps: those that name paths.
const KEPT: [&str; 3] = ["NORN_CACHE", "NORN_CC", "NORN_CXX"];

/// A step: its name, its arguments, its expected exit status, and the remedy for a failure.
struct Step {
    name: &'static str,
    arguments: &'static [&'static str],
    status: i32,
    hint: &'static str,
}

const STEPS: [Step; 4] = [
    Step {
        name: "compile",
        arguments: &["cc", "-g", "-O1", "-pthread", "-o", "prog", "prog.c"],
        status: 0,
        hint: "see the compiler's message; NORN_CC chooses another compiler",
    },
    Step {
        name: "record",
        arguments: &[
            "--no-config",
            "run",
            "--strategy",
            "round-robin",
            "--quantum",
            "1000",
            "--timeout",
            "10",
            "--format",
            "json",
            "-o",
            "recorded.norn",
            "--",
            "./prog",
        ],
        status: 0,
        hint: "a controlled run must work here: a sandbox may forbid memfd_create",
    },
    Step {
        name: "hunt",
        arguments: &[
            "--no-config",
            "hunt",
            "--timeout",
            "10",
            "--budget",
            "50",
            "--format",
            "json",
            "-o",
            "run.norn",
            "--",
            "./prog",
        ],
        status: 1,
        hint: "the lost update of the test program must be found; please report this",
    },
    Step {
        name: "replay",
        arguments: &["--no-config", "replay", "--timeout", "10", "run.norn/clips/1.json"],
        status: 1,
        hint: "a replay must show the failure again; please report this",
    },
];

/// Runs the steps up to the first that fails.
pub(super) fn checks() -> anyhow::Result<Vec<Check>> {
    let scratch = Scratch::new()?;
    fs::write(scratch.path().join("prog.c"), PROGRAM)?;
    let mut checks = Vec::new();
    for step in &STEPS {
        let began = Instant::now();
        let output = norn(step.arguments, scratch.path())?;
        let found = format!("{:.1} s", began.elapsed().as_secs_f64());
        if output.status.code() != Some(step.status) {
            let found = format!("{}: {}", output.status, message(&output));
            checks.push(check(step.name, found).bad(Level::Problem, step.hint));
            break;
        }
        checks.push(check(step.name, found));
        if step.name == "record" {
            checks.push(layout(&output));
        }
    }
    Ok(checks)
}

fn check(name: &'static str, found: impl Into<String>) -> Check {
    Check::ok("self-test", name, found)
}

fn norn(arguments: &[&str], folder: &Path) -> anyhow::Result<Output> {
    let program = env::current_exe().context("cannot find the program norn itself")?;
    let mut command = Command::new(program);
    for (name, _) in env::vars_os() {
        let ours = name.to_str().is_some_and(|it| it.starts_with("NORN_") && !KEPT.contains(&it));
        if ours {
            command.env_remove(name);
        }
    }
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1").stdin(Stdio::null());
    command.output().context("cannot run the program norn itself")
}

/// Whether norn could give all runs the same memory layout.
fn layout(output: &Output) -> Check {
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().and_then(|it| serde_json::from_str::<Value>(it).ok());
    if last.is_some_and(|it| it["same_layout"] == true) {
        return check("fixed addresses", "available");
    }
    check("fixed addresses", "the system does not allow personality(ADDR_NO_RANDOMIZE)").bad(
        Level::Warning,
        "replays may differ in addresses; in a container, allow the system call `personality`",
    )
}

/// The first line of an error message; of a compiler, the first line that contains `error`.
fn message(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let error = text.lines().find(|it| it.contains("error:") || it.starts_with("norn: "));
    error.or(text.lines().next()).unwrap_or("no message").trim().to_owned()
}
