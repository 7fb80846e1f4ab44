//! Runs the synchronisation skeleton step by step, in an order that the engine chooses.

use norn_model::Cancel;

use crate::{
    checkpoint::{Hold, Signal, SkeletonState},
    hybrid::Conflict,
    sync_skeleton::{EventPos, SyncOp, SyncSkeleton, SyncStep},
};

/// A run of the skeleton.
#[derive(Debug)]
pub(crate) struct Simulator<'a> {
    skeleton: &'a SyncSkeleton,
    pub(crate) now: SkeletonState,
    /// The number of runs of the recorded order before the begin.
    runs: usize,
    /// By thread: the next event of the candidate, which the thread must not pass.
    limits: Vec<u32>,
    /// The events of the candidate.
    candidate: &'a [EventPos],
    /// By thread: whether it is being advanced. A thread that is needed while it is being advanced
    /// needs itself.
    busy: Vec<bool>,
    cancel: &'a Cancel,
    /// The schedule so far: which thread runs, up to which event.
    pub(crate) turns: Vec<EventPos>,
}

/// Why a step cannot happen yet.
#[derive(Clone, Copy, Debug)]
enum Blocker {
    /// It has to wait for this event.
    Event(EventPos),
    /// No event of the trace can unblock it.
    Nothing,
}

impl Blocker {
    fn new(at: Option<EventPos>) -> Blocker {
        at.map_or(Blocker::Nothing, Blocker::Event)
    }
}

impl<'a> Simulator<'a> {
    /// A run that begins at a state; `runs` is the number of runs of the recorded order before it.
    pub(crate) fn new(
        skeleton: &'a SyncSkeleton,
        (runs, now): (usize, SkeletonState),
        candidate: &'a [EventPos],
        cancel: &'a Cancel,
    ) -> Self {
        let threads = skeleton.threads.len();
        let mut simulator = Simulator {
            skeleton,
            now,
            runs,
            limits: vec![u32::MAX; threads],
            candidate,
            busy: vec![false; threads],
            cancel,
            turns: Vec::new(),
        };
        for step in candidate.iter().rev() {
            simulator.limits[step.0 as usize] = step.1;
        }
        simulator
    }

    /// Follows the recorded run. Threads of the candidate stop where `hold` says, other threads
    /// where they would have to wait. Ends when all threads of the candidate have stopped.
    pub(crate) fn run(&mut self, hold: impl Fn(EventPos) -> u32) {
        let mut holds = vec![u32::MAX; self.now.done.len()];
        let mut left = 0;
        for step in self.candidate.iter().rev() {
            left += usize::from(holds[step.0 as usize] == u32::MAX);
            holds[step.0 as usize] = hold(*step);
        }
        let mut stopped = vec![false; self.now.done.len()];
        let (skeleton, cancel) = (self.skeleton, self.cancel);
        for &(thread, until) in cancel.items(skeleton.order.runs[self.runs..].iter()) {
            let at = thread as usize;
            if stopped[at] {
                continue;
            }
            let to = until.min(holds[at]);
            stopped[at] = !self.try_advance(thread, to) || until >= holds[at];
            left -= usize::from(stopped[at] && holds[at] != u32::MAX);
            if left == 0 {
                return;
            }
        }
    }

    /// Advances a thread as far as it can come without another thread; returns whether it reached
    /// its goal.
    pub(crate) fn try_advance(&mut self, thread: u32, to: u32) -> bool {
        if !self.is_created(thread) {
            return false;
        }
        if self.now.done[thread as usize] < to && self.interrupting(thread).is_some() {
            return false;
        }
        while let Some(step) = self.next_step(thread, to) {
            if self.blocker(thread, &step).is_some() {
                self.move_to(thread, step.index);
                return false;
            }
            self.perform(thread, &step);
        }
        self.move_to(thread, to);
        true
    }

