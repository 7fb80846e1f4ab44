//! Candidates that can lead to a visible failure, in the order in which the program probably performs them.
//!
//! If nothing in the schedule sees something else than in the recorded run but the candidate's own events, the
//! program follows it nearly always. If other events do, it does so in less than half of all cases: a thread
//! that has seen something else goes another way. Where the failure depends on several reads at once, all of these are events
//! of the candidate, so this is no disadvantage for them.

use std::sync::Arc;

use crate::{Finding, engine::CachedWitnesses, group::Group, ranking};

/// Maximum number of events of schedules that are checked for this, so that long runs are not delayed.
const MOST_EFFORT: u64 = 200_000;

/// Puts groups in turn again, after the schedules of those that can lead to a visible failure were made.
pub(super) fn in_turn(
    mut groups: Vec<Group>,
    findings: &[Arc<Finding>],
    witnesses: &CachedWitnesses<'_>,
) -> Vec<Group> {
    let effort = witnesses.effort().saturating_add(MOST_EFFORT);
    for group in groups.iter_mut().filter(|it| it.can_fail()) {
        if witnesses.effort() >= effort {
            break;
        }
        group.examine(witnesses);
    }
    ranking::in_turn(groups, findings)
}
