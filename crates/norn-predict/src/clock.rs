//! Vector clocks: the number of events of each thread that happen before.

use rustc_hash::FxHashMap;

use crate::order::Known;

/// By thread: the number of its events that happen before. Missing entries are 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock(Vec<u32>);

impl Clock {
    /// Takes the maximum of both.
    pub(crate) fn join(&mut self, other: &Clock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }
}

/// The clocks of all threads, with the events at which they change.
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

    /// The clock after an event, including the event itself.
    pub(crate) fn after(&self, thread: usize, index: u32) -> Clock {
        let mut clock = self.now[thread].clone();
        clock.0[thread] = index.saturating_add(1);
        clock
    }

    /// Joins a clock into that of a thread, from this event on.
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
