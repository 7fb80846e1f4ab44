//! Measures the page of a large report in a browser: the first paint, and a step.
//!
//! `cargo run --release -p norn-report --example page_benchmark` makes a report with 500 findings, the first
//! with 5,000 events in both orders, none of which is folded, and fails if the page is too slow.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "it prints, and fails where it must")]

use std::fs;

use norn_e2e::browser::Browser;
use norn_report::{
    Command, Detail, Finding, Report,
    writer::{Html, Layout, Writer as _},
};
use serde_json::{Value, json};

/// Milliseconds until something is painted.
const PAINT: f64 = 1000.0;
/// Milliseconds that a step may take.
const STEP: f64 = 50.0;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    let mut page = Vec::new();
    Html::new(Layout::default()).write(&report(), &mut page).unwrap();
    fs::write(&file, &page).unwrap();
    let mut browser = Browser::open(&file, folder.path(), (1600, 1000));
    let paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime";
    let paint = browser.evaluate(paint).as_f64().unwrap();
    let unfold = "for (const order of ['.failing', '.recorded']) { let fold; \
                  while ((fold = document.querySelector(order + ' .fold'))) fold.click(); } \
                  document.querySelectorAll('.failing .row').length";
    let rows = browser.evaluate(unfold);
    // A step is over when the next frame is there.
    let step = "(async () => { const all = []; for (let at = 0; at < 40; at += 1) { \
                const start = performance.now(); step(at % 2 ? -1 : 1); \
                await new Promise(done => requestAnimationFrame(() => setTimeout(done))); \
                all.push(performance.now() - start); } \
                all.sort((a, b) => a - b); return `${all[20]} ${all[39]}`; })()";
    let step = browser.evaluate(step).as_str().unwrap().to_owned();
    let (median, step) = step.split_once(' ').unwrap();
    let [median, step]: [f64; 2] = [median, step].map(|it| it.parse().unwrap());
    println!(
        "{} bytes, {rows} rows, first paint {paint:.0} ms, 40 steps: median {median:.0} ms, slowest {step:.0} ms",
        page.len()
    );
    assert!(paint <= PAINT && step <= STEP, "the page is too slow");
}

fn report() -> Report {
    let findings: Vec<Finding> =
        (0..500).map(|at| finding(at, if at == 0 { 5000 } else { 12 })).collect();
    let details = (0..findings.len()).map(|finding| Detail { finding, also: Vec::new() }).collect();
    let program = vec!["./large".to_owned()];
    Report { program, findings, details, ..Report::new(Command::Hunt, "0.1.0") }
}

fn finding(number: usize, events: usize) -> Finding {
    let place =
        |line: usize| json!({ "function": "work", "file": "/src/work.c", "line": line % 300 + 1 });
    let row = |at: usize| {
        json!({
            "thread": format!("T0.{}", at / 2 % 4), "event": at, "times": 1, "at": place(at),
            "action": if at.is_multiple_of(2) { "write" } else { "read" },
            "object": format!("cell[{}]", at % 7), "value": at,
            "step": (at % 1000 == 5).then_some(at / 1000),
        })
    };
    let rows: Vec<Value> = (0..events).map(row).collect();
    let access = |thread: &str| {
        json!({
            "thread": thread, "action": "write", "stuck": false, "variable": { "name": "cell[1]" },
            "stack": [place(number)], "locks": [],
        })
    };
    let finding = json!({
        "class": "race", "kind": "race", "name": "data race", "status": "confirmed", "harmful": true,
        "title": format!("data race on `cell[{number}]`"), "bug": number + 1, "variables": [],
        "parameters": [], "accesses": [access("T0.1"), access("T0.2")], "source": 0, "instances": 1,
        "stacks": 1, "other_output": false, "consequence": "abort",
        "interleaving": { "forced": rows, "recorded": rows },
        "replay": ["norn", "replay", format!("run.norn/clips/{number}.json")],
    });
    serde_json::from_value(finding).unwrap()
}
