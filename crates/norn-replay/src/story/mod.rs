//! The story of a failure: what happened and why, as the data of a report.
//!
//! A run leaves a trace, the operation in which each thread was blocked, and the failure that the
//! runtime found. One pass over the trace ([`history`]) collects what led to the failure,
//! [`symbolizer`] names it, and one file for each kind of failure selects what explains it.

mod access;
mod death;
mod exit;
mod history;
mod last;
mod memory;
mod misuse;
mod observed_value;
mod running;
mod signal;
mod stuck;
mod symbolizer;
mod wait;

use norn_model::Consequence;
use norn_report::{FailureKind, Story};

pub use self::{
    access::{accesses, observed_accesses},
    exit::exit_calls,
    last::{row, rows},
};
use self::{
    history::{RunHistory, StoryScope},
    symbolizer::Symbolizer,
};
use crate::CompletedRun;

/// Explains the failure of a run; none if it did not fail, or if only its exit status or
/// its message is known.
pub fn story(run: &CompletedRun) -> Option<Story> {
    let outcome = &run.recording.run.controlled.as_ref()?.outcome;
    if matches!(
        run.consequence,
        Consequence::None
            | Consequence::Exit(_)
            | Consequence::Panic { .. }
            | Consequence::Check(_)
    ) {
        return None;
    }
    let symbolized = run.symbolized().ok()??;
    let trace = &symbolized.trace;
    let mut scope = StoryScope::new(trace, run.consequence.is_unfinished());
    let (mut history, mut memory) = RunHistory::of(trace, scope);
    if scope.is_interrupted(trace) {
        scope = StoryScope::End;
        (history, memory) = RunHistory::of(trace, scope);
    }
    let symbols = Symbolizer { symbolized, memory, scope };
    let failure = match &run.consequence {
        Consequence::Deadlock => FailureKind::Stuck(stuck::explain(&symbols, &history)),
        Consequence::Livelock | Consequence::Unfinished(_) => {
            FailureKind::Running(running::explain(&symbols, &history))
        }
        Consequence::Memory(fault) => {
            FailureKind::Misuse(memory::explain(&symbols, *fault, outcome)?)
        }
        Consequence::Misuse(fault) => {
            FailureKind::Object(misuse::explain(&symbols, &history, *fault, outcome)?)
        }
        consequence => {
            FailureKind::Death(death::explain(&symbols, &history, consequence, &run.recording))
        }
    };
    Some(Story { failure, last: last::events(&symbols, &history) })
}
