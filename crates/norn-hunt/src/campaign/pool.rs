//! Workers that execute plans before their results are requested.
//!
//! The driver of a campaign decides on one plan after another, as if there were a single worker.
//! While it waits for a result, the other workers execute the plans that it will probably request
//! next. A result is used only if exactly its plan is requested later; so neither the number of
//! workers nor the order in which runs end influences any decision.

use std::{
    any::Any,
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc},
    thread,
};

use norn_frontend::Cancel;
use norn_replay::ReplayError;

/// Number of plans per worker that may be executed ahead of the requested one. A slow run delays
/// the others only when all of these have been executed.
const LOOK_AHEAD: usize = 4;
/// Maximum number of runs in parallel where other processes make them, too, and come and go.
const MOST_JOBS: usize = 64;

/// Executes a program. The result of a run depends on its plan alone.
pub(crate) trait Executor: Sync {
    /// Specifies a run.
    type Plan: Clone + PartialEq + Send;
    /// The result of a run.
    type Run: Send;

    /// Executes one run. The result of a cancelled run is never used.
    fn run(&self, plan: &Self::Plan, cancel: &Cancel) -> Result<Self::Run, ReplayError>;

    /// Number of runs that can be made in parallel now, if that changes.
    fn capacity(&self) -> Option<usize> {
        None
    }

    /// Why the campaign is to end before its budget is spent, if it is: the user has interrupted it, or
    /// its time is over.
    fn stopped(&self) -> Option<norn_report::Ended>;
}

/// How a run ended in its worker: with a result, or with a panic.
type Ended<R> = Result<Result<R, ReplayError>, Box<dyn Any + Send>>;

/// The workers, as the driver sees them.
pub(crate) struct Pool<'p, E: Executor> {
    executor: &'p E,
    /// Number of runs in parallel.
    jobs: usize,
    orders: &'p Orders<E::Plan>,
    done: mpsc::Receiver<(usize, Ended<E::Run>)>,
    /// Runs that were ordered and have not ended, with their numbers.
    running: Vec<(usize, E::Plan)>,
    /// Results that have not been requested yet.
    kept: Vec<Kept<E>>,
    /// Number of results that were requested so far.
    asked: usize,
    ordered: usize,
}

struct Kept<E: Executor> {
    plan: E::Plan,
    run: E::Run,
    /// The number of requested results at the time when it ended.
    since: usize,
}

/// The queue of plans for the workers.
struct Orders<P> {
    /// Cancels the runs that nobody will request any more, when the driver has ended.
    cancel: Cancel,
    state: Mutex<(VecDeque<(usize, P)>, bool)>,
    changed: Condvar,
}

/// Calls a function with a pool of workers, all of which have ended when it returns.
pub(crate) fn with_pool<E: Executor, T>(
    executor: &E,
    jobs: usize,
    work: impl FnOnce(&mut Pool<'_, E>) -> T,
) -> T {
    let (cancel, state) = (Cancel::default(), Mutex::default());
    let orders = Orders { cancel, state, changed: Condvar::new() };
    let (sender, done) = mpsc::channel();
    let threads = if executor.capacity().is_some() { MOST_JOBS } else { jobs.max(1) };
    thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, orders) = (sender.clone(), &orders);
            scope.spawn(move || orders.serve(executor, &sender));
        }
        let _close = Close(&orders);
        let jobs = jobs.max(1);
        let (running, kept) = (Vec::new(), Vec::new());
        work(&mut Pool {
            executor,
            jobs,
            orders: &orders,
            done,
            running,
            kept,
            asked: 0,
            ordered: 0,
        })
    })
}

/// Ends the workers and their runs, even if the driver panics.
struct Close<'a, P>(&'a Orders<P>);

impl<P> Drop for Close<'_, P> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.0.clear();
        state.1 = true;
        self.0.cancel.cancel();
        self.0.changed.notify_all();
    }
}

