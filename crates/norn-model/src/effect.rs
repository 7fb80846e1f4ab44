//! The meaning of an operation for an analysis: one closed vocabulary of effects.
//!
//! [`Op`](crate::Op) has a variant for each kind of event that a recording can contain, and many of them mean
//! the same to an analysis: an `mmap` and a `malloc` both make memory valid, a mutex that is
//! locked again after a condition wait is a lock acquisition. [`Op::effect`](crate::Op::effect) is the only place that
//! decides this. Engines, checker, oracle and analyses match on [`Effect`] without a wildcard arm,
//! so that a new kind of event is either one of the known effects or a compile error in each place
//! that has to decide about it.

use crate::{AtomicOp, LockMode, Object, Outcome, ThreadId, Value, WokenBy};

/// Distinguishes the numbers of channels from addresses, among the objects of effects.
const CHANNEL: u64 = 1 << 63;

/// The effect of an operation that other threads, or the checks of an analysis, can observe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: no other thread can observe whether or when it happened.
    None,
    /// Memory is read, written, or both.
    Access(MemoryAccess),
    /// A thread is created or joined.
    Thread(ThreadEffect),
    /// A lock is requested or released.
    Lock(LockEffect),
    /// A condition variable is waited for or signalled. The end of a wait acquires its mutex, too:
    /// see [`Effect::lock`].
    Condition(ConditionEffect),
    /// A barrier is initialised, reached or left.
    Barrier(BarrierEffect),
    /// A semaphore is initialised, posted or decremented.
    Semaphore(SemaphoreEffect),
    /// A once-only initialisation.
    Once(OnceEffect),
    /// An order that the program declares by annotation.
    Annotation(AnnotationEffect),
    /// Bytes, messages or counts go through an object of the kernel.
    Channel(ChannelEffect),
    /// A block of memory becomes valid or invalid.
    Block(BlockEffect),
    /// A synchronisation object without initial state of its own is initialised, or any is
    /// destroyed.
    Object(ObjectEffect),
}

/// One access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryAccess {
    /// Lowest address.
    pub addr: u64,
    /// Number of bytes.
    pub size: u64,
    /// The value that is read, if it reads.
    pub read: Option<Value>,
    /// The value that is written, if it writes.
    pub write: Option<Value>,
    /// Whether it is an atomic operation.
    pub atomic: bool,
}

impl MemoryAccess {
    #[inline]
    pub(crate) fn atomic(addr: u64, size: u64, op: AtomicOp) -> MemoryAccess {
        let (read, write) = match op {
            AtomicOp::Load(value) | AtomicOp::CasFailed { seen: value, .. } => (Some(value), None),
            AtomicOp::Store(value) => (None, Some(value)),
            AtomicOp::Rmw { old, new, .. } | AtomicOp::Cas { old, new } => (Some(old), Some(new)),
        };
        MemoryAccess { addr, size, read: read.map(Some), write: write.map(Some), atomic: true }
    }

    /// Whether it is a read-modify-write: the written value depends on the read one.
    pub fn is_update(&self) -> bool {
        self.read.is_some() && self.write.is_some()
    }

    /// The address after its last byte.
    pub fn end(&self) -> u64 {
        self.addr.saturating_add(self.size)
    }
}

/// An effect on a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadEffect {
    /// It is created.
    Fork(ThreadId),
    /// It has ended and is joined.
    Join(ThreadId),
}

/// An effect on a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockEffect {
    /// It is acquired.
    Acquire {
        /// Which lock.
        lock: u64,
        /// In which mode.
        mode: LockMode,
        /// By which kind of request.
        how: Outcome,
    },
    /// It was requested and not acquired.
    Failed {
        /// Which lock.
        lock: u64,
        /// In which mode.
        mode: LockMode,
        /// By which kind of request.
        how: Outcome,
    },
    /// It is released.
    Release {
        /// Which lock.
        lock: u64,
        /// Whether a condition wait releases it.
        by_wait: bool,
    },
}

/// An effect on a condition variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionEffect {
    /// A thread begins to wait; its mutex has been released before.
    Wait {
        /// Which condition variable.
        cond: u64,
        /// The mutex of the wait.
        lock: u64,
        /// Whether the wait has a time limit.
        timed: bool,
    },
    /// A wait is over, and its mutex acquired.
    Wake {
        /// Which condition variable.
        cond: u64,
        /// The mutex of the wait.
        lock: u64,
        /// What ended the wait in the recorded run.
        woken: WokenBy,
    },
    /// One or all waiting threads are woken.
    Signal {
        /// Which condition variable.
        cond: u64,
        /// Whether it is a broadcast.
        all: bool,
    },
}

/// An effect on a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierEffect {
    /// It is initialised.
    Init {
        /// Which barrier.
        barrier: u64,
        /// The number of threads that it waits for.
        size: u64,
    },
    /// A thread arrives.
    Arrive {
        /// Which barrier.
        barrier: u64,
    },
    /// A thread continues after the barrier.
    Leave {
        /// Which barrier.
        barrier: u64,
    },
}

