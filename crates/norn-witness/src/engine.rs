//! What an engine of feasibility is.

use norn_model::{Candidate, EventId};
use thiserror::Error;

use crate::Turn;

/// Finds schedules for candidates of one trace.
pub trait Engine {
    /// What people call it.
    fn name(&self) -> &'static str;

    /// Schedules in which the candidate's events happen in their order, the best first; or why one
    /// way to make one fails. They are proposals: the checker decides.
    fn schedules(&self, candidate: &Candidate) -> Proposals<'_>;
}

/// Schedules, made one by one as they are asked for.
pub type Proposals<'a> = Box<dyn Iterator<Item = Result<Vec<Turn>, Infeasible>> + 'a>;

/// Why an engine finds no schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Infeasible {
    /// The candidate names an event that the trace does not have.
    #[error("the trace has no event {0}")]
    NoEvent(EventId),
    /// An event needs another one that may only come later.
    #[error("{event} needs {needed}, which is to come later")]
    TooLate {
        /// What cannot happen.
        event: EventId,
        /// What would have to happen first.
        needed: EventId,
    },
    /// An event needs something that never happens in the trace.
    #[error("{0} needs what never happens in this trace")]
    Never(EventId),
    /// Events need each other.
    #[error("{0} needs itself")]
    Cycle(EventId),
    /// It is proved that no order of the recorded events has it.
    #[error("no order of the recorded events has it")]
    NoOrder,
    /// The effort was spent, or the trace too long, before anything was proved.
    #[error("nothing was decided within the limits")]
    Undecided,
}
