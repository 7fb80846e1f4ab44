//! What all databases must do alike: leases, results, order, merging.
#![allow(clippy::unwrap_used, reason = "these are tests, the functions they share included")]

use std::{fs, thread, time::Duration};

use norn_e2e::postgres::Server;
use norn_store::{
    CampaignRow, FailureRow, Lease, Location, Outcome, PatternRow, Progress, RunResult, Store,
    StoreError,
};

const LONG: Duration = Duration::from_mins(1);

fn campaign() -> CampaignRow {
    CampaignRow { settings: "{}".to_owned(), stop_early: true, settled: None }
}

fn pattern(id: i64, seed: u64, failing: bool) -> PatternRow {
    PatternRow {
        id,
        shape: "R1-W2".to_owned(),
        title: format!("from run {seed}"),
        sites: format!("[{id}]"),
        accesses: "[]".to_owned(),
        seed,
        failing,
    }
}

fn passed(seed: u64, patterns: &[i64]) -> RunResult {
    RunResult {
        outcome: Outcome::Passed,
        strategy: "random".to_owned(),
        expected: 10,
        failure: None,
        patterns: patterns.to_vec(),
        described: patterns.iter().map(|it| pattern(*it, seed, false)).collect(),
        ordered: true,
        sampled: false,
        error: None,
    }
}

fn failed(seed: u64, patterns: &[i64]) -> RunResult {
    let failure = FailureRow {
        id: 9,
        kind: "exit".to_owned(),
        title: format!("exit in run {seed}"),
        site: "{}".to_owned(),
        seed,
        clip: Some(format!("clip of {seed}")),
    };
    RunResult {
        outcome: Outcome::Failed,
        failure: Some(failure),
        described: patterns.iter().map(|it| pattern(*it, seed, true)).collect(),
        ..passed(seed, patterns)
    }
}

/// Does the same with an empty store of each kind.
fn each(test: fn(Store, &Location)) {
    let folder = tempfile::tempdir().unwrap();
    let file = Location::File(folder.path().join("campaign.db"));
    test(Store::begin(&file, &campaign()).unwrap(), &file);
    test(Store::begin(&Location::Memory, &campaign()).unwrap(), &Location::Memory);
    if let Some(server) = Server::start() {
        let server_location = Location::new(&server.url());
        test(Store::begin(&server_location, &campaign()).unwrap(), &server_location);
    }
}

#[test]
fn a_run_has_one_worker_until_its_lease_expires() {
    each(|mut store, _| {
        store.plan(5..7).unwrap();
        assert_eq!(store.lease("one", LONG).unwrap(), Lease::Run(5));
        assert_eq!(store.lease("two", Duration::ZERO).unwrap(), Lease::Run(6));
        // The lease of the second worker was over at once.
        assert_eq!(store.lease("three", LONG).unwrap(), Lease::Run(6));
        assert_eq!(store.lease("four", LONG).unwrap(), Lease::Wait);
        assert_eq!(store.workers().unwrap(), ["one", "three"]);
        let progress = Progress { planned: 2, made: 0, leased: 2 };
        assert_eq!(store.progress().unwrap(), progress);
        store.release("three").unwrap();
        assert_eq!(store.lease("four", LONG).unwrap(), Lease::Run(6));
        store.finish(5, &passed(5, &[1])).unwrap();
        assert_eq!(store.lease("one", LONG).unwrap(), Lease::Wait);
        store.finish(6, &passed(6, &[])).unwrap();
        assert_eq!(store.lease("one", LONG).unwrap(), Lease::Done);
    });
}

#[test]
fn a_renewed_lease_does_not_expire() {
    each(|mut store, _| {
        store.plan(0..1).unwrap();
        assert_eq!(store.lease("one", Duration::ZERO).unwrap(), Lease::Run(0));
        store.renew("one", &[0], LONG).unwrap();
        assert_eq!(store.lease("two", LONG).unwrap(), Lease::Wait);
    });
}

