//! Runs without a prediction. What no pattern foresees may still happen under another schedule, and
//! a run that takes a new way is something to predict from.

use norn_abi::control::{Plan, strategy};
use norn_record::Control;
use norn_replay::Clock;

use crate::Options;

/// The plan of the `number`-th such run of a program with about `events` events. Priorities that
/// change at few places find what needs few orders; random priorities of events what needs many;
/// random turns the rest.
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
