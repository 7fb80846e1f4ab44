//! The rules that a schedule has to obey, and how a violation is reported.

use norn_model::EventId;
use thiserror::Error;

/// An event that cannot happen where the schedule has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{event}: {rule}")]
pub struct Refusal {
    /// Which event.
    pub event: EventId,
    /// The rule that it breaks.
    pub rule: Rule,
}

/// A rule that a schedule has to obey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Rule {
    /// The trace contains the event.
    #[error("there is no such event")]
    Missing,
    /// A thread runs only after it was created.
    #[error("its thread was not created yet")]
    NotCreated,
    /// A thread does not continue while a signal handler runs on it, and no handler runs on it
    /// before it begins or after it has ended.
    #[error("a signal handler runs on its thread")]
    Interrupted,
    /// A join returns only after the joined thread has ended.
    #[error("the joined thread has not ended")]
    NotEnded,
    /// A lock is acquired only while no other thread holds it in a conflicting mode.
    #[error("the lock is held by another thread")]
    Held,
    /// A lock is released only by a thread that holds it.
    #[error("the lock is not held")]
    NotHeld,
    /// A condition wait returns only after a signal, unless its time may run out.
    #[error("nothing has ended the wait")]
    NotWoken,
    /// A barrier is left only after enough threads have arrived.
    #[error("the barrier is not complete")]
    Barrier,
    /// A semaphore is decremented only while it is positive.
    #[error("the semaphore is zero")]
    Semaphore,
    /// A once-only initialisation begins once, and is done only after it has ended.
    #[error("the initialisation is not done, or begun twice")]
    Once,
    /// A `HappensAfter` annotation comes after the `HappensBefore` that it saw.
    #[error("what it comes after has not happened")]
    NotAnnounced,
    /// What a thread receives through the kernel has been sent.
    #[error("what it receives has not been sent")]
    NotSent,
    /// Memory is freed only after it was allocated.
    #[error("the memory is not allocated yet")]
    NotAllocated,
    /// A thread that is to be stuck has reached the event that it is to be stuck at.
    #[error("its thread is not right before it at the end of the schedule")]
    WrongPosition,
    /// A thread that is to be stuck cannot continue, now or later.
    #[error("its thread does not get stuck there")]
    CanContinue,
    /// An event stays out of an interval that the rule of a user forbids it in.
    #[error("it must not come here")]
    Interferes,
    /// No happens-before orders the accesses of a data race that are not adjacent.
    #[error("happens-before orders the two accesses")]
    Ordered,
    /// A schedule that is checked against another one does not deviate further from the recorded run.
    #[error("more values differ than in another schedule")]
    Deviates,
    /// The check ends early if that is requested; the schedule is not known to be possible then.
    #[error("the check was cancelled")]
    Cancelled,
    /// The candidate's events are in their order at the end of the schedule.
    #[error("the candidate's events are not in their order at the end of the schedule")]
    Pattern,
}
