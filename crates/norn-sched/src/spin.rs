//! Detects threads that spin: they repeat the same reads and have no effect, so that only another
//! thread can end their loop. They are not chosen while others can run.
//!
//! A thread that has had no effect for a while is watched event by event. If it returns to the same
//! event, and everything it saw since then equals what it saw in the round before, it spins. After
//! an effect of another thread it may check once more: for one round, unless it sees something new.
//! Watching is slow: if it does not detect a spin, the thread runs twice as long before it is
//! watched again.

use norn_abi::{Change, Kind};

use crate::{TaskId, World, run::RunState};

/// Number of events without an effect after which a thread is watched: initially, and at most. A
/// watch stores the difference to the initial number, so that a new one is all zero.
const SUSPICIOUS: u64 = 256;
const MOST_PATIENT: u64 = 1 << 14;
/// Maximum length of a round in events; after that another event becomes the anchor.
const LONGEST_ROUND: u32 = 64;
/// Number of equal rounds that make a spin.
const ROUNDS: u32 = 3;
/// Number of events for which a thread is watched: the anchor may be an event that does not recur,
/// so there is time for another one.
const WATCHED: u64 = 2 * (ROUNDS as u64 + 1) * LONGEST_ROUND as u64;
/// Number of events of pure spinning after which no thread is expected to make progress.
const LIVELOCK_EVENTS: u64 = 200_000;
/// Number of events of pure spinning after which the spinning threads need not alternate any more.
const STALE: u64 = 2_000;

/// The spin detection state of one thread.
#[derive(Debug)]
pub(crate) struct SpinWatch {
    /// Where rounds begin: code location and address.
    anchor: (usize, usize),
    /// A hash of what was seen in this round, and in the last one.
    round: u64,
    last: u64,
    events: u32,
    equal: u32,
    watched: bool,
    /// Number of events without an effect when watching began or was given up.
    since: u64,
    /// Number of events without an effect before watching, beyond [`SUSPICIOUS`].
    patience: u64,
    spins: bool,
    /// It has yielded.
    yields: bool,
    /// The number of changes when it was last found spinning.
    changes: u64,
}

impl SpinWatch {
    pub(crate) const NEW: SpinWatch = SpinWatch {
        anchor: (0, 0),
        round: 0,
        last: 0,
        events: 0,
        equal: 0,
        watched: false,
        since: 0,
        patience: 0,
        spins: false,
        yields: false,
        changes: 0,
    };

    /// Resets the state for a new thread.
    pub(crate) fn reset(&mut self) {
        self.forget();
        (self.yields, self.since, self.patience) = (false, 0, 0);
    }

    /// Stops watching.
    fn forget(&mut self) {
        (self.anchor, self.round, self.last) = ((0, 0), 0, 0);
        (self.events, self.equal, self.changes) = (0, 0, 0);
        (self.watched, self.spins) = (false, false);
    }

    /// The thread has executed `quiet` events since its last effect. Returns whether it is watched.
    pub(crate) fn is_suspicious(&mut self, quiet: u64) -> bool {
        if quiet < self.since {
            // It has had an effect meanwhile.
            self.forget();
            self.since = 0;
        }
        let patience = SUSPICIOUS + self.patience;
        if !self.watched && quiet - self.since >= patience {
            (self.watched, self.since) = (true, quiet);
        } else if self.watched && self.spins {
            (self.patience, self.since) = (0, quiet);
        } else if self.watched && quiet - self.since >= WATCHED {
            self.forget();
            self.since = quiet;
            self.patience = (2 * patience).min(MOST_PATIENT) - SUSPICIOUS;
        }
        self.watched
    }

    /// Whether other tasks should run first. `changes` counts the changes of all threads.
    pub(crate) fn is_idle(&self, changes: u64) -> bool {
        self.yields || self.spins(changes)
    }

    /// Whether it spins, and nothing has changed since.
    pub(crate) fn spins(&self, changes: u64) -> bool {
        self.spins && self.changes == changes
    }

    /// Whether each of its events must be observed.
    pub(crate) fn is_watched(&self) -> bool {
        self.watched
    }

    /// The thread yields.
    pub(crate) fn yields(&mut self) {
        self.yields = true;
    }

    /// It arrives at an event at a code location and address, where it will see this value.
    pub(crate) fn observe(&mut self, at: (usize, usize), seen: u64, changes: u64) {
        if at == self.anchor && self.events > 0 {
            let same = self.round == self.last;
            self.equal = if same { self.equal + 1 } else { 0 };
            (self.last, self.round, self.events) = (self.round, 0, 0);
            if self.equal >= ROUNDS {
                self.spins = true;
                self.changes = changes;
            }
        } else if self.events == 0 && self.anchor != at || self.events >= LONGEST_ROUND {
            (self.anchor, self.round, self.last) = (at, 0, 0);
            (self.events, self.equal, self.spins) = (0, 0, false);
        }
        self.events += 1;
        let word = (at.0 as u64).rotate_left(32) ^ at.1 as u64 ^ seen.rotate_left(17);
        self.round = (self.round ^ word).wrapping_mul(crate::STEP).rotate_left(23);
    }

