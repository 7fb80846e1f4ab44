//! What all databases must do alike for hunts: executions, leases, workers.
#![allow(clippy::unwrap_used, reason = "these are tests, the functions they share included")]

use std::{collections::BTreeSet, time::Duration};

use norn_e2e::postgres::Server;
use norn_store::{
    CampaignRow, Execution, ExecutionFile, ExecutionLease, Location, Requested, Store, StoreError,
};

const LONG: Duration = Duration::from_mins(1);

/// Does the same with an empty store of each kind.
fn each(test: fn(Store)) {
    let folder = tempfile::tempdir().unwrap();
    let file = Location::File(folder.path().join("hunt.db"));
    test(Store::begin_hunt(&file, "{}").unwrap());
    if let Some(server) = Server::start() {
        test(Store::begin_hunt(&Location::new(&server.url()), "{}").unwrap());
    }
}

fn execution(name: &str) -> Execution {
    let file = |name: &str, bytes: Vec<u8>| ExecutionFile { name: name.to_owned(), bytes };
    // More than one part, and all bytes.
    let long = (0..=255).cycle().take(9 << 20).collect();
    let files = vec![file("0.chunks", long), file("stdout", Vec::new())];
    Execution { result: name.to_owned(), files }
}

fn lease(store: &mut Store, worker: &str, time: Duration) -> ExecutionLease {
    store.lease_execution(worker, &BTreeSet::new(), time).unwrap()
}

fn make(id: &str) -> ExecutionLease {
    ExecutionLease::Make { id: id.to_owned(), plan: format!("plan {id}") }
}

#[test]
fn an_execution_is_made_once() {
    each(|mut store| {
        assert_eq!(store.execution("a").unwrap(), Requested::No);
        for (position, id) in [(1, "a"), (0, "b"), (2, "a")] {
            store.want(id, position, &format!("plan {id}")).unwrap();
        }
        assert_eq!(store.next_position().unwrap(), 2);
        assert_eq!(store.execution("a").unwrap(), Requested::Open);
        assert_eq!(lease(&mut store, "one", Duration::ZERO), make("b"));
        assert_eq!(lease(&mut store, "two", LONG), make("b"));
        assert!(!store.lease_this("b", "three", LONG).unwrap());
        assert!(store.lease_this("a", "three", LONG).unwrap());
        assert_eq!(lease(&mut store, "one", LONG), ExecutionLease::Wait);
        // The first one is late, and the first result counts all the same.
        assert!(store.put_execution("b", "one", &execution("first")).unwrap());
        assert!(!store.put_execution("b", "two", &execution("second")).unwrap());
        assert_eq!(store.execution("b").unwrap(), Requested::Made(execution("first")));
        assert_eq!(lease(&mut store, "two", LONG), ExecutionLease::Wait);
    });
}

#[test]
fn what_a_process_does_not_make_is_left_to_others() {
    each(|mut store| {
        store.want("a", 0, "plan a").unwrap();
        assert_eq!(lease(&mut store, "one", LONG), make("a"));
        store.give_back("a", "two").unwrap();
        assert_eq!(lease(&mut store, "two", LONG), ExecutionLease::Wait);
        store.give_back("a", "one").unwrap();
        let others = BTreeSet::from(["a".to_owned()]);
        let next = store.lease_execution("one", &others, LONG).unwrap();
        assert_eq!(next, ExecutionLease::Wait);
        assert_eq!(lease(&mut store, "two", Duration::ZERO), make("a"));
        store.renew_execution("a", "two", LONG).unwrap();
        assert_eq!(lease(&mut store, "one", LONG), ExecutionLease::Wait);
        assert_eq!(store.hunt_workers().unwrap(), ["two"]);
        store.leave("two").unwrap();
        assert_eq!(lease(&mut store, "one", LONG), make("a"));
    });
}

#[test]
fn workers_are_counted_while_they_live() {
    each(|mut store| {
        store.attend("one", 3, LONG).unwrap();
        store.attend("two", 4, Duration::ZERO).unwrap();
        store.attend("one", 3, LONG).unwrap();
        assert_eq!(store.hunt_jobs().unwrap(), 3);
        store.leave("one").unwrap();
        assert_eq!(
            (store.hunt_jobs().unwrap(), store.hunt_workers().unwrap()),
            (0, vec!["two".into()])
        );
    });
}

#[test]
fn workers_end_with_the_hunt() {
    each(|mut store| {
        store.want("a", 0, "plan a").unwrap();
        store.want("b", 1, "plan b").unwrap();
        assert!(store.put_execution("a", "one", &execution("made")).unwrap());
        store.end_hunt().unwrap();
        assert_eq!(lease(&mut store, "one", LONG), ExecutionLease::Done);
        // What has been made stays, and the rest is not wanted any more.
        assert_eq!(store.execution("b").unwrap(), Requested::No);
        assert!(matches!(store.execution("a").unwrap(), Requested::Made(_)));
        assert!(!store.put_execution("b", "one", &execution("late")).unwrap());
    });
}

#[test]
fn an_older_campaign_gets_the_tables_of_hunts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.db");
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch(include_str!("../src/schema.sql")).unwrap();
    old.execute_batch("INSERT INTO norn_schema VALUES (1)").unwrap();
    old.execute_batch("INSERT INTO campaign VALUES (1, 'old', 0, NULL)").unwrap();
    drop(old);
    let file = Location::File(path);
    let settings = |store: &mut Store| store.campaign().unwrap().settings;
    assert_eq!(settings(&mut Store::open(&file).unwrap()), "old");
    assert!(matches!(Store::open_hunt(&file), Err(StoreError::NoHunt(_))));
    let new = CampaignRow { settings: "new".to_owned(), stop_early: true, settled: None };
    assert_eq!(settings(&mut Store::begin(&file, &new).unwrap()), "old");
    let mut hunt = Store::begin_hunt(&file, "hunt").unwrap();
    hunt.end_hunt().unwrap();
    // Another hunt does not begin this one again.
    Store::begin_hunt(&file, "another").unwrap();
    assert_eq!(lease(&mut hunt, "one", LONG), ExecutionLease::Done);
    Store::begin_hunt(&file, "hunt").unwrap();
    assert_eq!(lease(&mut hunt, "one", LONG), ExecutionLease::Wait);
    assert_eq!((hunt.hunt_settings().unwrap(), settings(&mut hunt)), ("hunt".into(), "old".into()));
}
