//! The paper's figure 1, end to end: four runs of a program with three threads, one of which fails.
//!
//! Thread 1: `1: if (x == 0) x = 1; 2: if (y == 0) y = 1; 3: if (x == 2 && y == 2) fail`.
//! Thread 2: `4: if (x == 1) x = 2; 5: if (y == 1) y = 2`.
//! Thread 3: `6: if (x == 1) x = 3; 7: if (y == 1) y = 3`.

use norn_localize::{Cluster, Collector, Evidence, Formula, Pattern};
use norn_model::text;

/// The runs, by statements.
const RUNS: [&str; 4] = ["1642753", "1642573", "1462753", "1462573"];

/// Executes statements. Returns the trace in the notation of tests, and whether the assertion failed.
fn execute(statements: &str) -> (String, bool) {
    let mut values = [0, 0];
    let mut lines = vec!["order global".to_owned()];
    lines.extend((1..=3).map(|it| format!("T0 fork T0.{it}")));
    let mut failed = false;
    for statement in statements.chars() {
        let (thread, variable, expected, new) = match statement {
            '1' => (1, 0, 0, 1),
            '2' => (1, 1, 0, 1),
            '4' => (2, 0, 1, 2),
            '5' => (2, 1, 1, 2),
            '6' => (3, 0, 1, 3),
            '7' => (3, 1, 1, 3),
            _ => {
                lines.push("T0.1 r x @ p.c:3".to_owned());
                lines.push("T0.1 r y @ p.c:3".to_owned());
                failed = values == [2, 2];
                continue;
            }
        };
        let name = ["x", "y"][variable];
        lines.push(format!("T0.{thread} r {name} @ p.c:{statement}"));
        if values[variable] == expected {
            values[variable] = new;
            lines.push(format!("T0.{thread} w {name} @ p.c:{statement}"));
        }
    }
    (lines.join("\n") + "\n", failed)
}

/// The patterns of a run, each with the lines of its accesses: `W1-W2-R1 1 6 3`. Reads of both variables
/// are in line 3, so the variable is part of the site.
fn patterns(run: &str, window: usize) -> Vec<Pattern<(String, String)>> {
    let trace = text::parse(run).expect("the notation is valid");
    let mut collector = Collector::new(window);
    trace.merged().for_each(|event| collector.visit(&event));
    let collected = collector.finish();
    let named = collected.patterns.iter().map(|(pattern, occurrence)| {
        let variable =
            trace.symbols.name(occurrence.addr).expect("all variables have names").0.to_owned();
        let line = |site: &_| trace.site(*site)?.place.as_deref()?.strip_prefix("p.c:");
        pattern
            .try_map(|it| Some((variable.clone(), line(it)?.to_owned())))
            .expect("all sites have lines")
    });
    named.collect()
}

fn show(pattern: &Pattern<(String, String)>) -> String {
    let lines: Vec<_> = pattern.sites.iter().map(|it| it.1.as_str()).collect();
    format!("{} {} {}", pattern.sites[0].0, pattern.kind, lines.join(" "))
}

fn ranking(window: usize) -> Cluster<&'static str, (String, String)> {
    let mut evidence = Evidence::default();
    for run in RUNS {
        let (trace, failed) = execute(run);
        evidence.add(failed.then_some(&"assertion"), patterns(&trace, window));
    }
    assert_eq!((evidence.passed(), evidence.failed()), (3, 1));
    evidence.clusters(Formula::Jaccard).remove(0)
}

/// The triples of the ranking, with their scores.
fn triples(window: usize) -> Vec<(String, f64)> {
    let ranked = ranking(window).ranking;
    let triples = ranked.iter().filter(|it| it.pattern.kind.is_triple());
    triples.map(|it| (show(&it.pattern), it.score)).collect()
}

#[test]
fn a_window_of_four_finds_the_cause() {
    let expected = [
        ("x W1-W2-R1 1 4 3", 0.5),
        ("y W1-W2-R1 2 5 3", 0.5),
        ("x W1-W2-R1 1 6 3", 0.0),
        ("y W1-W2-R1 2 7 3", 0.0),
    ];
    assert_eq!(triples(4), expected.map(|(it, score)| (it.to_owned(), score)));
    let first = &ranking(4).ranking[0];
    assert_eq!((first.counts.failed, first.counts.passed), (1, 1));
    assert!(first.interval.low < 0.5 && 0.5 < first.interval.high);
}

#[test]
fn a_window_of_three_is_too_small_for_the_triples() {
    assert_eq!(triples(3), []);
    let run = execute(RUNS[1]).0;
    let shown: Vec<_> = patterns(&run, 3).iter().map(show).collect();
    assert_eq!(shown, ["x W1-W2 1 6", "x W1-R2 6 4", "y W1-W2 2 5", "y W1-R2 5 7"]);
}

#[test]
fn all_runs_pass_but_the_last() {
    assert_eq!(RUNS.map(|it| execute(it).1), [false, false, false, true]);
}
