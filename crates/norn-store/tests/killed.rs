//! A process that writes to a SQLite file is killed at many moments: the file opens, and nothing that was
//! committed is lost.
#![allow(clippy::unwrap_used, reason = "these are tests, the functions they share included")]
#![allow(clippy::print_stdout, reason = "the process that is killed reports its commits")]

use std::{
    collections::BTreeSet,
    env,
    io::{Read as _, Write as _},
    path::Path,
    process::{Command, ExitCode, Stdio},
    thread,
    time::Duration,
};

use libtest_mimic::{Arguments, Trial};
use norn_store::{CampaignRow, Lease, Location, Outcome, PatternRow, RunResult, Store};

/// The argument that makes this program the one that is killed.
const WRITER: &str = "--write-to";
/// How often it is killed.
const KILLS: u64 = 50;
/// Number of patterns of each run: a commit writes many pages.
const PATTERNS: i64 = 60;

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().collect();
    if let [_, option, path] = arguments.as_slice()
        && option == WRITER
    {
        write(&Location::File(path.into()));
        return ExitCode::SUCCESS;
    }
    let test = Trial::test("nothing_that_was_committed_is_lost", || {
        nothing_is_lost();
        Ok(())
    });
    libtest_mimic::run(&Arguments::from_args(), vec![test]).exit_code()
}

fn open(location: &Location) -> Store {
    let campaign = CampaignRow { settings: "{}".to_owned(), stop_early: false, settled: None };
    Store::begin(location, &campaign).unwrap()
}

/// Puts in one result after another, and prints the seed of each after the commit.
fn write(location: &Location) {
    let mut store = open(location);
    store.release("writer").unwrap();
    while let Lease::Run(seed) = store.lease("writer", Duration::from_mins(1)).unwrap() {
        assert!(store.finish(seed, &result(seed)).unwrap());
        println!("{seed}");
        std::io::stdout().flush().unwrap();
    }
}

fn result(seed: u64) -> RunResult {
    let pattern = |id| PatternRow {
        id,
        shape: "R1-W2".to_owned(),
        title: "title".repeat(20),
        sites: "[]".to_owned(),
        accesses: "[]".to_owned(),
        seed,
        failing: false,
    };
    // Some patterns are new in each run.
    let first = i64::try_from(seed).unwrap() * 7;
    let patterns: Vec<_> = (first..first + PATTERNS).collect();
    RunResult {
        outcome: Outcome::Passed,
        strategy: "random".to_owned(),
        expected: 1,
        failure: None,
        described: patterns.iter().map(|it| pattern(*it)).collect(),
        patterns,
        ordered: true,
        sampled: false,
        error: None,
    }
}

fn nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("campaign.db");
    // Planned here, so that even the shortest life has something to do.
    open(&Location::File(path.clone())).plan(0..20_000).unwrap();
    let mut committed = BTreeSet::new();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for kill in 0..KILLS {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(kill);
        let micros = (random >> 33) % 60_000;
        let printed = write_until_killed(&path, Duration::from_micros(micros));
        assert!(printed.iter().all(|it| committed.insert(*it)), "a run was made twice");
        look(&path, &committed);
    }
    assert!(committed.len() > 50, "the process did too little: {committed:?}");
}

/// Starts the writer, and kills it some time after its first commit. Returns the seeds that it printed.
fn write_until_killed(path: &Path, after: Duration) -> Vec<u64> {
    let mut command = Command::new(env::current_exe().unwrap());
    command.arg(WRITER).arg(path).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut first = [0];
    stdout.read_exact(&mut first).unwrap();
    thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
    let mut text = String::from_utf8(first.to_vec()).unwrap();
    stdout.read_to_string(&mut text).unwrap();
    // A line may have been cut short.
    let lines = text.split_inclusive('\n').filter_map(|it| it.strip_suffix('\n'));
    lines.map(|it| it.parse().unwrap()).collect()
}

/// The file is sound, has all results that were reported, and each of them is complete.
fn look(path: &Path, committed: &BTreeSet<u64>) {
    let database = rusqlite::Connection::open(path).unwrap();
    let check: String = database.query_row("PRAGMA integrity_check", [], |it| it.get(0)).unwrap();
    assert_eq!(check, "ok");
    let mut store = Store::open(&Location::File(path.to_owned())).unwrap();
    let runs = store.runs(0, 20_000).unwrap();
    let made: BTreeSet<_> =
        runs.iter().filter(|it| it.outcome.is_some()).map(|it| it.seed).collect();
    assert!(made.is_superset(committed), "lost: {:?}", committed.difference(&made));
    // One more may have been committed without being reported, for each kill.
    for run in runs.iter().take(made.len() + 2) {
        let expected = if run.outcome.is_some() { PATTERNS } else { 0 };
        assert_eq!(run.patterns.len(), usize::try_from(expected).unwrap(), "run {}", run.seed);
    }
}
