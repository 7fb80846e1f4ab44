//! Detects threads that spin: they repeat the same events and change nothing, so that only another
//! thread can end their loop. They are not chosen while others can run.
//!
//! A thread that has had no effect for a while is watched event by event, and so is, more rarely,
//! one that runs for long with effects: it may acquire and release a lock in each round, or write
//! what was there before. If it returns to the same event, and everything it saw since then equals
//! what it saw in the round before, it spins. After an effect of another thread it may check once
//! more: for one round, unless it sees something new. Watching is slow: if it does not detect a
//! spin, the thread runs twice as long before it is watched again.
//!
//! To spin is reason enough to let others run, but no proof that the loop is endless: the thread may
//! count its rounds in a register. So a livelock also needs the state of each thread, its registers and
//! its stack, to be the same in two rounds.

use norn_abi::{Change, Kind};

use crate::{Event, TaskId, World, run::RunState};

/// Number of events without an effect after which a thread is watched: initially, and at most. A
/// watch stores the difference to the initial number, so that a new one is all zero.
const SUSPICIOUS: u64 = 256;
const MOST_PATIENT: u64 = 1 << 14;
/// The same for a thread that has effects, counted in all of its events.
const BUSY: u64 = 2048;
const MOST_PATIENT_BUSY: u64 = 1 << 20;
/// Maximum length of a round in events; after that another event becomes the anchor.
const LONGEST_ROUND: usize = 64;
/// Number of equal rounds that make a spin.
const ROUNDS: u32 = 3;
/// Number of equal rounds between two comparisons of a thread's state.
const ROUNDS_PER_STATE: u32 = 16;
/// Number of events for which a thread is watched: the anchor may be an event that does not recur,
/// so there is time for another one.
const WATCHED: u64 = 2 * (ROUNDS as u64 + 1) * LONGEST_ROUND as u64;
/// Number of events of pure spinning after which no thread is expected to make progress.
const LIVELOCK_EVENTS: u64 = 200_000;
/// Number of events of pure spinning after which the run ends, although a loop that counts its rounds
/// might end by itself.
const STALLED_EVENTS: u64 = 10_000_000;
/// Number of events of pure spinning after which the spinning threads need not alternate any more.
const STALE: u64 = 2_000;

/// The spin detection state of one thread.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub(crate) struct SpinWatch {
    /// Where rounds begin: code location and address.
    anchor: (usize, usize),
    /// A hash of each event of the last round and of what it saw, and the length of that round.
    /// Those of the current round take their places.
    round: [u32; LONGEST_ROUND],
    length: usize,
    /// Number of events of the current round, and whether they equal those of the last one.
    events: usize,
    is_same: bool,
    /// Number of locks acquired in the current round and not released.
    held: i32,
    /// The last event was the attempt to acquire a lock.
    attempted: bool,
    equal: u32,
    watched: bool,
    /// Number of events without an effect when watching began or was given up.
    since: u64,
    /// Number of events without an effect before watching, beyond [`SUSPICIOUS`].
    patience: u64,
    /// It is watched although it has effects.
    busy: bool,
    /// As `since` and `patience`, for a thread that has effects.
    busy_since: u64,
    busy_patience: u64,
    spins: bool,
    /// Its state in an earlier round, and whether it was the same again.
    state: u64,
    proven: bool,
    /// It has yielded.
    yields: bool,
    /// The number of changes when it was last found spinning.
    changes: u64,
}

/// A thread arrives at an event: what its watch sees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sight {
    pub(crate) event: Event,
    /// The value at the address of the event, if it has one.
    pub(crate) value: u64,
    /// Whether the thread's last event had an effect.
    pub(crate) effect: bool,
}

impl SpinWatch {
    pub(crate) const NEW: SpinWatch = SpinWatch {
        anchor: (0, 0),
        round: [0; LONGEST_ROUND],
        length: 0,
        events: 0,
        is_same: false,
        held: 0,
        attempted: false,
        equal: 0,
        watched: false,
        since: 0,
        patience: 0,
        busy: false,
        busy_since: 0,
        busy_patience: 0,
        spins: false,
        state: 0,
        proven: false,
        yields: false,
        changes: 0,
    };

    /// Resets the state for a new thread.
    pub(crate) fn reset(&mut self) {
        self.forget();
        (self.yields, self.since, self.patience) = (false, 0, 0);
        (self.busy_since, self.busy_patience) = (0, 0);
    }

    /// Stops watching.
    fn forget(&mut self) {
        self.begin_at((0, 0));
        (self.watched, self.busy, self.changes) = (false, false, 0);
    }

    /// Makes an event the anchor: what was seen so far does not count.
    fn begin_at(&mut self, anchor: (usize, usize)) {
        self.anchor = anchor;
        (self.length, self.events, self.equal) = (0, 0, 0);
        (self.is_same, self.spins, self.attempted, self.held) = (false, false, false, 0);
        (self.state, self.proven) = (0, false);
    }

    /// The thread has executed `steps` events, `quiet` of them since its last effect. Returns
    /// whether it is watched.
    pub(crate) fn is_suspicious(&mut self, quiet: u64, steps: u64) -> bool {
        if !self.busy {
            self.watch_quiet(quiet);
        }
        if self.busy || !self.watched {
            self.watch_busy(steps);
        }
        self.watched
    }

    fn watch_quiet(&mut self, quiet: u64) {
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
    }

    fn watch_busy(&mut self, steps: u64) {
        let patience = BUSY + self.busy_patience;
        let events = steps - self.busy_since;
        if !self.busy && events >= patience {
            (self.watched, self.busy, self.busy_since) = (true, true, steps);
        } else if self.busy && self.spins {
            (self.busy_patience, self.busy_since) = (0, steps);
        } else if self.busy && events >= WATCHED {
            self.forget();
            (self.since, self.busy_since) = (0, steps);
            self.busy_patience = (2 * patience).min(MOST_PATIENT_BUSY) - BUSY;
        }
    }

