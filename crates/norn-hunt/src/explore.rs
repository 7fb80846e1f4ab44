//! Runs without a prediction. A failure that no pattern predicts may still occur under another
//! schedule, and a run with new behaviour is a trace to predict from.

use norn_abi::control::{Plan, strategy};
use norn_record::Control;
use norn_replay::Clock;

use crate::Options;

/// The plan of the `number`-th explored run of a program with about `events` events. Priorities
/// that change at a few points find bugs that need few ordering constraints; random priorities of
/// events find those that need many; random turns cover the rest.
pub(crate) fn control(options: &Options, number: usize, events: u64) -> Control {
    let clock = Clock::default();
    let seed = number as u64;
    let plan = Plan {
        strategy: match number % 3 {
            0 => strategy::PCT,
            1 => strategy::POS,
            _ => strategy::RANDOM,
        },
        seed,
        depth: 1 + u32::try_from(number / 3 % 4).unwrap_or(0),
        expected: events,
        max_steps: options.max_steps,
        realtime: clock.realtime,
        monotonic: clock.monotonic,
        ..Plan::default()
    };
    Control { plan, ..Control::default() }
}
