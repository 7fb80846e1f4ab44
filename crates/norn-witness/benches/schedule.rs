//! Measures the CPU time to find, check and minimise schedules: `cargo bench -p norn-witness --bench
//! schedule`, with numbers of events as arguments.
//!
//! What is built once for a trace is measured apart from what each candidate costs. *Any*: candidates
//! whose events may be far from each other; *near*: those whose events are closest; *nested*: in a trace
//! with 32 threads, nested locks and conditions. With `whole` as an argument, schedules are made and
//! checked from the begin of the program, as in short traces.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

use norn_model::{Access, BugClass, Candidate, CandidateKind, EventId, Scope, SiteId, Step, Trace};
use norn_predict::{Options, predict};
use norn_testkit::{Workload, long};
use norn_witness::{Engines, Grade, WitnessOptions, Witnesses};
use rustc_hash::FxHashMap;
use rustix::time::{ClockId, clock_gettime};

/// Number of candidates of a trace, from all parts of it.
const CANDIDATES: usize = 40;

fn main() {
    let given: Vec<usize> = std::env::args().filter_map(|it| it.parse().ok()).collect();
    let sizes = if given.is_empty() { &[10_000, 100_000][..] } else { &given };
    println!(
        "  events  trace engines  once ms  median ms    p90 ms    max ms  sound specul.  none  turns"
    );
    for &events in sizes {
        let trace = long(8, events);
        let mut found = predict(&trace, &Options::default()).candidates;
        let step = found.len().div_ceil(CANDIDATES).max(1);
        let some: Vec<_> = found.iter().step_by(step).cloned().collect();
        measure("any", &trace, &some);
        let places: FxHashMap<_, _> = trace.merged().map(|it| it.id).zip(0_u64..).collect();
        let span = |it: &Candidate| {
            let places = it.steps.iter().map(|it| places[&it.event]);
            places.clone().max().zip(places.min()).map(|(last, first)| last - first)
        };
        found.sort_by_key(span);
        found.truncate(CANDIDATES);
        measure("near", &trace, &found);
        let load = Workload { threads: 32, events, values: 3, locks: 0, seed: 1 };
        let trace = load.trace();
        let questions = load.questions(&trace, CANDIDATES);
        let some: Vec<_> = questions.iter().map(|it| candidate(&it.0, it.1)).collect();
        measure("nested", &trace, &some);
    }
}

fn measure(name: &str, trace: &Trace, candidates: &[Candidate]) {
    let whole = std::env::args().any(|it| it == "whole").then_some(0);
    for (label, engines) in [("fast", Engines::Hybrid), ("both", Engines::Both)] {
        let start = cpu();
        let options = WitnessOptions { segment: whole, ..engines.into() };
        let witnesses = Witnesses::with(trace, options);
        // What is built when it is needed for the first time is built here.
        let _ = candidates.first().map(|it| witnesses.witness(it));
        let once = cpu() - start;
        let (mut times, mut counts, mut turns) = (Vec::new(), [0; 3], 0);
        for candidate in candidates {
            let start = cpu();
            let found = witnesses.witness(candidate);
            times.push(cpu() - start);
            turns += found.as_ref().map_or(0, |it| it.turns.len());
            counts[found.map_or(2, |it| usize::from(it.grade == Grade::Speculative))] += 1;
        }
        times.sort_by(f64::total_cmp);
        let at = |percent: usize| times[(times.len() - 1) * percent / 100];
        println!(
            "{:>8} {name:>6} {label:>7} {once:>8.0} {:>10.3} {:>9.3} {:>9.3} {:>6} {:>7} {:>5} {turns:>6}",
            trace.len(),
            at(50),
            at(90),
            at(100),
            counts[0],
            counts[1],
            counts[2]
        );
    }
}

/// A candidate that consists of some events.
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

/// CPU time of this process in milliseconds.
fn cpu() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}
