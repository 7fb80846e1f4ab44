//! The order of accesses that creating and joining threads fixes.
//!
//! What a thread does before it creates another one, and what a thread did that has been joined, has
//! the same order in every run. A pattern of which that fixes all of the order is no choice of the
//! scheduler, so it cannot make a run fail. This is an addition to the paper: without it the accesses
//! of the main thread after its joins, such as those that report a failure, are the most suspicious.
//! Locks and other synchronization are no such reason, because their order may differ.
//!
//! The *epoch* of a thread is the number of threads that it has created or joined so far. It is all
//! that has to be known of an access to compare it with these events of its own thread.

use crate::{Access, Match};

/// The last epoch. Accesses, creations and joins after it are not ordered among each other.
pub const LAST_EPOCH: u32 = (1 << 13) - 1;

/// The longest chain of creations or joins that is followed. Damaged data may have cycles.
const LONGEST: usize = 256;

/// The creation or the join of a thread: by which other thread, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The other thread.
    pub by: u32,
    /// For a creation: the epoch that it begins. For a join: the epoch that it ends.
    pub epoch: u32,
}

impl Link {
    /// The creation of a thread by one that is in `epoch`.
    pub fn creation(by: u32, epoch: u32) -> Link {
        Link { by, epoch: next(epoch) }
    }

    /// The join of a thread by one that is in `epoch`.
    pub fn join(by: u32, epoch: u32) -> Link {
        Link { by, epoch }
    }

    /// The next epoch of a thread that has created or joined another one.
    pub fn next(epoch: u32) -> u32 {
        next(epoch)
    }
}

fn next(epoch: u32) -> u32 {
    epoch.saturating_add(1).min(LAST_EPOCH)
}

/// Which thread created and joined which one.
pub trait Ancestry {
    /// The creation of a thread, if it was seen.
    fn created(&self, thread: u32) -> Option<Link>;
    /// The first join of a thread.
    fn joined(&self, thread: u32) -> Option<Link>;

    /// Whether the accesses of a pattern have this order in every run.
    fn is_fixed<A: Access>(&self, found: &Match<A>) -> bool {
        let pairs = found.accesses().windows(2);
        pairs.into_iter().all(|it| matches!(it, [one, other] if self.is_before(one, other)))
    }

    /// Whether an access always comes before a later one: what it is before by joins, meets what the
    /// other one is after by creation.
    fn is_before<A: Access>(&self, one: &A, other: &A) -> bool {
        let mut before = Some(Link { by: one.thread(), epoch: one.epoch() });
        for _ in 0..LONGEST {
            let Some(Link { by: thread, epoch: from }) = before else { return false };
            let mut after = Some(Link { by: other.thread(), epoch: other.epoch() });
            for _ in 0..LONGEST {
                let Some(Link { by: creator, epoch: until }) = after else { break };
                if creator == thread && from < until {
                    return true;
                }
                after = self.created(creator);
            }
            before = self.joined(thread);
        }
        false
    }
}