/// The confirmation of the first lease was lost with the connection, so the worker does not know of it.
#[test]
fn a_lease_that_its_worker_does_not_know_of_expires() {
    each(|mut store, _| {
        store.plan(0..2).unwrap();
        assert_eq!(store.lease("one", Duration::ZERO).unwrap(), Lease::Run(0));
        store.renew("one", &[1], LONG).unwrap();
        store.renew("one", &[], LONG).unwrap();
        assert_eq!(store.lease("two", LONG).unwrap(), Lease::Run(0));
    });
}

#[test]
fn the_first_result_of_a_seed_counts() {
    each(|mut store, _| {
        store.plan(0..1).unwrap();
        assert!(store.finish(0, &failed(0, &[3, 1])).unwrap());
        assert!(!store.finish(0, &passed(0, &[2])).unwrap());
        // It was never planned.
        assert!(!store.finish(8, &passed(8, &[2])).unwrap());
        let runs = store.runs(0, 10).unwrap();
        assert_eq!(runs.len(), 1);
        assert_eq!((runs[0].outcome, runs[0].failure), (Some(Outcome::Failed), Some(9)));
        assert_eq!(runs[0].patterns, [3, 1]);
        assert_eq!((runs[0].strategy.as_str(), runs[0].expected), ("random", 10));
    });
}

/// Runs end in any order, but the store has the same in the end.
#[test]
fn the_first_failing_run_is_the_example() {
    each(|mut store, _| {
        store.plan(0..4).unwrap();
        store.finish(2, &passed(2, &[1])).unwrap();
        store.finish(3, &failed(3, &[1])).unwrap();
        store.finish(1, &failed(1, &[1])).unwrap();
        store.finish(0, &passed(0, &[1])).unwrap();
        assert_eq!(store.patterns(&[1, 7]).unwrap(), [pattern(1, 1, true)]);
        let failures = store.failures().unwrap();
        assert_eq!((failures.len(), failures[0].seed), (1, 1));
        assert_eq!(failures[0].clip.as_deref(), Some("clip of 1"));
    });
}

#[test]
fn a_settled_campaign_ends_until_it_is_extended() {
    each(|mut store, location| {
        store.plan(0..3).unwrap();
        store.finish(0, &passed(0, &[])).unwrap();
        store.settle(0).unwrap();
        store.settle(2).unwrap();
        assert_eq!(store.campaign().unwrap().settled, Some(0));
        assert_eq!(store.lease("one", LONG).unwrap(), Lease::Done);
        store.extend(2).unwrap();
        let row = CampaignRow { stop_early: false, ..campaign() };
        assert_eq!(store.campaign().unwrap(), row);
        assert_eq!(store.progress().unwrap(), Progress { planned: 5, made: 1, leased: 0 });
        assert_eq!(store.lease("one", LONG).unwrap(), Lease::Run(1));
        // Whoever comes later joins the campaign that is there.
        if *location != Location::Memory {
            let other = CampaignRow { settings: "other".to_owned(), ..campaign() };
            assert_eq!(Store::begin(location, &other).unwrap().campaign().unwrap(), row);
            assert!(Store::exists(location).unwrap());
        }
    });
}

#[test]
fn merged_campaigns_have_the_runs_of_both() {
    each(|mut store, _| {
        let mut other = Store::begin(&Location::Memory, &campaign()).unwrap();
        store.plan(0..3).unwrap();
        store.finish(0, &passed(0, &[1])).unwrap();
        store.finish(1, &failed(1, &[2])).unwrap();
        other.plan(1..5).unwrap();
        other.finish(1, &failed(1, &[2])).unwrap();
        other.finish(3, &failed(3, &[1, 2])).unwrap();
        let mut merged = Store::begin(&Location::Memory, &campaign()).unwrap();
        merged.absorb(&mut store).unwrap();
        merged.absorb(&mut other).unwrap();
        assert_eq!(merged.progress().unwrap(), Progress { planned: 5, made: 3, leased: 0 });
        let made = merged.runs(0, 10).unwrap();
        let made: Vec<_> = made.iter().filter(|it| it.outcome.is_some()).collect();
        let seeds: Vec<_> = made.iter().map(|it| (it.seed, it.patterns.clone())).collect();
        assert_eq!(seeds, [(0, vec![1]), (1, vec![2]), (3, vec![1, 2])]);
        assert_eq!(merged.patterns(&[1]).unwrap(), [pattern(1, 3, true)]);
    });
}

