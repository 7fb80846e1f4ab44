//! How far a schedule was followed, in the form that the runtime writes.

use norn_abi::control::follow;

use crate::Event;

/// How far the schedule was followed.
#[derive(Clone, Copy, Debug)]
pub struct FollowReport {
    /// One of [`norn_abi::control::follow`].
    pub status: u32,
    /// Number of segments that were followed to their ends.
    pub segment: u32,
    /// Where the run left the schedule.
    pub left: Departure,
}

/// Where a run left its schedule. Its fields are not options, so that a scheduler without a report
/// is all zero.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// One of [`norn_abi::control::why`]; 0 if the run did not leave the schedule.
    pub why: u32,
    /// The number of the thread that was due; `u32::MAX` if it did not exist.
    pub thread: u32,
    /// The event that the thread reached.
    pub event: Event,
    /// Number of events that it had executed.
    pub index: u64,
}

impl FollowReport {
    /// No schedule is followed.
    pub(crate) const NONE: FollowReport = FollowReport {
        status: follow::NONE,
        segment: 0,
        left: Departure { why: 0, thread: 0, event: Event::NONE, index: 0 },
    };
}
