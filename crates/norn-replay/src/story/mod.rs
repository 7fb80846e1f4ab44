//! The story of a failure: what happened and why, as the data of a report.
//!
//! A run leaves a trace, what each thread was blocked in, and what the runtime found. One pass over
//! the trace ([`past`]) gathers what led to the end; [`symbolizer`] names it; and for each kind of
//! failure there is a file that selects what explains it.

mod death;
mod exit;
mod last;
mod memory;
mod observed_value;
mod past;
mod running;
mod stuck;
mod symbolizer;
mod wait;

use norn_model::Consequence;
use norn_report::{FailureKind, Story};

pub use self::{
    exit::exit_calls,
    last::{row, rows},
};
use self::{past::Past, symbolizer::Symbolizer};
use crate::Ran;

/// Explains how a run came to fail; none if it did not, or if its status is all that is known.
pub fn story(ran: &Ran) -> Option<Story> {
    let outcome = &ran.recording.run.controlled.as_ref()?.outcome;
    if matches!(ran.consequence, Consequence::None | Consequence::Exit(_) | Consequence::Check(_)) {
        return None;
    }
    let symbolized = ran.symbolized().ok()??;
    let (past, memory) = Past::of(&symbolized.trace);
    let symbols = Symbolizer { symbolized, memory };
    let failure = match &ran.consequence {
        Consequence::Deadlock => FailureKind::Stuck(stuck::explain(&symbols, &past)),
        Consequence::Livelock | Consequence::Hang(_) => {
            FailureKind::Running(running::explain(&symbols, &past))
        }
        Consequence::Memory(fault) => {
            FailureKind::Misuse(memory::explain(&symbols, *fault, outcome)?)
        }
        consequence => {
            FailureKind::Death(death::explain(&symbols, &past, consequence, &ran.recording))
        }
    };
    Some(Story { failure, last: last::events(&symbols, &past) })
}