    #[cfg(test)]
    pub(crate) fn watch_for_test(&mut self) {
        self.watched = true;
    }
}

/// The last effect of any thread, in events of all threads.
#[derive(Debug)]
pub(crate) struct Progress {
    /// Number of events since the last effect, at the end of the last turn.
    fruitless: u64,
    /// Number of events of all threads at the last effect.
    changed_at: u64,
}

impl Progress {
    pub(crate) const fn new() -> Self {
        Self { fruitless: 0, changed_at: 0 }
    }

    /// Whether there was no effect for long.
    pub(crate) fn is_stale(&self) -> bool {
        self.fruitless > STALE
    }

    /// The time has changed, which counts as an effect.
    pub(crate) fn time_passes(&mut self, steps: u64) {
        self.changed_at = steps;
    }
}

impl RunState {
    /// A turn has ended. Notes whether its thread had an effect; tasks that yielded may run again
    /// if it executed anything at all.
    pub(crate) fn after_turn(&mut self, world: &dyn World) {
        let last = self.last();
        if !self.tasks.is_used(last) {
            return;
        }
        let steps = self.steps(world);
        let since = self.tasks[last].since;
        if world.last_effect(last) > since {
            self.tasks.changes += 1;
            self.progress.changed_at = steps;
        }
        if world.steps(last) > since && !self.tasks[last].spin.yields {
            self.let_yielded_run(|id| id != last);
        }
        self.progress.fruitless = steps - self.progress.changed_at;
    }

    /// Every task that could run spins or yields: whether this has lasted so long that it will not
    /// end.
    pub(crate) fn is_hopeless(&mut self) -> bool {
        self.let_yielded_run(|_| true);
        self.progress.fruitless > LIVELOCK_EVENTS
    }

    fn let_yielded_run(&mut self, which: impl Fn(TaskId) -> bool) {
        for (index, task) in self.tasks.iter_mut().enumerate() {
            if which(TaskId::at(index)) {
                task.spin.yields = false;
            }
        }
    }
}

/// Whether the value that an event of this kind sees matters for spin detection.
pub(crate) fn sees_a_value(kind: Kind) -> bool {
    kind.as_access().is_some()
        || matches!(kind, Kind::AtomicLoad | Kind::AtomicRmw | Kind::AtomicCas)
}

/// Whether an event has no effect that another thread could observe.
pub fn is_fruitless(kind: Kind) -> bool {
    kind.change() == Change::None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets a thread read `values` in turn at one code location each, and returns after how many
    /// events it is found spinning.
    fn spins_after(values: impl Fn(u64) -> (usize, u64), most: u64) -> Option<u64> {
        let mut watch = SpinWatch::NEW;
        (0..most).find(|&quiet| {
            if watch.is_suspicious(quiet) {
                let (place, value) = values(quiet);
                watch.observe((place, 0x1000), value, 1);
            }
            watch.spins(1)
        })
    }

    #[test]
    fn a_loop_over_the_same_values_spins_after_a_few_rounds() {
        let after = spins_after(|quiet| (8 + usize::try_from(quiet % 3).unwrap(), 0), 2000);
        // Watched from event 256 on; the first round has no predecessor to compare with.
        assert_eq!(after, Some(256 + 3 * (u64::from(ROUNDS) + 1)));
    }

    #[test]
    fn a_loop_that_sees_new_values_does_not_spin() {
        assert_eq!(spins_after(|quiet| (8, quiet), 20_000), None);
    }

    #[test]
    fn a_round_that_is_too_long_is_not_recognised() {
        let long = u64::from(LONGEST_ROUND) + 1;
        let place = |quiet: u64| (usize::try_from(quiet % long).unwrap(), 0);
        assert_eq!(spins_after(place, 20_000), None);
    }

    #[test]
    fn a_change_by_another_thread_ends_the_spin() {
        let mut watch = SpinWatch::NEW;
        watch.watched = true;
        (0..8).for_each(|_| watch.observe((1, 1), 0, 5));
        assert!(watch.spins(5) && watch.is_idle(5));
        assert!(!watch.spins(6) && !watch.is_idle(6));
        watch.yields();
        assert!(watch.is_idle(6));
    }

    #[test]
    fn watching_in_vain_makes_it_wait_longer() {
        let mut watch = SpinWatch::NEW;
        let mut begun = Vec::new();
        let mut before = false;
        for quiet in 0..200_000 {
            let watched = watch.is_suspicious(quiet);
            if watched && !before {
                begun.push(quiet);
            }
            before = watched;
        }
        let gaps: Vec<_> = begun.windows(2).map(|it| it[1] - it[0] - WATCHED).collect();
        assert_eq!(gaps[..5], [512, 1024, 2048, 4096, 8192]);
        assert!(gaps[6..].iter().all(|it| *it == MOST_PATIENT));
    }

    #[test]
    fn an_effect_of_its_own_ends_the_watching() {
        let mut watch = SpinWatch::NEW;
        assert!((0..300).map(|quiet| watch.is_suspicious(quiet)).last().unwrap());
        assert!(!watch.is_suspicious(2));
    }
}
