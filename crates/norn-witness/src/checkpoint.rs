//! The states of the fast engine at the cuts of the recorded order, so that a schedule for a candidate
//! late in a long trace need not follow the recorded run from its begin.

use norn_model::Cancel;
use rustc_hash::FxHashMap;

use crate::{simulator::Simulator, sync_skeleton::SyncSkeleton};

/// The state of a run of the skeleton that does not depend on a candidate.
#[derive(Clone, Debug)]
pub(crate) struct SkeletonState {
    /// By thread: the number of its events, and of its synchronisation steps, so far.
    pub(crate) done: Vec<u32>,
    pub(crate) steps_done: Vec<usize>,
    /// By lock: the threads that hold it. A lock that no thread holds is absent.
    pub(crate) holds: FxHashMap<u32, Vec<Hold>>,
    /// By semaphore: its value, if it is not the initial one.
    pub(crate) semaphores: FxHashMap<u32, i64>,
    /// By condition: the signals that ended no wait yet, in their order.
    pub(crate) signals: FxHashMap<u32, Vec<Signal>>,
    /// By thread: when it began to wait for a condition.
    pub(crate) waits: FxHashMap<u32, u32>,
    pub(crate) time: u32,
}

/// A thread that holds a lock, and the event that releases it, if the trace has one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hold {
    pub(crate) thread: u32,
    pub(crate) depth: u32,
    pub(crate) shared: bool,
    pub(crate) until: Option<u32>,
}

/// A signal that ended no wait yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    pub(crate) time: u32,
    pub(crate) all: bool,
}

impl SkeletonState {
    /// The state before the first event.
    pub(crate) fn first(skeleton: &SyncSkeleton) -> Self {
        let threads = skeleton.threads.len();
        SkeletonState {
            done: vec![0; threads],
            steps_done: vec![0; threads],
            holds: FxHashMap::default(),
            semaphores: FxHashMap::default(),
            signals: FxHashMap::default(),
            waits: FxHashMap::default(),
            time: 0,
        }
    }

    /// Drops signals that can end no wait any more: they came before every wait that has not ended.
    fn forget_signals(&mut self) {
        let first = self.waits.values().min().copied().unwrap_or(u32::MAX);
        self.signals.retain(|_, signals| {
            signals.drain(..signals.partition_point(|it| it.time <= first));
            !signals.is_empty()
        });
    }
}

/// The states at the cuts of the recorded order, from its begin. There are fewer states than cuts if
/// the recorded order is not possible: events of a damaged trace may be missing.
pub(crate) fn states(skeleton: &SyncSkeleton, cancel: &Cancel) -> Vec<SkeletonState> {
    let mut states = vec![SkeletonState::first(skeleton)];
    let mut simulator = Simulator::new(skeleton, (0, SkeletonState::first(skeleton)), &[], cancel);
    for cuts in skeleton.order.cuts.windows(2) {
        for &(thread, until) in &skeleton.order.runs[cuts[0].runs..cuts[1].runs] {
            if cancel.is_cancelled() || !simulator.try_advance(thread, until) {
                return states;
            }
        }
        simulator.turns.clear();
        simulator.now.forget_signals();
        states.push(simulator.now.clone());
    }
    states
}
