//! The state of the program at a point of a schedule, and which events it allows.

use norn_model::{
    AnnotationEffect, BarrierEffect, BlockEffect, ChannelEffect, ConditionEffect, Effect, Event,
    EventId, LockEffect, LockMode, MemoryAccess, Object, ObjectEffect, OnceEffect, Op, Outcome,
    SemaphoreEffect, ThreadEffect, ThreadId, WokenBy,
};

use crate::{
    Checker, Rule,
    memory::Memory,
    snapshot::{Hold, Snapshot},
};

/// The state of the program at a point of a schedule.
pub(crate) struct ProgramState<'a> {
    pub(crate) checker: &'a Checker<'a>,
    pub(crate) now: Snapshot,
    pub(crate) memory: Memory<'a>,
}

type Step = Result<(), Rule>;

fn require(holds: bool, rule: Rule) -> Step {
    if holds { Ok(()) } else { Err(rule) }
}

fn is_shared(mode: LockMode) -> bool {
    mode == LockMode::Read
}

impl<'a> ProgramState<'a> {
    /// The state at the begin of the program.
    pub(crate) fn new(checker: &'a Checker<'a>) -> Self {
        let memory = Memory::new(&checker.facts.memory);
        ProgramState { checker, now: Snapshot::default(), memory }
    }

    /// The state at a later point.
    pub(crate) fn at(checker: &'a Checker<'a>, now: Snapshot, memory: Memory<'a>) -> Self {
        ProgramState { checker, now, memory }
    }

    /// The index of a thread's next event.
    pub(crate) fn position(&self, thread: ThreadId) -> u64 {
        self.now.position(thread)
    }

    /// Whether an event has happened.
    pub(crate) fn has(&self, id: EventId) -> bool {
        self.position(id.thread) > id.index
    }

    /// Whether the event that creates a thread has happened. A thread without one was there from
    /// the start.
    pub(crate) fn is_created(&self, thread: ThreadId) -> bool {
        self.checker.facts.forks.get(&thread).is_none_or(|it| self.has(*it))
    }

    /// The current value of a semaphore.
    pub(crate) fn semaphore_value(&self, semaphore: u64) -> i64 {
        let change = self.now.semaphores.get(&semaphore).copied().unwrap_or(0);
        self.checker.facts.semaphore_value(semaphore) + change
    }

    /// How many of the differing events can influence a later event: their thread continues, or
    /// they wrote a value that depends on the difference and are not the last event of all.
    pub(crate) fn influential_differences(&self) -> usize {
        let is_last = |id: &EventId| self.position(id.thread) == id.index + 1;
        let influences = |id: &EventId, passed_on: u64| {
            !is_last(id) || passed_on != 0 && passed_on != self.now.time
        };
        self.now.differing.iter().filter(|(id, passed_on)| influences(id, *passed_on)).count()
    }

    /// Performs an event, or says which rule forbids it here.
    pub(crate) fn step(&mut self, event: &Event) -> Step {
        self.now.time += 1;
        let thread = event.id.thread;
        if event.id.index == 0 {
            require(self.is_created(thread), Rule::NotCreated)?;
        }
        self.handlers(event)?;
        match event.op.effect() {
            Effect::Access(access) => self.access(event.id, &access),
            Effect::Thread(effect) => self.thread(effect)?,
            Effect::Lock(effect) => self.lock(event.id, effect)?,
            Effect::Condition(effect) => self.condition(event.id, effect)?,
            Effect::Barrier(effect) => self.barrier(thread, effect)?,
            Effect::Semaphore(effect) => self.semaphore(event.id, effect)?,
            Effect::Once(effect) => self.once(effect)?,
            Effect::Annotation(effect) => self.annotation(event.id, effect)?,
            Effect::Channel(effect) => self.channel(event.id, effect)?,
            Effect::Block(effect) => self.block(event.id, effect)?,
            Effect::Object(effect) => self.object(event.id, effect),
            Effect::None => {}
        }
        self.uses(event);
        self.now.positions.insert(thread, event.id.index + 1);
        Ok(())
    }

    /// A use of a descriptor sees the same as recorded if the last event that closed its number is the
    /// same: otherwise it gets an error, or another file.
    fn object(&mut self, id: EventId, effect: ObjectEffect) {
        match effect {
            ObjectEffect::Use { object, .. } => {
                let last = self.now.closed.get(&object).copied();
                self.differs(id, self.checker.facts.closes.get(&id) != Some(&last));
            }
            ObjectEffect::Destroy { object, class: Object::Descriptor } => {
                self.now.closed.insert(object, id);
            }
            ObjectEffect::Init { .. } | ObjectEffect::Destroy { .. } => {}
        }
    }

