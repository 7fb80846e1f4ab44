//! Campaigns in PostgreSQL: many workers, some of which die, and a server that is restarted.

use std::{
    process::Child,
    thread,
    time::{Duration, Instant},
};

use norn_e2e::{postgres::Server, process};

use crate::kit::{Program, program};

/// Each run sleeps, in a shell that norn does not control.
fn work(program: &Program, url: &str, options: &[&str], sleep: &str) -> Child {
    let words = ["localize", "--store", url, "--worker", "-j", "1", "--no-early-stop"];
    let script = format!("sleep {sleep}; exec ./program");
    let command = ["--", "sh", "-c", &script];
    process::start(program.command(&[&words[..], options, &command].concat()))
}

/// Number of runs that have a result.
fn made(server: &Server) -> u64 {
    let tables = server.sql("SELECT count(*) FROM pg_class WHERE relname = 'run_pattern'");
    if tables == "0" {
        return 0;
    }
    server.sql("SELECT count(*) FROM run WHERE outcome IS NOT NULL").parse().unwrap()
}

fn wait_for(server: &Server, runs: u64) {
    let deadline = Instant::now() + Duration::from_mins(2);
    while made(server) < runs {
        assert!(Instant::now() < deadline, "too few runs were made: {}", made(server));
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn every_seed_has_one_result_whoever_dies() {
    let Some(mut server) = Server::start() else { return };
    let program = program("account");
    let url = server.url();
    let options = ["-n", "40", "--lease", "2"];
    let start = || work(&program, &url, &options, "0.1");
    let mut workers: Vec<_> = (0..4).map(|_| start()).collect();
    wait_for(&server, 8);
    for mut worker in workers.drain(..2) {
        process::kill("-KILL", &format!("-{}", worker.id()));
        worker.wait().unwrap();
    }
    wait_for(&server, 16);
    server.restart();
    let mut reported = 0;
    for worker in workers {
        let ran = process::finish("worker", worker);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let (_, rest) = ran.stderr.split_once("this worker made ").unwrap();
        let (number, _) = rest.split_once(" of 40 runs").unwrap();
        reported += number.parse::<u64>().unwrap();
    }
    // No seed is missing, none has been made twice, and no result is half there.
    assert_eq!(
        server.sql("SELECT count(*), count(outcome), min(seed), max(seed) FROM run"),
        "40|40|0|39"
    );
    let empty = "SELECT count(*) FROM run r WHERE NOT EXISTS \
                 (SELECT 1 FROM run_pattern p WHERE p.seed = r.seed)";
    assert_eq!(server.sql(empty), "0");
    assert!((1..40).contains(&reported), "{reported}");
    // The same campaign by one process gives the same ranking.
    let show = |store: &str| {
        let ran = program.norn(&["campaign", "show", store, "--format", "json"]);
        ran.json()["localization"].clone()
    };
    let words = ["localize", "--store", "one.db", "-n", "40", "--no-early-stop", "--", "sh", "-c"];
    program.norn(&[&words[..], &["sleep 0.1; exec ./program"]].concat());
    assert_eq!(show(&url), show("one.db"));
}

#[test]
fn four_workers_are_faster_than_one() {
    let Some(server) = Server::start() else { return };
    let program = program("account");
    let time = |workers: usize, runs: &str| {
        let options = ["-n", runs];
        let begin = Instant::now();
        let workers: Vec<_> =
            (0..workers).map(|_| work(&program, &server.url(), &options, "1")).collect();
        for worker in workers {
            assert_eq!(process::finish("worker", worker).code, Some(0));
        }
        begin.elapsed().as_secs_f64()
    };
    // The second measurement adds as many runs to the same campaign.
    let one = time(1, "12");
    let four = time(4, "24");
    assert_eq!(made(&server), 24);
    assert!(one >= 1.8 * four, "one worker: {one:.1} s, four: {four:.1} s");
}
