//! Vector clocks: for each thread, the number of its events that happened before.

use rustc_hash::FxHashMap;

/// For each thread, the number of its events that happened before. Missing ones count as 0.
#[derive(Clone, Debug, Default)]
pub struct Clock(Vec<u32>);

impl Clock {
    /// Adds what another clock knows.
    pub fn join(&mut self, other: &Clock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }
}

/// The clocks of all threads, and when each thread learnt what it knows. Threads are counted from 0.
#[derive(Debug)]
pub struct Clocks {
    now: Vec<Clock>,
    history: ClockHistory,
}

impl Clocks {
    /// The clocks before the first event.
    pub fn new(threads: usize) -> Self {
        let now = vec![Clock(vec![0; threads]); threads];
        Clocks { now, history: ClockHistory { known: vec![FxHashMap::default(); threads] } }
    }

    /// What happens before everything that comes after this event, including the event.
    pub fn after(&self, thread: usize, index: u32) -> Clock {
        let mut clock = self.now[thread].clone();
        clock.0[thread] = index.saturating_add(1);
        clock
    }

    /// From this event on, a thread knows what a clock knows.
    pub fn learn(&mut self, thread: usize, index: u32, clock: &Clock) {
        let now = &mut self.now[thread].0;
        for (other, (mine, &theirs)) in now.iter_mut().zip(&clock.0).enumerate() {
            if theirs > *mine && other != thread {
                *mine = theirs;
                let known = self.history.known[thread].entry(other).or_default();
                known.push(Known { from: index, upto: theirs });
            }
        }
    }

    /// Everything that the threads learnt, for queries.
    pub fn into_history(self) -> ClockHistory {
        self.history
    }
}

/// Vector clocks of all events, taken apart: for each pair of threads, how far one had come when the
/// other learnt something new about it. Only what changes takes memory.
#[derive(Debug)]
pub struct ClockHistory {
    /// By thread, then by other thread.
    known: Vec<FxHashMap<usize, Vec<Known>>>,
}

/// From event `from` on, the first `upto` events of the other thread are before.
#[derive(Clone, Copy, Debug)]
struct Known {
    from: u32,
    upto: u32,
}

impl ClockHistory {
    /// How many events of another thread are before an event.
    #[inline]
    pub fn before(&self, thread: usize, index: u32, other: usize) -> u32 {
        let known = self.known(thread, other);
        let at = known.partition_point(|it| it.from <= index);
        at.checked_sub(1).map_or(0, |at| known[at].upto)
    }

    /// The first event of another thread that an event is before.
    #[inline]
    pub fn after(&self, thread: usize, index: u32, other: usize) -> u32 {
        let known = self.known(other, thread);
        known.get(known.partition_point(|it| it.upto <= index)).map_or(u32::MAX, |it| it.from)
    }

    #[inline]
    fn known(&self, thread: usize, other: usize) -> &[Known] {
        self.known.get(thread).and_then(|it| it.get(&other)).map_or(&[], Vec::as_slice)
    }
}