    /// A call on a synchronisation object in freed memory sees something else.
    fn uses(&mut self, event: &Event) {
        let object = event.op.effect().used_object();
        self.differs(event.id, object.is_some_and(|it| self.now.heap.is_freed(it)));
    }

    /// Whether no signal handler on the thread prevents an event.
    fn handlers(&self, event: &Event) -> Step {
        let handlers = &self.checker.facts.handlers;
        let thread = event.id.thread;
        let interrupting = handlers.interrupting(thread, |it| self.position(it));
        require(interrupting.is_none(), Rule::Interrupted)?;
        let host = handlers.host(thread).filter(|_| matches!(event.op, Op::HandlerBegin { .. }));
        let Some(host) = host.and_then(|it| self.checker.trace.thread(it)) else { return Ok(()) };
        let last = host.events.last().filter(|it| it.op == Op::End);
        require(last.is_none_or(|it| !self.has(it.id)), Rule::Interrupted)
    }

    fn access(&mut self, id: EventId, access: &MemoryAccess) {
        let same = self.memory.step(id, access);
        if !same || self.now.heap.is_freed(access.addr) {
            let passed_on = if access.is_update() { self.now.time } else { 0 };
            self.now.differing.push((id, passed_on));
        }
    }

    /// Notes an event that sees something else than in the recorded run.
    fn differs(&mut self, id: EventId, differs: bool) {
        if differs {
            self.now.differing.push((id, 0));
        }
    }

    fn thread(&self, effect: ThreadEffect) -> Step {
        match effect {
            ThreadEffect::Fork(_) => Ok(()),
            ThreadEffect::Join(child) => {
                let events = self.checker.trace.thread(child).map_or(0, |it| it.events.len());
                require(self.position(child) >= events as u64, Rule::NotEnded)
            }
        }
    }

    fn lock(&mut self, id: EventId, effect: LockEffect) -> Step {
        match effect {
            LockEffect::Acquire { lock, mode, how } => {
                let shared = is_shared(mode);
                // A request with a time limit may fail instead. The thread does not get the lock
                // then, and the return value differs.
                if how == Outcome::Timed && self.is_taken(lock, id.thread, shared) {
                    self.differs(id, true);
                    return Ok(());
                }
                self.acquire(lock, id.thread, shared)
            }
            LockEffect::Failed { lock, mode, .. } => {
                self.differs(id, !self.is_taken(lock, id.thread, is_shared(mode)));
                Ok(())
            }
            LockEffect::Release { lock, by_wait } => {
                if by_wait {
                    self.now.wait_releases.insert(id.thread, self.now.time);
                }
                self.release(lock, id.thread)
            }
        }
    }

    fn is_taken(&self, lock: u64, thread: ThreadId, shared: bool) -> bool {
        let holders = self.now.holders.get(&lock).into_iter().flatten();
        holders.into_iter().any(|(it, hold)| *it != thread && !(shared && hold.shared))
    }

    fn acquire(&mut self, lock: u64, thread: ThreadId, shared: bool) -> Step {
        require(!self.is_taken(lock, thread, shared), Rule::Held)?;
        let holders = self.now.holders.entry(lock).or_default();
        let new = Hold { depth: 0, shared, reads: shared };
        let hold = holders.entry(thread).or_insert(new);
        hold.depth += 1;
        hold.reads = shared;
        Ok(())
    }

    fn release(&mut self, lock: u64, thread: ThreadId) -> Step {
        let holders = self.now.holders.entry(lock).or_default();
        let hold = holders.get_mut(&thread).ok_or(Rule::NotHeld)?;
        hold.depth -= 1;
        if hold.depth == 0 {
            holders.remove(&thread);
            if holders.is_empty() {
                self.now.holders.remove(&lock);
            }
        }
        Ok(())
    }

    fn condition(&mut self, id: EventId, effect: ConditionEffect) -> Step {
        match effect {
            ConditionEffect::Wait { timed, .. } => {
                self.now.waits.insert(id.thread, (self.now.time, timed));
                Ok(())
            }
            ConditionEffect::Wake { cond, lock, woken } => {
                let timed_out = self.wake(cond, id.thread, woken)?;
                self.differs(id, timed_out);
                self.acquire(lock, id.thread, false)
            }
            ConditionEffect::Signal { cond, all } => {
                self.now.signals.entry(cond).or_default().insert((self.now.time, all));
                Ok(())
            }
        }
    }

