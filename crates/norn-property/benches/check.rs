//! Measures how long it takes to predict violations of a property from a trace and to find
//! schedules for them, at the size of the largest trace in the paper that the language is from:
//! 20,000 events, 1,300 of them of the property.
//! `cargo bench -p norn-property`, or with another number of events behind `--`.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

use std::time::Instant;

use norn_model::{Event, EventId, Op, SiteId, Trace};
use norn_predict::HappensBefore;
use norn_property::{File, PropertyAnalysis, SearchLimits};
use norn_testkit::long;
use norn_witness::Witnesses;

const PROPERTY: &str = "CheckThenAct(m, key) {
  event check: call get(m, key)
  event act:   call remove(m, key)
  pattern: check(t1) act(t2)+ act(t1)
}";

/// One call per this many other events.
const EVERY: usize = 15;
/// Number of different keys in the calls.
const KEYS: u64 = 50;

fn main() {
    let events = std::env::args().find_map(|it| it.parse().ok()).unwrap_or(20_000);
    let trace = with_calls(long(3, events));
    let file = File::parse(PROPERTY).unwrap_or_else(|it| panic!("{it:?}"));
    let start = Instant::now();
    let analysis = PropertyAnalysis::new(&file.properties[0], &trace, &trace.symbols);
    let prediction = analysis.predict(&HappensBefore::new(&trace), SearchLimits::default());
    let searched = start.elapsed();
    let witnesses = Witnesses::new(&trace);
    let mut scheduled = 0;
    let mut groups = 0;
    for group in prediction.predicted.chunk_by(|a, b| a.group == b.group) {
        groups += 1;
        let is_violated = group.iter().any(|violation| {
            witnesses.witness(&violation.candidate).is_ok_and(|it| {
                analysis.is_violated_by(violation, it.turns.iter().map(|it| (it.thread, it.until)))
            })
        });
        scheduled += usize::from(is_violated);
    }
    println!(
        "{} events, {} of the property, {} instances: searched in {:.1} ms; {} candidates in {groups} \
         groups, {scheduled} with a schedule; all in {:.1} ms",
        trace.len(),
        prediction.counts.iter().sum::<u64>(),
        prediction.instances,
        searched.as_secs_f64() * 1e3,
        prediction.predicted.len(),
        start.elapsed().as_secs_f64() * 1e3,
    );
}

/// Inserts calls into each thread of a trace, half of them checks.
fn with_calls(mut trace: Trace) -> Trace {
    let names = ["get", "remove"].map(|it| trace.names.intern(it));
    for thread in &mut trace.threads {
        let mut events: Vec<Event> = Vec::new();
        for (number, event) in std::mem::take(&mut thread.events).into_iter().enumerate() {
            if number % EVERY == 0 {
                let call = number / EVERY;
                let key = (call as u64 / 2).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
                let arguments = [1, key % KEYS, 0, 0, 0, 0];
                let op = Op::Call { function: names[call % 2], arguments };
                let site = SiteId(u32::from(call % 2 == 1));
                events.push(Event { op, site, seq: None, ..event });
            }
            events.push(event);
        }
        for (index, event) in (0..).zip(&mut events) {
            event.id = EventId { thread: thread.id, index };
        }
        thread.events = events;
    }
    trace
}
