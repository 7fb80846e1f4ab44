//! Watches the thread that has the turn. If it sleeps in uninstrumented code in a way that another
//! thread may have to end, or computes there for long, the turn passes on without it.
//!
//! A busy machine must not matter. So the kernel is asked what the thread sleeps for: a thread in a
//! system call that does not wait for other threads keeps the turn, however long that takes, and a
//! computation is measured in CPU time. A thread that waits in a loop is recognised by its state, which
//! repeats; only a loop that also counts, or changes its delay, is taken for a computation. Whenever the turn passes on without a thread, this is
//! counted and reported.

use crate::{Sleep, TaskId, World};

/// How long a thread sleeps until another one may have to end its sleep, in nanoseconds. Such a sleep
/// of a thread that nobody wakes lasts, so a longer time would change nothing.
const ASLEEP: u64 = 20_000_000;
/// How long it sleeps for another reason, in nanoseconds. A loop that sleeps in uninstrumented code
/// may wait for another thread after all, and so may a child process.
const ASLEEP_ALONE: u64 = 5_000_000_000;
/// How long it computes until it is observed whether it only repeats a loop, in nanoseconds of CPU time.
const OBSERVED: u64 = 5_000_000;
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
    /// Its CPU time when it was first seen asleep until another thread ends that, and the real time
    /// of that.
    spent: u64,
    since: u64,
    /// The real time at which it was first seen asleep for another reason; 0 if it was not.
    alone_since: u64,
}

impl TurnWatch {
    pub(crate) const fn new() -> Self {
        Self { looked: 0, thread: None, events: 0, begun: 0, spent: 0, since: 0, alone_since: 0 }
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
            (self.begun, self.alone_since) = (spent, 0);
            self.sleeps_since(now, spent);
            return false;
        }
        let sleep = world.sleep(holder);
        if sleep != Sleep::ForOthers || self.spent != spent {
            self.sleeps_since(now, spent);
        }
        if sleep == Sleep::Alone && self.alone_since == 0 {
            self.alone_since = now;
        }
        let alone = sleep == Sleep::Alone && now - self.alone_since > ASLEEP_ALONE;
        let busy = spent - self.begun;
        let loops = busy > OBSERVED && sleep == Sleep::No && world.is_looping(holder, events);
        alone || loops || busy > BUSY || now - self.since > ASLEEP
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
    fn given_up(share: u64, sleep: Sleep, excused: bool) -> Option<u64> {
        let world = SimulatedWorld { sleep, excused, ..SimulatedWorld::default() };
        given_up_in(world, share)
    }

    fn given_up_in(mut world: SimulatedWorld, share: u64) -> Option<u64> {
        let mut watch = TurnWatch::new();
        (1..1000).map(|look| look * LOOK).find(|&now| {
            (world.real_time, world.cpu_time) = (now, Some(now * share / 100));
            watch.is_away(TaskId::FIRST, 0, 7, &world)
        })
    }

    #[test]
    fn a_sleeper_loses_the_turn_soon_and_a_worker_later() {
        assert_eq!(given_up(0, Sleep::ForOthers, false), Some(LOOK + ASLEEP + LOOK));
        assert_eq!(given_up(100, Sleep::No, false), Some(LOOK + BUSY + LOOK));
    }

    #[test]
    fn a_thread_in_a_loop_loses_the_turn_soon() {
        let world = SimulatedWorld { looping: true, ..SimulatedWorld::default() };
        assert_eq!(given_up_in(world, 100), Some(LOOK + LOOK));
        let world = SimulatedWorld { looping: true, ..SimulatedWorld::default() };
        assert_eq!(given_up_in(world, 0), None);
    }

    #[test]
    fn a_thread_that_gets_no_processor_keeps_the_turn() {
        assert_eq!(given_up(0, Sleep::No, false), None);
        assert_eq!(given_up(0, Sleep::ForOthers, true), None);
    }

    #[test]
    fn a_slow_system_call_keeps_the_turn_for_long() {
        let given_up = given_up(0, Sleep::Alone, false).unwrap();
        assert!(given_up > ASLEEP_ALONE, "{given_up}");
    }

    #[test]
    fn a_thread_that_does_events_keeps_the_turn() {
        let (mut watch, mut world) = (TurnWatch::new(), SimulatedWorld::default());
        world.sleep = Sleep::ForOthers;
        let away = (1..100).any(|look| {
            (world.real_time, world.cpu_time) = (look * LOOK, Some(0));
            watch.is_away(TaskId::FIRST, 0, look, &world)
        });
        assert!(!away);
    }
}
