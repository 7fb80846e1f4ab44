//! Measures the search for deadlocks: `cargo bench -p norn-predict --bench deadlock`.
//!
//! Threads acquire two or three of 64 locks at a time: always in one order, so that there are no
//! cycles, or in any order, so that there are more cycles than the search can enumerate.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

use std::time::Instant;

use norn_model::BugClass;
use norn_predict::{Options, predict};
use norn_testkit::nested;

fn main() {
    let both = [BugClass::Order, BugClass::Deadlock];
    let options = |deadlocks| Options::default().only(&both[..=usize::from(deadlocks)]);
    for ordered in [true, false] {
        for events in [100_000, 1_000_000, 4_000_000] {
            let trace = nested(8, events, ordered);
            let time = |options: &Options| {
                let start = Instant::now();
                let prediction = predict(&trace, options);
                (start.elapsed().as_secs_f64(), prediction)
            };
            let (without, _) = time(&options(false));
            let (with, prediction) = time(&options(true));
            println!(
                "{events} events, {}: {:.3} s, {:.3} s of it for deadlocks, {} candidates, {} left out",
                if ordered { "in order" } else { "in any order" },
                with,
                with - without,
                prediction.candidates.len(),
                prediction.limits.requests,
            );
        }
    }
}
