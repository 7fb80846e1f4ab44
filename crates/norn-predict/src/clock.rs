//! Vector clocks: how many events of each thread are known to be before.

use rustc_hash::FxHashMap;

use crate::order::Known;

/// For each thread, how many of its events are before. Missing ones count as 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock(Vec<u32>);

impl Clock {
    /// Knows what either knows.
    pub(crate) fn join(&mut self, other: &Clock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }
}

/// The clocks of all threads, and when they learnt what they know.
#[derive(Debug)]
pub(crate) struct Clocks {
    now: Vec<Clock>,
    pub(crate) known: Vec<FxHashMap<u32, Vec<Known>>>,
}

impl Clocks {
    pub(crate) fn new(threads: usize) -> Self {
        let now = vec![Clock(vec![0; threads]); threads];
        Clocks { now, known: vec![FxHashMap::default(); threads] }
    }

    /// What is before whatever comes after this event, the event included.
    pub(crate) fn after(&self, thread: usize, index: u32) -> Clock {
        let mut clock = self.now[thread].clone();
        clock.0[thread] = index.saturating_add(1);
        clock
    }

    /// From this event on, a thread knows what a clock knows.
    pub(crate) fn learn(&mut self, thread: usize, index: u32, clock: &Clock) {
        let now = &mut self.now[thread].0;
        for (other, (mine, &theirs)) in now.iter_mut().zip(&clock.0).enumerate() {
            if theirs > *mine && other != thread {
                *mine = theirs;
                let other = crate::outline::narrow(other);
                self.known[thread]
                    .entry(other)
                    .or_default()
                    .push(Known { from: index, upto: theirs });
            }
        }
    }
}
