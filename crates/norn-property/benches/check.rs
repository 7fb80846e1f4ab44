//! How long it takes to find what breaks a property in a trace, and schedules for it, at the size of the
//! largest trace in the paper that the language is from: 20,000 events, 1,300 of them of the property.
//! `cargo bench -p norn-property`, or with another number of events behind `--`.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

use std::time::Instant;

use norn_model::{Event, EventId, Op, SiteId, Trace};
use norn_predict::HappensBefore;
use norn_property::{File, Limits, Watch};
use norn_testkit::long;
use norn_witness::Witnesses;

const PROPERTY: &str = "CheckThenAct(m, key) {
  event check: call get(m, key)
  event act:   call remove(m, key)
  pattern: check(t1) act(t2)+ act(t1)
}";

/// One call per this many other events.
const EVERY: usize = 15;
/// Keys that the calls are about.
const KEYS: u64 = 50;

fn main() {
    let events = std::env::args().find_map(|it| it.parse().ok()).unwrap_or(20_000);
    let trace = with_calls(long(3, events));
    let file = File::parse(PROPERTY).unwrap_or_else(|it| panic!("{it:?}"));
    let start = Instant::now();
    let watch = Watch::new(&file.properties[0], &trace, &trace.symbols);
    let outlook = watch.outlook(&HappensBefore::new(&trace), Limits::default());
    let searched = start.elapsed();
    let witnesses = Witnesses::new(&trace);
    let mut broken = 0;
    let mut groups = 0;
    for group in outlook.prospects.chunk_by(|a, b| a.group == b.group) {
        groups += 1;
        let breaks = group.iter().any(|prospect| {
            witnesses.witness(&prospect.candidate).is_ok_and(|it| {
                watch.is_broken(prospect, it.turns.iter().map(|it| (it.thread, it.until)))
            })
        });
        broken += usize::from(breaks);
    }
    println!(
        "{} events, {} of the property, {} instances: searched in {:.1} ms; {} candidates in {groups} \
         groups, {broken} with a schedule; all in {:.1} ms",
        trace.len(),
        outlook.counts.iter().sum::<u64>(),
        outlook.instances,
        searched.as_secs_f64() * 1e3,
        outlook.prospects.len(),
        start.elapsed().as_secs_f64() * 1e3,
    );
}

/// The same trace with calls in it, half of them checks, in each thread now and then.
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
