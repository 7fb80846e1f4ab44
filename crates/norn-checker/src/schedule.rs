//! Schedules as the checker reads them, and the result of a check.

use std::collections::BTreeMap;

use norn_model::{EventId, ThreadId};
use serde::{Deserialize, Serialize};

/// A part of a schedule: one thread runs without interruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Turn {
    /// Which thread.
    pub thread: ThreadId,
    /// The index of its first event that is no longer part of the turn.
    pub until: u64,
}

/// The events of a schedule, one by one.
pub fn events(turns: &[Turn]) -> impl Iterator<Item = EventId> {
    events_from(BTreeMap::new(), turns)
}

/// The events of the turns of a schedule, which begins where the threads are at some positions.
pub fn events_from(
    mut done: BTreeMap<ThreadId, u64>,
    turns: &[Turn],
) -> impl Iterator<Item = EventId> {
    turns.iter().flat_map(move |turn| {
        let from = done.insert(turn.thread, turn.until).unwrap_or(0);
        (from..turn.until).map(|index| EventId { thread: turn.thread, index })
    })
}

/// Turns, followed by others. Successive turns of one thread become one.
pub(crate) fn join(first: &[Turn], rest: &[Turn]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::with_capacity(first.len() + rest.len());
    for turn in first.iter().chain(rest) {
        match turns.last_mut() {
            Some(last) if last.thread == turn.thread => last.until = last.until.max(turn.until),
            _ => turns.push(*turn),
        }
    }
    turns
}

/// How much of the recorded run a schedule keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// Every read that can influence a later event of the schedule sees the recorded value.
    Sound,
    /// Synchronisation allows the schedule, but some value differs: the program may branch
    /// differently.
    Speculative,
}

/// How far a schedule deviates from the recorded run. Less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deviation {
    /// The number of events that see another value and can influence a later event.
    pub differences: usize,
    /// Whether nothing that the candidate reads differs, although the anomaly is that it does.
    pub idle: bool,
}

impl Deviation {
    /// No value differs that can influence the schedule, and what the candidate reads does differ.
    pub const BEST: Deviation = Deviation { differences: 0, idle: false };

    /// The grade of a schedule that deviates this far.
    pub fn grade(self) -> Grade {
        if self.differences == 0 { Grade::Sound } else { Grade::Speculative }
    }
}
