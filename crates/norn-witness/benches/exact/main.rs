//! Measures the CPU time and the memory of the exact engine per candidate: `cargo bench -p
//! norn-witness --bench exact`, with sizes of traces as arguments.
//!
//! A query is easy if the fast engine finds a schedule that keeps all values, and hard if it does
//! not and the happens-before order does not refute it. With `z3` as an argument, the same
//! constraints are given to Z3, if it is installed.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

mod z3;

use norn_model::{Access, BugClass, Candidate, CandidateKind, EventId, Scope, SiteId, Step, Trace};
use norn_testkit::Workload;
use norn_witness::{Checker, Engine, Exact, Grade, Hybrid, Infeasible, Limits};
use rustix::time::{ClockId, clock_gettime};

fn main() {
    let given: Vec<usize> = std::env::args().filter_map(|it| it.parse().ok()).collect();
    if std::env::args().any(|it| it == "z3") {
        return z3::compare(if given.is_empty() { &[1_000, 5_000] } else { &given });
    }
    if std::env::args().any(|it| it == "paper") {
        return paper();
    }
    let sizes = if given.is_empty() { &[1_000, 5_000, 20_000, 100_000] } else { &given[..] };
    println!("{HEAD}");
    for &events in sizes {
        for (name, values, locks) in [("common", 3, 0), ("tough", 2, 4)] {
            let load = Workload { threads: 8, events, values, locks, seed: 1 };
            let trace = load.trace();
            let count = if events > 50_000 { 200 } else { 1000 };
            let questions = load.questions(&trace, count);
            let candidates: Vec<_> = questions.iter().map(|it| candidate(&it.0, it.1)).collect();
            for fixed in [true, false] {
                let reads = if fixed { "fixed" } else { "free" };
                let limits = Limits { fixed, ..Limits::default() };
                let (easy, hard) = split(&trace, limits, &candidates);
                for (kind, candidates) in [("easy", &easy), ("hard", &hard), ("all", &candidates)] {
                    print!("{events:>6} {name:>6} {reads:>5} {kind:>4}");
                    measure(&trace, limits, candidates);
                }
            }
        }
    }
}

/// As many events as in the largest trace of the paper, and one query per event of the property:
/// the time of all of them, including the model.
fn paper() {
    let load = Workload { threads: 8, events: 20_000, values: 3, locks: 0, seed: 2 };
    let trace = load.trace();
    let questions = load.questions(&trace, 1_300);
    let start = cpu();
    let exact = Exact::new(&trace, Limits::default());
    let answers = questions.iter().map(|it| exact.schedules(&candidate(&it.0, it.1)).next());
    let undecided = answers.filter(|it| *it == Some(Err(Infeasible::Undecided))).count();
    let time = cpu() - start;
    println!(
        "20000 events, {} questions: {time:.0} ms in all, {undecided} inconclusive",
        questions.len()
    );
}

const HEAD: &str = "\
events  trace reads kind number  median ms   p99 ms   max ms witness infeasible inconclusive build ms peak MB";

fn candidate(events: &[EventId], adjacent: bool) -> Candidate {
    let step = |event: &EventId| Step {
        event: *event,
        site: SiteId(0),
        addr: 0,
        access: Access::Write,
        region: (event.index, event.index),
    };
    Candidate {
        kind: CandidateKind::pattern(BugClass::Pattern, "any"),
        adjacent,
        stuck: Vec::new(),
        steps: events.iter().map(step).collect(),
        scope: Scope::Single,
        instance: 0,
    }
}

/// Splits candidates: those for which the fast engine finds a schedule that keeps all values, and
/// the others, without those that are refuted without a search.
fn split(
    trace: &Trace,
    limits: Limits,
    candidates: &[Candidate],
) -> (Vec<Candidate>, Vec<Candidate>) {
    let (hybrid, checker) = (Hybrid::new(trace), Checker::new(trace));
    let none = Exact::new(trace, Limits { steps: 0, ..limits });
    let refuted = |it: &Candidate| none.schedules(it).next() == Some(Err(Infeasible::NoOrder));
    candidates.iter().filter(|it| !refuted(it)).cloned().partition(|candidate| {
        let mut schedules = hybrid.schedules(candidate).flatten();
        schedules.any(|it| checker.check(candidate, &it) == Ok(Grade::Sound))
    })
}

fn measure(trace: &Trace, limits: Limits, candidates: &[Candidate]) {
    let exact = Exact::new(trace, limits);
    let checker = Checker::new(trace);
    let start = cpu();
    if let Some(first) = candidates.first() {
        drop(exact.schedules(first));
    }
    let build = cpu() - start;
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
        " {:>6} {median:>10.3} {late:>8.2} {max:>8.2} {witnesses:>7} {infeasible:>10} {inconclusive:>12} {build:>8.1} {:>7}",
        times.len(),
        peak()
    );
}

/// Processor time of this process, in milliseconds.
fn cpu() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// The peak memory of this process, in megabytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|it| it.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}
