//! Determines what ended each condition wait.
//!
//! A trace records the end of a wait, but not its cause. The signals and broadcasts of the same
//! condition between the beginning and the end of the wait are candidates. A single candidate is
//! certain; so is a broadcast that comes first, since it wakes all waiting threads. Otherwise the
//! cause is unknown; without any candidate the wake-up was spurious.

use norn_model::{EventId, WokenBy};
use rustc_hash::FxHashMap;

/// `ETIMEDOUT`, and `thrd_timedout` of `<threads.h>`, which no POSIX wait returns.
const TIMED_OUT: [i32; 2] = [110, 4];

/// An event that matters to condition waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) id: EventId,
    pub(crate) seq: u64,
    pub(crate) cond: u64,
    pub(crate) what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Wait,
    /// The wait ended with this result.
    Over(i32),
    Signal,
    Broadcast,
}

/// What ended each wait, by the event that ends it. `steps` has each thread's steps in program
/// order.
pub(crate) fn resolve(steps: &[Step]) -> Vec<(EventId, WokenBy)> {
    let calls = Calls::new(steps);
    let mut woken = Vec::new();
    let mut begun: FxHashMap<_, Step> = FxHashMap::default();
    for step in steps {
        match step.what {
            What::Wait => {
                begun.insert(step.id.thread, *step);
            }
            What::Over(result) => {
                let begin = begun.remove(&step.id.thread).filter(|it| it.cond == step.cond);
                woken.push((step.id, calls.ended(begin, step, result)));
            }
            What::Signal | What::Broadcast => {}
        }
    }
    woken.sort_unstable_by_key(|it| it.0);
    woken
}

/// All signals and broadcasts, by condition and sequence number.
struct Calls<'a>(Vec<&'a Step>);

impl<'a> Calls<'a> {
    fn new(steps: &'a [Step]) -> Self {
        let calls = steps.iter().filter(|it| matches!(it.what, What::Signal | What::Broadcast));
        let mut calls: Vec<_> = calls.collect();
        calls.sort_unstable_by_key(|it| (it.cond, it.seq, it.id));
        Calls(calls)
    }

    fn ended(&self, begin: Option<Step>, end: &Step, result: i32) -> WokenBy {
        match result {
            0 => begin.map_or(WokenBy::Nothing, |begin| self.between(begin.seq, end)),
            it if TIMED_OUT.contains(&it) => WokenBy::Timeout,
            error => WokenBy::Error(error),
        }
    }

    fn between(&self, begin: u64, end: &Step) -> WokenBy {
        let after = self.0.partition_point(|it| (it.cond, it.seq) <= (end.cond, begin));
        let calls = &self.0[after..];
        match &calls[..calls.partition_point(|it| (it.cond, it.seq) < (end.cond, end.seq))] {
            [] => WokenBy::Nothing,
            [one] => WokenBy::Event(one.id),
            [first, ..] if first.what == What::Broadcast => WokenBy::Event(first.id),
            several => WokenBy::OneOf(u32::try_from(several.len()).unwrap_or(u32::MAX)),
        }
    }
}