/// An effect on a semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SemaphoreEffect {
    /// It is initialised.
    Init {
        /// Which semaphore.
        semaphore: u64,
        /// Its initial value.
        value: u64,
    },
    /// It is incremented.
    Post {
        /// Which semaphore.
        semaphore: u64,
    },
    /// It was decremented.
    Wait {
        /// Which semaphore.
        semaphore: u64,
        /// Whether the wait has a time limit.
        timed: bool,
    },
    /// It was requested and not decremented.
    Failed {
        /// Which semaphore.
        semaphore: u64,
    },
}

/// An effect on a once-only initialisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnceEffect {
    /// A thread begins to initialise.
    Begin {
        /// The control object.
        once: u64,
    },
    /// The initialisation by this thread ended.
    End {
        /// The control object.
        once: u64,
        /// Whether it succeeded; if not, another thread begins again.
        done: bool,
    },
    /// A thread found the initialisation completed.
    Done {
        /// The control object.
        once: u64,
    },
}

/// An ordering that the program declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnnotationEffect {
    /// Everything before is visible to a thread that passes `HappensAfter` with the same object.
    HappensBefore {
        /// The address that both sides name.
        object: u64,
    },
    /// Everything before a `HappensBefore` with the same object is visible to this thread.
    HappensAfter {
        /// The address that both sides name.
        object: u64,
    },
}

/// What goes through a channel: a pipe, a socket, an event counter, the queue of connections of a
/// socket, the wake-ups of a futex. Whatever is sent has a position in the channel, counted from 0;
/// ranges are half open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelEffect {
    /// A range is sent.
    Send {
        /// Which channel.
        channel: u64,
        /// Its first position.
        from: u64,
        /// The position after its last.
        to: u64,
    },
    /// A range is received, or found ready to be received: the thread continues only after all
    /// sends of the range. What no event sent came from outside of the program.
    Receive {
        /// Which channel.
        channel: u64,
        /// Its first position.
        from: u64,
        /// The position after its last.
        to: u64,
        /// Whether the wait for it has a time limit, and may end without it.
        timed: bool,
    },
}

/// An effect on a block of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockEffect {
    /// It is allocated or mapped.
    Allocated {
        /// Lowest address.
        addr: u64,
        /// Number of bytes.
        size: u64,
    },
    /// It is freed or unmapped.
    Freed {
        /// Lowest address.
        addr: u64,
    },
}

/// An effect on a synchronisation object as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectEffect {
    /// It is initialised, unlocked and without waiting threads.
    Init {
        /// Its address.
        object: u64,
        /// Its class.
        class: Object,
    },
    /// It is destroyed, or closed.
    Destroy {
        /// Its address.
        object: u64,
        /// Its class.
        class: Object,
    },
    /// It is used.
    Use {
        /// Its address.
        object: u64,
        /// Its class.
        class: Object,
    },
}

impl Effect {
    /// Barriers and semaphores begin with a number.
    #[inline]
    pub(crate) fn init(object: u64, class: Object, detail: u64) -> Effect {
        match class {
            Object::Barrier => {
                Effect::Barrier(BarrierEffect::Init { barrier: object, size: detail })
            }
            Object::Semaphore => {
                Effect::Semaphore(SemaphoreEffect::Init { semaphore: object, value: detail })
            }
            Object::Mutex
            | Object::Spin
            | Object::RwLock
            | Object::Cond
            | Object::Key
            | Object::Descriptor => Effect::Object(ObjectEffect::Init { object, class }),
        }
    }

    /// The effect on a lock, including the mutex that a condition wait reacquires.
    #[inline]
    pub fn lock(&self) -> Option<LockEffect> {
        match *self {
            Effect::Lock(effect) => Some(effect),
            Effect::Condition(ConditionEffect::Wake { lock, .. }) => {
                let (mode, how) = (LockMode::Mutex, Outcome::Waited);
                Some(LockEffect::Acquire { lock, mode, how })
            }
            Effect::Condition(ConditionEffect::Wait { .. } | ConditionEffect::Signal { .. })
            | Effect::None
            | Effect::Access(_)
            | Effect::Thread(_)
            | Effect::Barrier(_)
            | Effect::Semaphore(_)
            | Effect::Once(_)
            | Effect::Annotation(_)
            | Effect::Channel(_)
            | Effect::Block(_)
            | Effect::Object(_) => None,
        }
    }