#[test]
fn texts_of_any_content_are_kept() {
    each(|mut store, _| {
        store.plan(0..1).unwrap();
        let error = Some("'; DROP TABLE run; -- \u{1f9f5} \"".to_owned());
        let result = RunResult { outcome: Outcome::Lost, error: error.clone(), ..passed(0, &[]) };
        store.finish(0, &result).unwrap();
        assert_eq!(store.runs(0, 1).unwrap()[0].error, error);
    });
}

/// More rows than one statement may have.
#[test]
fn a_run_may_have_many_patterns() {
    each(|mut store, _| {
        store.plan(0..1200).unwrap();
        let patterns: Vec<_> = (0..1700).rev().collect();
        store.finish(1100, &passed(1100, &patterns)).unwrap();
        assert_eq!(store.runs(1100, 1).unwrap()[0].patterns, patterns);
        assert_eq!(store.patterns(&patterns).unwrap().len(), patterns.len());
    });
}

#[test]
fn many_workers_never_make_the_same_run() {
    each(|mut store, location| {
        if *location == Location::Memory {
            return;
        }
        store.plan(0..60).unwrap();
        let work = |name: String| {
            let mut store = Store::open(location).unwrap();
            let mut made = Vec::new();
            while let Lease::Run(seed) = store.lease(&name, LONG).unwrap() {
                assert!(store.finish(seed, &failed(seed, &[1, 2, 3])).unwrap());
                made.push(seed);
            }
            made
        };
        let mut made = thread::scope(|scope| {
            let work = &work;
            let workers: Vec<_> =
                (0..6).map(|it| scope.spawn(move || work(format!("worker {it}")))).collect();
            workers.into_iter().flat_map(|it| it.join().unwrap()).collect::<Vec<_>>()
        });
        made.sort_unstable();
        assert_eq!(made, (0..60).collect::<Vec<_>>());
    });
}

#[test]
fn other_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text");
    let location = Location::File(path.clone());
    assert!(matches!(Store::open(&location), Err(StoreError::Empty(_))));
    fs::write(&path, "This is a text, and long enough to have a header of its own.").unwrap();
    assert!(matches!(Store::open(&location), Err(StoreError::Foreign(_))));
    assert!(matches!(Store::begin(&location, &campaign()), Err(StoreError::Foreign(_))));
    let path = folder.path().join("other.db");
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE customer (name TEXT)").unwrap();
    let location = Location::File(path);
    assert!(matches!(Store::begin(&location, &campaign()), Err(StoreError::Foreign(_))));
    assert!(matches!(Store::open(&location), Err(StoreError::Empty(_))));
}

#[test]
fn a_newer_schema_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("campaign.db");
    let location = Location::File(path.clone());
    drop(Store::begin(&location, &campaign()).unwrap());
    let database = rusqlite::Connection::open(&path).unwrap();
    database.execute_batch("UPDATE norn_schema SET version = 77").unwrap();
    assert!(matches!(Store::open(&location), Err(StoreError::Newer(77))));
}

#[test]
fn a_server_that_is_not_there_is_named_without_its_password() {
    let address = "postgres://norn:secret@%2Fnowhere/flaky";
    let error = Store::open(&Location::new(address)).unwrap_err().to_string();
    assert!(
        error.starts_with("cannot connect to PostgreSQL at /nowhere (database flaky)"),
        "{error}"
    );
    assert!(!error.contains("secret"), "{error}");
    let error = Store::open(&Location::new("postgres://norn@:x/")).unwrap_err().to_string();
    assert!(error.starts_with("not an address"), "{error}");
}
