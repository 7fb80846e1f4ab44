//! How a schedule was followed, as the runtime writes it down.

use norn_abi::control::follow;

use crate::Event;

/// How the schedule was followed so far.
#[derive(Clone, Copy, Debug)]
pub struct FollowReport {
    /// One of [`norn_abi::control::follow`].
    pub status: u32,
    /// Segments that were followed to their ends.
    pub segment: u32,
    /// Where the schedule was left.
    pub left: Departure,
}

/// Where a schedule was left. Its fields are no options, so that a scheduler without a report is all
/// zero.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// One of [`norn_abi::control::why`]; 0 if the schedule was not left.
    pub why: u32,
    /// The number of the thread that was due; `u32::MAX` if it was not there.
    pub thread: u32,
    /// What that thread came to.
    pub event: Event,
    /// How many events it had done.
    pub index: u64,
}

impl FollowReport {
    /// Nothing is followed.
    pub(crate) const NONE: FollowReport = FollowReport {
        status: follow::NONE,
        segment: 0,
        left: Departure { why: 0, thread: 0, event: Event::NONE, index: 0 },
    };
}
