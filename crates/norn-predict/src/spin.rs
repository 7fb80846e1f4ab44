//! Finds sites where a thread polls until it sees the expected value.
//!
//! A spinning thread is prepared for any value that it reads: another order of such a read and the
//! write that it waits for only ends the loop earlier or later. Patterns with such a read are tried
//! last.

use norn_model::{AtomicOp, Op, Trace};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::{access::Touch, benign_order::NEAR};

/// The sites where a thread reads a value, and then another one, with no effect in between. The
/// accesses are sorted by variable, thread and index.
pub(crate) fn spins(trace: &Trace, touches: &[Touch]) -> FxHashSet<u32> {
    let pairs = touches.par_windows(2);
    pairs.filter(|it| asks_again(trace, &it[0], &it[1])).map(|it| it[0].site).collect()
}

fn asks_again(trace: &Trace, first: &Touch, second: &Touch) -> bool {
    let same = (first.granule, first.thread, first.site, first.mask)
        == (second.granule, second.thread, second.site, second.mask);
    if !same || second.index - first.index > NEAR {
        return false;
    }
    let events = &trace.threads[usize::from(first.thread)].events;
    let turn = &events[first.index as usize..=second.index as usize];
    let values = [turn.first(), turn.last()].map(|it| it.and_then(|it| read(&it.op)));
    values[0].is_some() && values[1].is_some() && values[0] != values[1] && {
        turn.iter().all(|it| idle(&it.op))
    }
}

/// The value that an operation reads, if it only reads.
fn read(op: &Op) -> Option<u128> {
    if let Op::Atomic { op: AtomicOp::Load(value), .. } = *op {
        return Some(value);
    }
    if let Op::Read { value, .. } = *op { value } else { None }
}

fn idle(op: &Op) -> bool {
    matches!(
        op,
        Op::Atomic { op: AtomicOp::Load(_) | AtomicOp::CasFailed { .. }, .. }
            | Op::Read { .. }
            | Op::Yield
            | Op::Sleep { .. }
            | Op::Acquire { .. }
            | Op::Release { .. }
    )
}

#[cfg(test)]
mod tests {
    use norn_model::{BugClass, text};

    use crate::{Options, predict};

    /// The classes and patterns of the candidates, in order.
    fn found(trace: &str) -> Vec<String> {
        let options = Options::default().only(&[BugClass::Atomicity]);
        let found = predict(&text::parse(trace).unwrap_or_default(), &options).candidates;
        let wanted = found.into_iter().filter(|it| it.class() == BugClass::Atomicity);
        wanted.map(|it| it.kind.name().to_owned()).collect()
    }

    #[test]
    fn candidates_with_a_spin_read_come_last() {
        let trace = |again: &str| {
            format!(
                "T1 load x 0 @ spins\nT1 load x 0 @ spins\nT2 load y 0 @ one\nT2 store x 1\n\
                 T1 load x 1 @ {again}\nT1 load y 0 @ asks\nT2 store y 2 @ two\nT1 store y 1 @ sets"
            )
        };
        let position =
            |trace: &str, pattern: &str| found(trace).iter().position(|it| it == pattern);
        let order =
            |trace: &str| position(trace, "read-write-read") < position(trace, "read-write-write");
        assert!(order(&trace("looks")));
        assert!(!order(&trace("spins")));
    }
}
