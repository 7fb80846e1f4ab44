//! The interface of the engines that find schedules.

use norn_model::{Candidate, EventId};
use thiserror::Error;

use crate::Turn;

/// Finds schedules for candidates of one trace.
pub trait Engine {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Schedules in which the candidate's events happen in their order, the most promising first;
    /// or the reason why an attempt fails. They are proposals: the checker decides.
    fn schedules(&self, candidate: &Candidate) -> Proposals<'_>;
}

/// A schedule that begins with the recorded order up to a cut, and its turns after that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) cut: usize,
    pub(crate) turns: Vec<Turn>,
}

/// Schedules, computed lazily.
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
        /// The event that cannot happen.
        event: EventId,
        /// The event that would have to happen first.
        needed: EventId,
    },
    /// An event needs something that never happens in the trace.
    #[error("{0} needs what never happens in this trace")]
    Never(EventId),
    /// Events depend on each other in a cycle.
    #[error("{0} needs itself")]
    Cycle(EventId),
    /// No order of the recorded events contains the candidate: this is proved.
    #[error("no order of the recorded events has it")]
    NoOrder,
    /// The effort was spent, or the trace is too long.
    #[error("nothing was decided within the limits")]
    Undecided,
}