    /// Passes an event of the candidate, which is the next one.
    pub(crate) fn pass(&mut self, (thread, index): EventPos) -> Result<(), Conflict> {
        let later = self.candidate.iter().filter(|it| it.0 == thread && it.1 > index);
        let next = later.map(|it| it.1).min().unwrap_or(u32::MAX);
        self.advance(thread, index)?;
        self.limits[thread as usize] = next;
        self.advance(thread, index + 1)
    }

    /// Replaces the event that a thread must not pass.
    pub(crate) fn set_limit(&mut self, (thread, index): EventPos) {
        self.limits[thread as usize] = index;
    }

    /// Advances a thread to right before an event. Unlike [`Simulator::advance`], this creates the
    /// thread even if the event is its first one.
    pub(crate) fn approach(&mut self, thread: u32, index: u32) -> Result<(), Conflict> {
        self.create(thread)?;
        self.advance(thread, index)
    }

    /// Lets the parent of a thread create it.
    fn create(&mut self, thread: u32) -> Result<(), Conflict> {
        let fork = self.skeleton.threads[thread as usize].fork;
        fork.map_or(Ok(()), |it| self.advance(it.0, it.1 + 1))
    }

    /// Advances a thread, and other threads as far as it needs them.
    pub(crate) fn advance(&mut self, thread: u32, to: u32) -> Result<(), Conflict> {
        let at = thread as usize;
        if self.now.done[at] >= to {
            return Ok(());
        }
        let here = (thread, self.now.done[at]);
        if to > self.limits[at] {
            return Err(Conflict::TooLate(here, (thread, self.limits[at])));
        }
        if self.busy[at] {
            return Err(Conflict::Cycle(here));
        }
        self.busy[at] = true;
        let result = self.advance_with_others(thread, to);
        self.busy[at] = false;
        result
    }

    fn advance_with_others(&mut self, thread: u32, to: u32) -> Result<(), Conflict> {
        self.create(thread)?;
        self.finish_handlers(thread)?;
        while let Some(step) = self.next_step(thread, to) {
            if self.cancel.is_cancelled() {
                return Err(Conflict::Cancelled);
            }
            while let Some(blocker) = self.blocker(thread, &step) {
                let here = (thread, step.index);
                let Blocker::Event(needed) = blocker else { return Err(Conflict::Never(here)) };
                self.advance(needed.0, needed.1 + 1).map_err(|it| locate(it, here, needed))?;
                self.finish_handlers(thread)?;
            }
            self.perform(thread, &step);
        }
        self.move_to(thread, to);
        Ok(())
    }

    /// The last event of a signal handler that has begun on a thread and not ended.
    fn interrupting(&self, thread: u32) -> Option<EventPos> {
        let streams = self.skeleton.threads[thread as usize].handlers.iter();
        streams.copied().find_map(|stream| {
            let done = self.now.done[stream as usize];
            let runs = &self.skeleton.threads[stream as usize].handled;
            let begun = runs.partition_point(|run| run.0 < done);
            let run = begun.checked_sub(1).map(|at| runs[at]);
            run.filter(|run| done <= run.1).map(|run| (stream, run.1))
        })
    }

    /// Lets the signal handlers that run on a thread end: the thread does not continue before.
    fn finish_handlers(&mut self, thread: u32) -> Result<(), Conflict> {
        while let Some(end) = self.interrupting(thread) {
            if end.1 == u32::MAX {
                return Err(Conflict::Never((thread, self.now.done[thread as usize])));
            }
            self.advance(end.0, end.1 + 1)?;
        }
        Ok(())
    }

    fn is_created(&self, thread: u32) -> bool {
        let fork = self.skeleton.threads[thread as usize].fork;
        fork.is_none_or(|it| self.now.done[it.0 as usize] > it.1)
    }

    /// The next synchronisation step of a thread before an event.
    fn next_step(&self, thread: u32, to: u32) -> Option<SyncStep> {
        let at = thread as usize;
        let steps = &self.skeleton.threads[at].steps;
        steps.get(self.now.steps_done[at]).copied().filter(|it| it.index < to)
    }