impl<P> Orders<P> {
    fn lock(&self) -> MutexGuard<'_, (VecDeque<(usize, P)>, bool)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, number: usize, plan: P) {
        self.lock().0.push_back((number, plan));
        self.changed.notify_one();
    }

    /// The next order; `None` when there will be no more.
    fn next(&self) -> Option<(usize, P)> {
        let mut state = self.lock();
        loop {
            if let Some(order) = state.0.pop_front() {
                return Some(order);
            }
            if state.1 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The loop of a worker.
    fn serve<E: Executor<Plan = P>>(
        &self,
        executor: &E,
        done: &mpsc::Sender<(usize, Ended<E::Run>)>,
    ) {
        while let Some((number, plan)) = self.next() {
            // A panic is passed on to the driver, which would otherwise wait for the result
            // forever.
            let ended = catch_unwind(AssertUnwindSafe(|| executor.run(&plan, &self.cancel)));
            if done.send((number, ended)).is_err() {
                return;
            }
        }
    }
}

impl<E: Executor> Pool<'_, E> {
    /// See [`Executor::stopped`].
    pub(crate) fn stopped(&self) -> Option<norn_report::Ended> {
        self.executor.stopped()
    }

    /// The result of a plan. Meanwhile the other workers execute the plans that `ahead` predicts.
    pub(crate) fn run<A: Iterator<Item = E::Plan>>(
        &mut self,
        plan: &E::Plan,
        ahead: impl FnOnce() -> A,
    ) -> Result<E::Run, ReplayError> {
        self.adapt();
        self.forget();
        let mut ahead = (self.jobs > 1).then(ahead);
        if !self.has(plan) {
            self.order(plan.clone());
        }
        loop {
            if let Some(ahead) = &mut ahead {
                self.adapt();
                self.order_ahead(ahead);
            }
            if let Some(at) = self.kept.iter().position(|it| it.plan == *plan) {
                self.asked += 1;
                return Ok(self.kept.swap_remove(at).run);
            }
            self.receive(plan)?;
        }
    }

    /// Uses the workers that are there now.
    fn adapt(&mut self) {
        if let Some(capacity) = self.executor.capacity() {
            self.jobs = capacity.clamp(1, MOST_JOBS);
        }
    }

    /// Assigns predicted plans to free workers.
    fn order_ahead(&mut self, ahead: &mut impl Iterator<Item = E::Plan>) {
        let most = self.jobs * LOOK_AHEAD;
        while self.running.len() < self.jobs && self.running.len() + self.kept.len() < most {
            let Some(plan) = ahead.next() else { return };
            if !self.has(&plan) {
                self.order(plan);
            }
        }
    }

    /// Waits for a run to end. The error of a run that was only predicted matters only if that run
    /// is requested later.
    fn receive(&mut self, wanted: &E::Plan) -> Result<(), ReplayError> {
        // A worker's end of the channel is open as long as the pool exists, so this cannot fail.
        let Ok((number, ended)) = self.done.recv() else { return Ok(()) };
        let Some(at) = self.running.iter().position(|it| it.0 == number) else { return Ok(()) };
        let (_, plan) = self.running.swap_remove(at);
        match ended.unwrap_or_else(|panic| resume_unwind(panic)) {
            Ok(run) => self.kept.push(Kept { plan, run, since: self.asked }),
            Err(error) if plan == *wanted => return Err(error),
            Err(_) => {}
        }
        Ok(())
    }

    fn has(&self, plan: &E::Plan) -> bool {
        self.running.iter().any(|it| it.1 == *plan) || self.kept.iter().any(|it| it.plan == *plan)
    }

    fn order(&mut self, plan: E::Plan) {
        self.running.push((self.ordered, plan.clone()));
        self.orders.push(self.ordered, plan);
        self.ordered += 1;
    }

    /// Drops results of wrong predictions: those that were not requested within the look-ahead
    /// distance.
    fn forget(&mut self) {
        let (asked, most) = (self.asked, self.jobs * LOOK_AHEAD);
        self.kept.retain(|it| asked - it.since <= most);
    }
}
