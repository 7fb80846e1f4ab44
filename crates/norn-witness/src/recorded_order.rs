//! The recorded order of all events, and its cuts: points at which schedules may begin to differ from it.

use crate::{Hybrid, Minimiser, Turn, sync_skeleton::EventPos};

/// The recorded order.
#[derive(Debug)]
pub(crate) struct RecordedOrder {
    /// Which thread runs, up to which event. No run crosses a cut.
    pub(crate) runs: Vec<EventPos>,
    /// The first cut is the begin.
    pub(crate) cuts: Vec<Cut>,
    /// The number of events between two cuts, and of those since the last one; 0 makes no cut.
    segment: usize,
    since_cut: usize,
    /// By thread: the number of its events so far.
    done: Vec<u32>,
}

/// A point of the recorded order.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    /// The number of runs before it.
    pub(crate) runs: usize,
    /// By thread: the number of its events before it.
    pub(crate) done: Vec<u32>,
}

impl RecordedOrder {
    /// An empty order of some threads, with a cut after each segment of this many events; 0 makes none.
    pub(crate) fn new(threads: usize, segment: usize) -> Self {
        let done = vec![0; threads];
        let cuts = vec![Cut { runs: 0, done: done.clone() }];
        RecordedOrder { runs: Vec::new(), cuts, segment, since_cut: 0, done }
    }

    /// Adds the next event.
    pub(crate) fn push(&mut self, (thread, index): EventPos) {
        let begins = self.segment > 0 && self.since_cut == self.segment;
        if begins {
            self.cuts.push(Cut { runs: self.runs.len(), done: self.done.clone() });
            self.since_cut = 0;
        }
        match self.runs.last_mut() {
            Some(run) if run.0 == thread && !begins => run.1 = index + 1,
            _ => self.runs.push((thread, index + 1)),
        }
        self.since_cut += 1;
        self.done[thread as usize] = index + 1;
    }
}

/// The recorded order up to its last cut, with fewer context switches in each segment, and by cut the
/// number of its turns.
pub(crate) fn common_order(
    hybrid: &Hybrid<'_>,
    minimiser: &Minimiser<'_>,
) -> (Vec<Turn>, Vec<usize>) {
    let (mut order, mut cuts) = (Vec::new(), Vec::new());
    for pair in hybrid.cuts().windows(2) {
        let segment = hybrid.segment(&pair[0], &pair[1]);
        order.extend(minimiser.rearrange(&pair[0].done, &segment));
        cuts.push(order.len());
    }
    (order, cuts)
}
