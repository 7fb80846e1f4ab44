//! Looks after the thread that has the turn. If it sleeps in code that is not instrumented, or works
//! there for long, the turn goes on without it.
//!
//! How long it works is measured in time that a processor spent on it: on a machine that is busy with
//! other things, a thread may stand still for any time. Only a sleep can be long or short by the
//! world's clock; so whenever the turn goes on without a thread, that is counted and reported.

use crate::{TaskId, World};

/// How long a thread sleeps before the turn goes on without it, in nanoseconds.
const ASLEEP: u64 = 20_000_000;
/// How long it works.
const BUSY: u64 = 1_000_000_000;
/// After how long without a look all threads must have been stopped, as in a debugger.
const STOPPED: u64 = 500_000_000;

/// What was seen of the thread that has the turn.
#[derive(Debug)]
pub(crate) struct TurnWatch {
    /// When it was last looked at, in real time.
    looked: u64,
    /// The number of the thread that had the turn then, and how many events there were.
    thread: Option<u32>,
    events: u64,
    /// What a processor had spent on it when it was first seen there.
    begun: u64,
    /// What a processor had spent on it when it was first seen asleep, and when that was.
    spent: u64,
    since: u64,
}

impl TurnWatch {
    pub(crate) const fn new() -> Self {
        Self { looked: 0, thread: None, events: 0, begun: 0, spent: 0, since: 0 }
    }

    /// Whether the turn passes on without its holder. `events` counts the events of all threads.
    pub(crate) fn is_away(
        &mut self,
        holder: TaskId,
        thread: u32,
        events: u64,
        world: &dyn World,
    ) -> bool {
        let now = world.real_time();
        let resumed = now - self.looked > STOPPED;
        let same = self.thread == Some(thread) && self.events == events;
        (self.looked, self.thread, self.events) = (now, Some(thread), events);
        // A thread that nothing is known of has not arrived yet; one that sleeps while it waits for
        // its turn is about to wake.
        let Some(spent) = world.cpu_time(holder) else {
            self.thread = None;
            return false;
        };
        if !same || resumed || world.is_excused(holder) {
            self.begun = spent;
            self.sleeps_since(now, spent);
            return false;
        }
        if !world.is_asleep(holder) || self.spent != spent {
            self.sleeps_since(now, spent);
        }
        spent - self.begun > BUSY || now - self.since > ASLEEP
    }

    fn sleeps_since(&mut self, now: u64, spent: u64) {
        (self.since, self.spent) = (now, spent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::SimulatedWorld;

    const LOOK: u64 = 10_000_000;

    /// Looks every 10 ms, while a processor spends `share` percent on the holder. Returns when the
    /// turn goes on without it.
    fn given_up(share: u64, asleep: bool, excused: bool) -> Option<u64> {
        let (mut watch, mut world) = (TurnWatch::new(), SimulatedWorld::default());
        (world.asleep, world.excused) = (asleep, excused);
        (1..1000).map(|look| look * LOOK).find(|&now| {
            (world.real_time, world.cpu_time) = (now, Some(now * share / 100));
            watch.is_away(TaskId::FIRST, 0, 7, &world)
        })
    }

    #[test]
    fn a_sleeper_loses_the_turn_soon_and_a_worker_later() {
        assert_eq!(given_up(0, true, false), Some(LOOK + ASLEEP + LOOK));
        assert_eq!(given_up(100, false, false), Some(LOOK + BUSY + LOOK));
    }

    #[test]
    fn a_thread_that_gets_no_processor_keeps_the_turn() {
        assert_eq!(given_up(0, false, false), None);
        assert_eq!(given_up(0, true, true), None);
    }

    #[test]
    fn a_thread_that_does_events_keeps_the_turn() {
        let (mut watch, mut world) = (TurnWatch::new(), SimulatedWorld::default());
        world.asleep = true;
        let away = (1..100).any(|look| {
            (world.real_time, world.cpu_time) = (look * LOOK, Some(0));
            watch.is_away(TaskId::FIRST, 0, look, &world)
        });
        assert!(!away);
    }
}