    fn move_to(&mut self, thread: u32, to: u32) {
        if self.now.done[thread as usize] >= to {
            return;
        }
        self.now.done[thread as usize] = to;
        match self.turns.last_mut() {
            Some(turn) if turn.0 == thread => turn.1 = to,
            _ => self.turns.push((thread, to)),
        }
    }

    fn has(&self, at: EventPos) -> bool {
        self.now.done[at.0 as usize] > at.1
    }

    /// What blocks a step. A wait with a time limit that is an event of the candidate is not
    /// blocked: the candidate is that its time runs out.
    fn blocker(&self, thread: u32, step: &SyncStep) -> Option<Blocker> {
        let expires = |timed: bool| timed && self.candidate.contains(&(thread, step.index));
        match step.op {
            SyncOp::Acquire { timed, .. }
            | SyncOp::SemWait { timed, .. }
            | SyncOp::Requires { timed, .. }
                if expires(timed) =>
            {
                None
            }
            SyncOp::Acquire { lock, shared, .. } => self.holder(lock, thread, shared),
            SyncOp::Wake { lock, timed, .. } if expires(timed) => self.holder(lock, thread, false),
            SyncOp::Wake { cond, by, woken, lock, .. } => self
                .missing_signal(thread, cond, by, woken)
                .or_else(|| self.holder(lock, thread, false)),
            SyncOp::Join { thread: other } => {
                let last = self.skeleton.threads[other as usize].len.checked_sub(1)?;
                (!self.has((other, last))).then_some(Blocker::Event((other, last)))
            }
            SyncOp::SemWait { semaphore, .. } => {
                let posts = &self.skeleton.posts[semaphore as usize];
                let next = || posts.next(&self.now.done, thread);
                (self.semaphore(semaphore) <= 0).then(|| Blocker::new(next()))
            }
            SyncOp::Requires { from, to, .. } => {
                let required = &self.skeleton.required[from as usize..to as usize];
                required.iter().copied().find(|it| !self.has(*it)).map(Blocker::Event)
            }
            SyncOp::Signal { .. } => self.missing_wait(thread, step.index),
            SyncOp::Release { .. } | SyncOp::Wait | SyncOp::Post { .. } => None,
        }
    }

    /// The release that a request for a lock has to wait for.
    fn holder(&self, lock: u32, thread: u32, shared: bool) -> Option<Blocker> {
        let holds = self.now.holds.get(&lock).into_iter().flatten();
        let mut others = holds.filter(|it| it.thread != thread && !(shared && it.shared));
        others.next().map(|it| Blocker::new(it.until.map(|until| (it.thread, until))))
    }

    /// The signal that the end of a wait has to wait for: the one of the recorded run if it is
    /// still to come, or else the first that another thread can send.
    fn missing_signal(
        &self,
        thread: u32,
        cond: u32,
        by: Option<EventPos>,
        woken: bool,
    ) -> Option<Blocker> {
        let since = self.now.waits.get(&thread).copied().unwrap_or(u32::MAX);
        let signals = self.now.signals.get(&cond).map_or(&[][..], Vec::as_slice);
        // They are in their order.
        if !woken || signals.last().is_some_and(|it| it.time > since) {
            return None;
        }
        let known = by.filter(|it| !self.has(*it) && it.0 != thread);
        let any = || self.skeleton.signals[cond as usize].next(&self.now.done, thread);
        Some(Blocker::new(known.or_else(any)))
    }

    /// A wait that a signal ended in the recorded run, and that has not begun: the signal is held
    /// back for it. If the waiting thread cannot come there in time, the signal is simply lost.
    fn missing_wait(&self, thread: u32, index: u32) -> Option<Blocker> {
        let waits = self.skeleton.ended.get(&(thread, index))?;
        let reachable = |it: &&EventPos| {
            let at = it.0 as usize;
            !self.has(**it) && self.limits[at] > it.1 && !self.busy[at]
        };
        waits.iter().find(reachable).copied().map(Blocker::Event)
    }