    /// Whether other tasks should run first. `changes` counts the changes of all threads.
    pub(crate) fn is_idle(&self, changes: u64) -> bool {
        self.yields || self.spins(changes)
    }

    /// Whether it spins, and nothing has changed since.
    pub(crate) fn spins(&self, changes: u64) -> bool {
        self.spins && self.changes == changes
    }

    /// Whether it has only repeated itself so far, so that its effects have changed nothing.
    pub(crate) fn repeats(&self) -> bool {
        self.spins
    }

    /// Whether it has been shown to repeat itself for ever, unless another thread changes something.
    pub(crate) fn is_endless(&self, changes: u64) -> bool {
        self.spins(changes) && self.proven
    }

    /// Whether its state must be compared: at the beginning of a round, and not of every one, since
    /// that is slow.
    pub(crate) fn wants_state(&self) -> bool {
        self.spins && self.events == 1 && self.equal.is_multiple_of(ROUNDS_PER_STATE)
    }

    /// Compares the thread's state with that in an earlier round.
    pub(crate) fn compare_state(&mut self, state: Option<u64>) {
        self.proven = state.is_some_and(|it| it == self.state);
        self.state = state.unwrap_or(0);
    }

    /// It has spun for long, but may end its loop by itself: it runs unobserved for a while.
    pub(crate) fn run_on(&mut self, quiet: u64, steps: u64) {
        self.forget();
        (self.since, self.busy_since) = (quiet, steps);
        self.patience = MOST_PATIENT - SUSPICIOUS;
    }

    /// Whether each of its events must be observed.
    pub(crate) fn is_watched(&self) -> bool {
        self.watched
    }

    /// The thread yields.
    pub(crate) fn yields(&mut self) {
        self.yields = true;
    }

    /// It arrives at an event.
    pub(crate) fn observe(&mut self, seen: Sight, changes: u64) {
        let Sight { event, value, effect } = seen;
        self.held += i32::from(self.attempted && effect);
        let at = (event.pc, event.object);
        if at == self.anchor && self.events > 0 {
            self.end_round(changes);
        } else if self.events == 0 && self.anchor != at || self.events >= LONGEST_ROUND {
            self.begin_at(at);
        }
        self.attempted = matches!(event.kind, Kind::Acquire | Kind::SemWait | Kind::TimedSemWait);
        self.held -= i32::from(matches!(event.kind, Kind::Release));
        let word = if is_repeatable(event.kind) { hash(event, value) } else { 0 };
        if let Some(known) = self.round.get_mut(self.events) {
            let same = self.events < self.length && *known == word && word != 0;
            *known = word;
            self.is_same &= same;
            self.spins &= same;
        }
        self.events += 1;
    }

    /// A round ends: compares it with the round before. A thread that keeps a lock in each round has
    /// an effect, although it repeats itself.
    fn end_round(&mut self, changes: u64) {
        let same = self.is_same && self.events == self.length && self.held == 0;
        self.equal = if same { self.equal + 1 } else { 0 };
        (self.length, self.events, self.is_same, self.held) = (self.events, 0, true, 0);
        self.spins = self.equal >= ROUNDS;
        self.proven &= self.spins;
        if self.spins {
            self.changes = changes;
        }
    }

    #[cfg(test)]
    pub(crate) fn watch_for_test(&mut self) {
        self.watched = true;
    }
}

/// A hash of an event and the value that it sees; never 0.
fn hash(event: Event, value: u64) -> u32 {
    let word = (event.pc as u64).rotate_left(32) ^ event.object as u64 ^ value.rotate_left(17);
    let mixed = (word ^ u64::from(event.kind.code()) << 56).wrapping_mul(crate::STEP);
    ((mixed >> 32) as u32) | 1
}

/// Whether an event of this kind changes nothing if everything that its thread sees stays the same:
/// it has no effect, or the effect is seen in memory at its next round, or is undone by a release.
fn is_repeatable(kind: Kind) -> bool {
    use Kind as K;
    let locks = matches!(kind, K::Acquire | K::Release | K::SemWait | K::TimedSemWait);
    let waits = matches!(kind, K::Wait | K::TimedWait | K::WaitRelease | K::WaitAcquire);
    sees_a_value(kind) || is_fruitless(kind) || locks || waits
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
        if world.last_effect(last) > since && !self.tasks[last].spin.repeats() {
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

    /// Whether spinning has lasted so long that nobody waits for its end.
    pub(crate) fn is_stalled(&self) -> bool {
        self.progress.fruitless > STALLED_EVENTS
    }

    /// Lets the spinning tasks run on whose loops may end by themselves. Returns whether there is one.
    pub(crate) fn let_unproven_run(&mut self, world: &dyn World) -> bool {
        let changes = self.tasks.changes;
        let mut found = false;
        let mut next = self.tasks.first();
        while let Some(id) = next {
            let task = &mut self.tasks[id];
            let runs = task.is_ready() || task.is_timed();
            if runs && !task.spin.is_endless(changes) {
                let steps = world.steps(id);
                task.spin.run_on(steps - world.last_effect(id), steps);
                found = true;
            }
            next = self.tasks.next(id);
        }
        found
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
    use Kind as K;
    kind.as_access().is_some()
        || matches!(kind, K::AtomicLoad | K::AtomicStore | K::AtomicRmw | K::AtomicCas)
}

/// Whether an event has no effect that another thread could observe.
pub fn is_fruitless(kind: Kind) -> bool {
    kind.change() == Change::None
}

#[cfg(test)]
#[path = "spin_tests.rs"]
mod tests;
