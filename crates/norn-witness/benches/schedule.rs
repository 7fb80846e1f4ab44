//! Measures the time to find, check and minimise a schedule: `cargo bench -p norn-witness`.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

use std::time::Instant;

use norn_predict::{Options, predict};
use norn_testkit::long;
use norn_witness::{Checker, Engine, Hybrid, Witnesses};

fn main() {
    let given = std::env::args().find_map(|it| it.parse().ok());
    let trace = long(8, given.unwrap_or(100_000));
    let candidates = predict(&trace, &Options::default()).candidates;
    let hybrid = Hybrid::new(&trace);
    time("schedule", &candidates, |it| hybrid.schedules(it).find_map(Result::ok).is_some());
    let checker = Checker::new(&trace);
    time("schedule and check", &candidates, |it| {
        let turns = hybrid.schedules(it).find_map(Result::ok);
        turns.is_some_and(|turns| checker.check(it, &turns).is_ok())
    });
    let witnesses = Witnesses::new(&trace);
    time("witness", &candidates, |it| witnesses.witness(it).is_ok());
}

/// The mean time per candidate, and the number of successes.
fn time<T>(what: &str, all: &[T], work: impl Fn(&T) -> bool) {
    let start = Instant::now();
    let good = all.iter().filter(|it| work(it)).count();
    let each = start.elapsed().as_secs_f64() * 1e3 / all.len().max(1) as f64;
    println!("{what}: {each:.3} ms each, {good} of {}", all.len());
}
