//! An order that many schedules begin with, and the states at some points of it.
//!
//! A schedule for a candidate late in a long trace follows the recorded run for most of its length.
//! Checking that part again for every schedule would cost the whole prefix each time. So the checker
//! simulates the common order once, with the rules of every other schedule, and keeps the state at
//! some points, the *cuts*. A schedule that departs from the order at a cut is simulated from there.
//!
//! Memory is too large to be copied at each cut: its history has the content of each granule at the
//! cuts after it changed.

use norn_model::EventId;

use crate::{
    Checker, Turn,
    memory::{Memory, MemoryHistory, touched},
    snapshot::Snapshot,
    state::ProgramState,
};

/// The states at the cuts of an order.
#[derive(Debug, Default)]
pub(crate) struct Baseline {
    /// By cut. Fewer than there are cuts if the order breaks a rule before.
    states: Vec<Snapshot>,
    memory: MemoryHistory,
}

impl Baseline {
    /// Simulates an order up to its last cut, or up to the first event that breaks a rule.
    pub(crate) fn new(checker: &Checker<'_>, turns: &[Turn], cuts: &[usize]) -> Self {
        let mut baseline = Baseline { states: vec![Snapshot::default()], ..Baseline::default() };
        let mut state = ProgramState::new(checker);
        let mut written = Vec::new();
        let mut from = 0;
        for (point, &to) in (1..).zip(cuts) {
            for turn in &turns[from..to] {
                if !is_done(checker, &mut state, *turn, &mut written) {
                    return baseline;
                }
            }
            from = to;
            state.memory.record(&mut written, point, &mut baseline.memory);
            state.now.forget_signals();
            baseline.states.push(state.now.clone());
        }
        baseline
    }

    /// The number of cuts with a state, including the one before the first event.
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    /// The state at a cut.
    pub(crate) fn state<'a>(&'a self, checker: &'a Checker<'a>, cut: usize) -> ProgramState<'a> {
        let Some(now) = self.states.get(cut).filter(|_| cut > 0) else {
            return ProgramState::new(checker);
        };
        let memory = Memory::at(&checker.facts.memory, &self.memory, cut);
        ProgramState::at(checker, now.clone(), memory)
    }
}

/// Performs a turn; returns whether it breaks no rule. Notes the memory that it writes.
fn is_done(
    checker: &Checker<'_>,
    state: &mut ProgramState<'_>,
    turn: Turn,
    written: &mut Vec<u64>,
) -> bool {
    let from = state.position(turn.thread);
    if checker.run(state, turn).is_err() {
        return false;
    }
    for index in from..turn.until {
        let event = checker.trace.event(EventId { thread: turn.thread, index });
        let access = event.and_then(|it| it.op.access()).filter(|it| it.write.is_some());
        written.extend(access.iter().flat_map(touched));
    }
    true
}
