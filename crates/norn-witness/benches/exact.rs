//! How long the exact engine takes for a candidate, in processor time, and how much memory:
//! `cargo bench -p norn-witness --bench exact`, with sizes of traces as arguments.
//!
//! A question is easy if the fast engine finds a schedule that keeps all values, else hard.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

use norn_model::{Access, Anomaly, Candidate, EventId, Scope, SiteId, Step, Trace};
use norn_testkit::Workload;
use norn_witness::{Checker, Engine, Exact, Grade, Hybrid, Infeasible, Limits};
use rustix::time::{ClockId, clock_gettime};

fn main() {
    let given: Vec<usize> = std::env::args().filter_map(|it| it.parse().ok()).collect();
    let sizes = if given.is_empty() { vec![1_000, 5_000, 20_000, 100_000] } else { given };
    println!(
        "events  reads  kind  number  median ms  p99 ms  max ms  witness  infeasible  inconclusive  peak MB"
    );
    for events in sizes {
        let load = Workload { threads: 8, events, values: 3, seed: 1 };
        let trace = load.trace();
        let count = if events > 50_000 { 200 } else { 800 };
        let questions = load.questions(&trace, count);
        let candidates: Vec<_> = questions.iter().map(|it| candidate(&it.0, it.1)).collect();
        let (easy, hard) = split(&trace, candidates);
        for fixed in [true, false] {
            let exact = Exact::new(&trace, Limits { fixed, ..Limits::default() });
            let checker = Checker::new(&trace);
            for (kind, candidates) in [("easy", &easy), ("hard", &hard)] {
                let reads = if fixed { "fixed" } else { "free" };
                print!("{events:>6}  {reads:>5}  {kind}");
                measure(&exact, &checker, candidates);
            }
        }
    }
}

fn candidate(events: &[EventId], adjacent: bool) -> Candidate {
    let step = |event: &EventId| Step {
        event: *event,
        site: SiteId(0),
        addr: 0,
        access: Access::Write,
        region: (event.index, event.index),
    };
    Candidate {
        class: Anomaly::Pattern,
        pattern: "any".to_owned(),
        adjacent,
        steps: events.iter().map(step).collect(),
        scope: Scope::Single,
        instance: 0,
    }
}

fn split(trace: &Trace, candidates: Vec<Candidate>) -> (Vec<Candidate>, Vec<Candidate>) {
    let (hybrid, checker) = (Hybrid::new(trace), Checker::new(trace));
    candidates.into_iter().partition(|candidate| {
        let mut schedules = hybrid.schedules(candidate).flatten();
        schedules.any(|it| checker.check(candidate, &it) == Ok(Grade::Sound))
    })
}

fn measure(exact: &Exact<'_>, checker: &Checker<'_>, candidates: &[Candidate]) {
    let mut times = Vec::new();
    let (mut witnesses, mut infeasible, mut inconclusive) = (0, 0, 0);
    for candidate in candidates {
        let start = cpu();
        let answer = exact.schedules(candidate).next();
        times.push(cpu() - start);
        match answer {
            Some(Ok(turns)) => {
                assert_eq!(checker.check(candidate, &turns), Ok(Grade::Sound));
                witnesses += 1;
            }
            Some(Err(Infeasible::NoOrder)) => infeasible += 1,
            _ => inconclusive += 1,
        }
    }
    times.sort_by(f64::total_cmp);
    let part = |of: usize| times.get((times.len() * of / 100).min(times.len().max(1) - 1)).copied();
    let [median, late, max] = [50, 99, 100].map(|of| part(of).unwrap_or(0.0));
    println!(
        "  {:>6}  {median:>9.3}  {late:>6.2}  {max:>6.2}  {witnesses:>7}  {infeasible:>10}  {inconclusive:>12}  {:>7}",
        times.len(),
        peak()
    );
}

/// Processor time of this process, in milliseconds.
fn cpu() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// The most memory that this process has had, in megabytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|it| it.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}
