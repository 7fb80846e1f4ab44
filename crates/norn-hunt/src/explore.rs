//! Runs without a prediction. A failure that no pattern predicts may still occur under another
//! schedule, and a run with new behaviour is a trace to predict from.

use norn_frontend::Plan;
use norn_trace::Strategy;

use crate::Options;

/// The plan of the `number`-th explored run of a program with about `events` events. Priorities
/// that change at a few points find bugs that need few ordering constraints; random priorities of
/// events find those that need many; random turns cover the rest.
pub(crate) fn plan(options: &Options, number: usize, events: u64) -> Plan {
    Plan {
        strategy: match number % 3 {
            0 => Strategy::Pct,
            1 => Strategy::Pos,
            _ => Strategy::Random,
        },
        seed: number as u64,
        depth: 1 + u32::try_from(number / 3 % 4).unwrap_or(0),
        expected: events,
        max_steps: options.max_steps,
        memory: options.memory,
        ..Plan::default()
    }
}