    /// The address of the synchronisation object whose memory the operation needs. A condition
    /// variable may be gone when a thread wakes up from it, and a barrier when a thread leaves it.
    pub fn used_object(&self) -> Option<u64> {
        match *self {
            Effect::Lock(
                LockEffect::Acquire { lock: object, .. }
                | LockEffect::Failed { lock: object, .. }
                | LockEffect::Release { lock: object, .. },
            )
            | Effect::Condition(
                ConditionEffect::Wait { cond: object, .. }
                | ConditionEffect::Wake { lock: object, .. }
                | ConditionEffect::Signal { cond: object, .. },
            )
            | Effect::Barrier(
                BarrierEffect::Init { barrier: object, .. }
                | BarrierEffect::Arrive { barrier: object },
            )
            | Effect::Semaphore(
                SemaphoreEffect::Init { semaphore: object, .. }
                | SemaphoreEffect::Post { semaphore: object }
                | SemaphoreEffect::Wait { semaphore: object, .. }
                | SemaphoreEffect::Failed { semaphore: object },
            ) => Some(object),
            Effect::Object(
                ObjectEffect::Init { object, class }
                | ObjectEffect::Destroy { object, class }
                | ObjectEffect::Use { object, class },
            ) => (!matches!(class, Object::Key | Object::Descriptor)).then_some(object),
            Effect::None
            | Effect::Access(_)
            | Effect::Thread(_)
            | Effect::Barrier(BarrierEffect::Leave { .. })
            | Effect::Once(_)
            | Effect::Annotation(_)
            | Effect::Channel(_)
            | Effect::Block(_) => None,
        }
    }

    /// The synchronisation objects and memory blocks of the effect. Two effects on the same object
    /// do not commute.
    pub fn objects(&self) -> impl Iterator<Item = u64> + use<> {
        let (first, second) = match *self {
            Effect::None | Effect::Access(_) | Effect::Thread(_) => (None, None),
            Effect::Lock(
                LockEffect::Acquire { lock, .. }
                | LockEffect::Failed { lock, .. }
                | LockEffect::Release { lock, .. },
            ) => (Some(lock), None),
            Effect::Condition(
                ConditionEffect::Wait { cond, lock, .. } | ConditionEffect::Wake { cond, lock, .. },
            ) => (Some(cond), Some(lock)),
            Effect::Condition(ConditionEffect::Signal { cond, .. }) => (Some(cond), None),
            Effect::Barrier(
                BarrierEffect::Init { barrier, .. }
                | BarrierEffect::Arrive { barrier }
                | BarrierEffect::Leave { barrier },
            ) => (Some(barrier), None),
            Effect::Semaphore(
                SemaphoreEffect::Init { semaphore, .. }
                | SemaphoreEffect::Post { semaphore }
                | SemaphoreEffect::Wait { semaphore, .. }
                | SemaphoreEffect::Failed { semaphore },
            ) => (Some(semaphore), None),
            Effect::Once(
                OnceEffect::Begin { once }
                | OnceEffect::End { once, .. }
                | OnceEffect::Done { once },
            ) => (Some(once), None),
            Effect::Annotation(
                AnnotationEffect::HappensBefore { object }
                | AnnotationEffect::HappensAfter { object },
            )
            | Effect::Object(
                ObjectEffect::Init { object, .. }
                | ObjectEffect::Destroy { object, .. }
                | ObjectEffect::Use { object, .. },
            ) => (Some(object), None),
            Effect::Channel(
                ChannelEffect::Send { channel, .. } | ChannelEffect::Receive { channel, .. },
            ) => (Some(channel | CHANNEL), None),
            Effect::Block(BlockEffect::Allocated { addr, .. } | BlockEffect::Freed { addr }) => {
                (Some(addr), None)
            }
        };
        first.into_iter().chain(second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    fn effect(line: &str) -> Effect {
        let trace = text::parse(&format!("T0 {line}")).unwrap_or_default();
        trace.merged().next().map_or(Effect::None, |it| it.op.effect())
    }

    #[test]
    fn the_end_of_a_wait_acquires_its_mutex() {
        let locked = |line: &str| effect(line).lock();
        assert!(matches!(locked("wake c m"), Some(LockEffect::Acquire { .. })));
        assert!(matches!(locked("waitrel m"), Some(LockEffect::Release { by_wait: true, .. })));
        assert_eq!(locked("signal c"), None);
        assert_eq!(effect("wake c m").objects().count(), 2);
    }

    #[test]
    fn a_failed_compare_exchange_only_reads() {
        let access = |line: &str| {
            let Effect::Access(it) = effect(line) else { panic!("{line} is no access") };
            (it.read.is_some(), it.write.is_some(), it.atomic)
        };
        assert_eq!(access("casfail x 1 2"), (true, false, true));
        assert_eq!(access("cas x 1 2"), (true, true, true));
        assert_eq!(access("r x"), (true, false, false));
    }

    #[test]
    fn initial_values_depend_on_the_class() {
        let init = effect("init s semaphore 2");
        assert!(matches!(init, Effect::Semaphore(SemaphoreEffect::Init { value: 2, .. })));
        assert!(matches!(effect("init m mutex"), Effect::Object(ObjectEffect::Init { .. })));
    }
}