    /// Ends a wait by the first signal since it began. Any later signal could also end a wait that
    /// began later, so this choice leaves the most to the other threads. A broadcast ends all
    /// waits. Without a signal a wait can only time out; returns whether it does, and did not in
    /// the recorded run.
    fn wake(&mut self, cond: u64, thread: ThreadId, woken: WokenBy) -> Result<bool, Rule> {
        let (began, timed) = self.now.waits.remove(&thread).ok_or(Rule::NotWoken)?;
        self.now.wait_releases.remove(&thread);
        match woken {
            WokenBy::Nothing | WokenBy::Timeout | WokenBy::Error(_) => return Ok(false),
            WokenBy::Event(_) | WokenBy::OneOf(_) => {}
        }
        let signals = self.now.signals.entry(cond).or_default();
        let Some(first) = signals.range((began, false)..).next().copied() else {
            return if timed { Ok(true) } else { Err(Rule::NotWoken) };
        };
        if !first.1 {
            signals.remove(&first);
        }
        Ok(false)
    }

    fn barrier(&mut self, thread: ThreadId, effect: BarrierEffect) -> Step {
        match effect {
            BarrierEffect::Init { .. } => Ok(()),
            BarrierEffect::Arrive { barrier } => {
                let size = self.checker.facts.barrier_size(barrier);
                let arrivals = self.now.arrivals.entry(barrier).or_default();
                self.now.rounds.insert((barrier, thread), *arrivals / size);
                *arrivals += 1;
                Ok(())
            }
            BarrierEffect::Leave { barrier } => {
                let size = self.checker.facts.barrier_size(barrier);
                let arrivals = self.now.arrivals.get(&barrier).copied().unwrap_or(0);
                let round = self.now.rounds.remove(&(barrier, thread));
                require(round.is_some_and(|it| arrivals / size > it), Rule::Barrier)
            }
        }
    }

    fn semaphore(&mut self, id: EventId, effect: SemaphoreEffect) -> Step {
        match effect {
            SemaphoreEffect::Init { .. } => Ok(()),
            SemaphoreEffect::Post { semaphore } => {
                *self.now.semaphores.entry(semaphore).or_default() += 1;
                Ok(())
            }
            SemaphoreEffect::Wait { semaphore, timed } => {
                let positive = self.semaphore_value(semaphore) > 0;
                *self.now.semaphores.entry(semaphore).or_default() -= i64::from(positive);
                self.differs(id, !positive);
                require(positive || timed, Rule::Semaphore)
            }
            SemaphoreEffect::Failed { semaphore } => {
                self.differs(id, self.semaphore_value(semaphore) > 0);
                Ok(())
            }
        }
    }

    fn once(&mut self, effect: OnceEffect) -> Step {
        match effect {
            OnceEffect::Begin { once } => {
                let new =
                    self.now.initialising.insert(once) && !self.now.initialised.contains(&once);
                require(new, Rule::Once)
            }
            OnceEffect::End { once, done } => {
                if done {
                    self.now.initialised.insert(once);
                }
                require(self.now.initialising.remove(&once), Rule::Once)
            }
            OnceEffect::Done { once } => require(self.now.initialised.contains(&once), Rule::Once),
        }
    }

    fn annotation(&self, id: EventId, effect: AnnotationEffect) -> Step {
        match effect {
            AnnotationEffect::HappensBefore { .. } => Ok(()),
            AnnotationEffect::HappensAfter { .. } => {
                let before = self.checker.facts.announced.get(&id).into_iter().flatten();
                require(before.into_iter().all(|it| self.has(*it)), Rule::NotAnnounced)
            }
        }
    }

    fn channel(&mut self, id: EventId, effect: ChannelEffect) -> Step {
        match effect {
            ChannelEffect::Send { .. } => Ok(()),
            // A wait with a time limit may end without what it got in the recorded run.
            ChannelEffect::Receive { timed, .. } => {
                let sent = self.is_sent(id);
                self.differs(id, !sent);
                require(sent || timed, Rule::NotSent)
            }
        }
    }

    /// Whether all that a receive gets from the program has been sent.
    pub(crate) fn is_sent(&self, receive: EventId) -> bool {
        let sources = self.checker.facts.sources.get(&receive).into_iter().flatten();
        sources.into_iter().all(|it| self.has(*it))
    }

    fn block(&mut self, id: EventId, effect: BlockEffect) -> Step {
        match effect {
            BlockEffect::Allocated { addr, size } => {
                self.now.heap.allocate(addr, size);
                Ok(())
            }
            BlockEffect::Freed { addr } => {
                let allocation = self.checker.facts.allocations.get(&id);
                require(allocation.is_none_or(|it| self.has(*it)), Rule::NotAllocated)?;
                let double_free = self.now.heap.free(addr);
                self.differs(id, double_free);
                Ok(())
            }
        }
    }
}