    fn perform(&mut self, thread: u32, step: &SyncStep) {
        self.now.time += 1;
        match step.op {
            // The time of the request runs out, and the lock is not acquired.
            SyncOp::Acquire { timed: true, lock, shared, .. }
                if self.holder(lock, thread, shared).is_some() => {}
            SyncOp::Acquire { lock, shared, until, .. } => {
                self.acquire(lock, thread, shared, until);
            }
            SyncOp::Release { lock } => self.release(lock, thread),
            SyncOp::Wait => {
                self.now.waits.insert(thread, self.now.time);
            }
            SyncOp::Wake { cond, lock, woken, until, .. } => {
                let since = self.now.waits.remove(&thread).unwrap_or(u32::MAX);
                if woken {
                    self.consume(cond, since);
                }
                self.acquire(lock, thread, false, until);
            }
            SyncOp::Signal { cond, all } => {
                let signal = Signal { time: self.now.time, all };
                self.now.signals.entry(cond).or_default().push(signal);
            }
            SyncOp::Post { semaphore } => self.add(semaphore, 1),
            SyncOp::SemWait { timed: true, semaphore } if self.semaphore(semaphore) <= 0 => {}
            SyncOp::SemWait { semaphore, .. } => self.add(semaphore, -1),
            SyncOp::Join { .. } | SyncOp::Requires { .. } => {}
        }
        self.now.steps_done[thread as usize] += 1;
        self.move_to(thread, step.index + 1);
    }

    /// Uses up the first signal since a wait began. A broadcast ends other waits, too, and stays.
    fn consume(&mut self, cond: u32, since: u32) {
        if let Some(signals) = self.now.signals.get_mut(&cond)
            && let at = signals.partition_point(|it| it.time <= since)
            && signals.get(at).is_some_and(|it| !it.all)
        {
            signals.remove(at);
        }
    }

    fn acquire(&mut self, lock: u32, thread: u32, shared: bool, until: Option<u32>) {
        let holds = self.now.holds.entry(lock).or_default();
        match holds.iter_mut().find(|it| it.thread == thread) {
            Some(hold) => hold.depth += 1,
            None => holds.push(Hold { thread, depth: 1, shared, until }),
        }
    }

    fn release(&mut self, lock: u32, thread: u32) {
        let Some(holds) = self.now.holds.get_mut(&lock) else { return };
        if let Some(at) = holds.iter().position(|it| it.thread == thread) {
            holds[at].depth -= 1;
            if holds[at].depth == 0 {
                holds.remove(at);
            }
        }
        if holds.is_empty() {
            self.now.holds.remove(&lock);
        }
    }

    fn semaphore(&self, semaphore: u32) -> i64 {
        let initial = || self.skeleton.semaphores[semaphore as usize];
        self.now.semaphores.get(&semaphore).copied().unwrap_or_else(initial)
    }

    fn add(&mut self, semaphore: u32, change: i64) {
        let value = self.semaphore(semaphore) + change;
        if value == self.skeleton.semaphores[semaphore as usize] {
            self.now.semaphores.remove(&semaphore);
        } else {
            self.now.semaphores.insert(semaphore, value);
        }
    }
}

/// Reports a conflict at the event that needs the other thread: a limit that this thread cannot
/// pass is the reason why `event` comes too late. Conflicts further away stay as they are.
fn locate(conflict: Conflict, event: EventPos, needed: EventPos) -> Conflict {
    match conflict {
        Conflict::TooLate(at, limit) if at.0 == needed.0 => Conflict::TooLate(event, limit),
        other @ (Conflict::TooLate(..)
        | Conflict::Never(_)
        | Conflict::Cycle(_)
        | Conflict::Cancelled) => other,
    }
}
