//! Watches the thread that has the turn. If it sleeps in uninstrumented code, or computes there for
//! long, the turn passes on without it.
//!
//! The duration of a computation is measured in CPU time: on a busy machine, a thread may be
//! descheduled for any time. A sleep can only be measured in real time; so whenever the turn passes
//! on without a thread, this is counted and reported.

use crate::{TaskId, World};

/// How long a thread sleeps before the turn passes on without it, in nanoseconds.
const ASLEEP: u64 = 20_000_000;
/// How long it computes before the turn passes on without it, in nanoseconds of CPU time.
const BUSY: u64 = 1_000_000_000;
/// The time without a check, in nanoseconds, after which all threads must have been stopped, as by
/// a debugger.
const STOPPED: u64 = 500_000_000;

/// The observations of the thread that has the turn.
#[derive(Debug)]
pub(crate) struct TurnWatch {
    /// The real time of the last check.
    looked: u64,
    /// The number of the thread that had the turn then, and the number of events.
    thread: Option<u32>,
    events: u64,
    /// Its CPU time when it was first seen there.
    begun: u64,
    /// Its CPU time when it was first seen asleep, and the real time of that.
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
        // A thread without known CPU time has not arrived yet; one that sleeps while it waits for
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

    /// Checks every 10 ms, while the holder gets `share` percent of a CPU. Returns when the turn
    /// passes on without it.
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
