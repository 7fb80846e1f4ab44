//! What operations are called, what their operands are, and what they mean.
//!
//! With [`Op`] itself this file is all that has to know every operation; other code uses these views.
//! [`OpKind`] has all names, [`Op::fields`] lists the operands, and [`Op::effect`] is the meaning to
//! an analysis. The text notation, `norn dump` and the exports follow from them. The words of
//! reports are those of `norn-report`.

use crate::{
    AnnotationEffect, AtomicOp, BarrierEffect, BlockEffect, ChannelEffect, ConditionEffect, Effect,
    Field, LockEffect, LockMode, MemoryAccess, NameId, Object, ObjectEffect, OnceEffect, Op,
    Ordering, Outcome, RmwOp, SemaphoreEffect, ThreadEffect, ThreadId, WokenBy, op_table::op_kinds,
};

macro_rules! rmw {
    ($op:ident) => {
        Op::Atomic { op: AtomicOp::Rmw { op: RmwOp::$op, .. }, .. }
    };
}

// Of each kind: its name in dumps, the keyword and the operands of the text notation, the family; the
// pattern that recognises the operation, and the blank operation.
op_kinds! {
    Begin: "begin", "begin", "[STACK SIZE]", "threads",
        Op::Begin { .. } = Op::Begin { stack: 0, size: 0 };
    End: "end", "end", "", "threads", Op::End = Op::End;
    Fork: "fork", "fork", "THREAD", "threads", Op::Fork(_) = Op::Fork(ThreadId(0));
    Join: "join", "join", "THREAD", "threads", Op::Join(_) = Op::Join(ThreadId(0));
    Detach: "detach", "detach", "THREAD", "detached and cancelled threads",
        Op::Detach(_) = Op::Detach(ThreadId(0));
    Cancel: "cancel", "cancel", "THREAD", "detached and cancelled threads",
        Op::Cancel(_) = Op::Cancel(ThreadId(0));
    HandlerBegin: "handler-begin", "handler", "SIGNAL", "signal handlers",
        Op::HandlerBegin { .. } = Op::HandlerBegin { signal: 0 };
    HandlerEnd: "handler-end", "return", "[FUNCTION [-> VALUE]]", "signal handlers",
        Op::HandlerEnd = Op::HandlerEnd;
    Acquire: "acquire", "acq", "LOCK [mutex|spin|read|write] [tried|timed|ownerdied]", "locks",
        Op::Acquire { .. } = Op::Acquire { lock: 0, mode: LockMode::Mutex, how: Outcome::Waited };
    AcquireFailed: "acquire-failed", "acqfail", "LOCK [mutex|spin|read|write] [tried|timed|ownerdied] ERROR", "failed attempts to lock",
        Op::AcquireFailed { .. } = Op::AcquireFailed { lock: 0, mode: LockMode::Mutex, how: Outcome::Waited, error: 0 };
    Release: "release", "rel", "LOCK [mutex|spin|read|write]", "locks",
        Op::Release { .. } = Op::Release { lock: 0, mode: LockMode::Mutex };
    WaitRelease: "wait-release", "waitrel", "LOCK", "locks",
        Op::WaitRelease { .. } = Op::WaitRelease { lock: 0 };
    Wait: "wait", "wait", "COND LOCK", "waits for conditions",
        Op::Wait { .. } = Op::Wait { cond: 0, lock: 0, timed: false };
    WaitAcquire: "wait-acquire", "wake", "COND LOCK [by THREAD:INDEX|any COUNT|timeout|error ERROR]", "waits for conditions",
        Op::WaitAcquire { .. } = Op::WaitAcquire { cond: 0, lock: 0, woken: WokenBy::Nothing };
    Signal: "signal", "signal", "COND", "signals of conditions",
        Op::Signal { .. } = Op::Signal { cond: 0 };
    Broadcast: "broadcast", "broadcast", "COND", "signals of conditions",
        Op::Broadcast { .. } = Op::Broadcast { cond: 0 };
    BarrierEnter: "barrier-enter", "arrive", "BARRIER", "barriers",
        Op::BarrierEnter { .. } = Op::BarrierEnter { barrier: 0 };
    BarrierLeave: "barrier-leave", "pass", "BARRIER [serial]", "barriers",
        Op::BarrierLeave { .. } = Op::BarrierLeave { barrier: 0, serial: false };
    SemPost: "sem-post", "post", "SEMAPHORE", "semaphores",
        Op::SemPost { .. } = Op::SemPost { semaphore: 0 };
    SemWait: "sem-wait", "down", "SEMAPHORE", "semaphores",
        Op::SemWait { .. } = Op::SemWait { semaphore: 0, timed: false };
    SemFailed: "sem-failed", "downfail", "SEMAPHORE ERROR", "semaphores",
        Op::SemFailed { .. } = Op::SemFailed { semaphore: 0, error: 0 };
    OnceBegin: "once-begin", "oncebegin", "ONCE", "once-only initialisations",
        Op::OnceBegin { .. } = Op::OnceBegin { once: 0 };
    OnceEnd: "once-end", "onceend", "ONCE [failed]", "once-only initialisations",
        Op::OnceEnd { .. } = Op::OnceEnd { once: 0, done: true };
    OnceDone: "once-done", "oncedone", "ONCE", "once-only initialisations",
        Op::OnceDone { .. } = Op::OnceDone { once: 0 };
    Read: "read", "r", "OBJECT[:SIZE] [VALUE] [volatile]", "accesses",
        Op::Read { .. } = Op::Read { addr: 0, size: 0, value: None, volatile: false };
    Write: "write", "w", "OBJECT[:SIZE] [VALUE] [volatile]", "accesses",
        Op::Write { .. } = Op::Write { addr: 0, size: 0, value: None, volatile: false };
    Load: "atomic-load", "load", "OBJECT[:SIZE] VALUE [ORDERING]", "atomic operations",
        Op::Atomic { op: AtomicOp::Load(_), .. } = atomic(AtomicOp::Load(0));
    Store: "atomic-store", "store", "OBJECT[:SIZE] VALUE [ORDERING]", "atomic operations",
        Op::Atomic { op: AtomicOp::Store(_), .. } = atomic(AtomicOp::Store(0));
    Exchange: "atomic-rmw", "exchange", "OBJECT[:SIZE] OLD NEW [ORDERING]", "atomic operations",
        rmw!(Exchange) = atomic_rmw(RmwOp::Exchange);
    Add: "atomic-rmw", "add", "OBJECT[:SIZE] OLD NEW [ORDERING]", "atomic operations",
        rmw!(Add) = atomic_rmw(RmwOp::Add);
    Sub: "atomic-rmw", "sub", "OBJECT[:SIZE] OLD NEW [ORDERING]", "atomic operations",
        rmw!(Sub) = atomic_rmw(RmwOp::Sub);
    And: "atomic-rmw", "and", "OBJECT[:SIZE] OLD NEW [ORDERING]", "atomic operations",
        rmw!(And) = atomic_rmw(RmwOp::And);
    Or: "atomic-rmw", "or", "OBJECT[:SIZE] OLD NEW [ORDERING]", "atomic operations",
        rmw!(Or) = atomic_rmw(RmwOp::Or);
    Xor: "atomic-rmw", "xor", "OBJECT[:SIZE] OLD NEW [ORDERING]", "atomic operations",
        rmw!(Xor) = atomic_rmw(RmwOp::Xor);
    Nand: "atomic-rmw", "nand", "OBJECT[:SIZE] OLD NEW [ORDERING]", "atomic operations",
        rmw!(Nand) = atomic_rmw(RmwOp::Nand);
    Cas: "atomic-cas", "cas", "OBJECT[:SIZE] OLD NEW [ORDERING]", "atomic operations",
        Op::Atomic { op: AtomicOp::Cas { .. }, .. } = atomic(AtomicOp::Cas { old: 0, new: 0 });
    CasFailed: "atomic-cas-failed", "casfail", "OBJECT[:SIZE] SEEN EXPECTED [ORDERING]", "atomic operations",
        Op::Atomic { op: AtomicOp::CasFailed { .. }, .. } = atomic(AtomicOp::CasFailed { seen: 0, expected: 0 });
    Fence: "fence", "fence", "[relaxed|consume|acquire|release|acqrel|seqcst]", "fences",
        Op::Fence(_) = Op::Fence(Ordering::SeqCst);
    HappensBefore: "happens-before", "before", "OBJECT", "annotations",
        Op::HappensBefore { .. } = Op::HappensBefore { object: 0 };
    HappensAfter: "happens-after", "after", "OBJECT", "annotations",
        Op::HappensAfter { .. } = Op::HappensAfter { object: 0 };
    Send: "send", "send", "CHANNEL FROM TO", "transfers through the kernel",
        Op::Send { .. } = Op::Send { channel: 0, from: 0, to: 0 };
    Receive: "receive", "receive", "CHANNEL FROM TO [timed]", "transfers through the kernel",
        Op::Receive { .. } = Op::Receive { channel: 0, from: 0, to: 0, timed: false };
    Ready: "ready", "ready", "CHANNEL FROM TO", "transfers through the kernel",
        Op::Ready { .. } = Op::Ready { channel: 0, from: 0, to: 0 };
    NotReady: "not-ready", "notready", "ERROR", "transfers through the kernel",
        Op::NotReady { .. } = Op::NotReady { error: 0 };
    Alloc: "alloc", "alloc", "OBJECT SIZE", "allocations",
        Op::Alloc { .. } = Op::Alloc { addr: 0, size: 0 };
    Free: "free", "free", "OBJECT", "allocations", Op::Free { .. } = Op::Free { addr: 0 };
    Map: "map", "map", "OBJECT SIZE", "allocations", Op::Map { .. } = Op::Map { addr: 0, size: 0 };
    Unmap: "unmap", "unmap", "OBJECT SIZE", "allocations",
        Op::Unmap { .. } = Op::Unmap { addr: 0, size: 0 };
    Init: "init", "init", "OBJECT mutex|spin|rwlock|cond|barrier|semaphore|key|descriptor [DETAIL]", "lives of objects",
        Op::Init { .. } = Op::Init { object: 0, class: Object::Mutex, detail: 0 };
    Destroy: "destroy", "destroy", "OBJECT mutex|spin|rwlock|cond|barrier|semaphore|key|descriptor", "lives of objects",
        Op::Destroy { .. } = Op::Destroy { object: 0, class: Object::Mutex };
    Use: "use", "use", "OBJECT mutex|spin|rwlock|cond|barrier|semaphore|key|descriptor", "lives of objects",
        Op::Use { .. } = Op::Use { object: 0, class: Object::Descriptor };
    Call: "call", "call", "FUNCTION([ARGUMENT, ...])", "calls of functions",
        Op::Call { .. } = Op::Call { function: NameId(0), arguments: [0; 6] };
    Return: "return", "return", "[FUNCTION [-> VALUE]]", "calls of functions",
        Op::Return { .. } = Op::Return { function: NameId(0), value: None };
    Mark: "mark", "mark", "NAME OBJECT", "marks",
        Op::Mark { .. } = Op::Mark { name: NameId(0), object: 0 };
    RegionBegin: "region-begin", "region", "begin|end", "marks", Op::RegionBegin = Op::RegionBegin;
    RegionEnd: "region-end", "region", "begin|end", "marks", Op::RegionEnd = Op::RegionEnd;
    Sleep: "sleep", "sleep", "NANOSECONDS", "sleeps and yields",
        Op::Sleep { .. } = Op::Sleep { nanoseconds: 0 };
    Yield: "yield", "yield", "", "sleeps and yields", Op::Yield = Op::Yield;
    ProcessFork: "process-fork", "procfork", "PROCESS", "events of the process",
        Op::ProcessFork { .. } = Op::ProcessFork { process: 0 };
    Exec: "exec", "exec", "", "events of the process", Op::Exec = Op::Exec;
    Exit: "exit", "exit", "STATUS", "events of the process",
        Op::Exit { .. } = Op::Exit { status: 0 };
    Abort: "abort", "abort", "", "events of the process", Op::Abort = Op::Abort;
}

impl OpKind {
    /// The first kind with a keyword.
    pub fn from_keyword(keyword: &str) -> Option<OpKind> {
        OpKind::ALL.iter().copied().find(|it| it.keyword() == keyword)
    }
}

impl Op {
    /// What the operation means to an analysis.
    #[expect(clippy::too_many_lines, reason = "an arm for each operation")]
    #[inline]
    pub fn effect(&self) -> Effect {
        match *self {
            Op::Fork(child) => Effect::Thread(ThreadEffect::Fork(child)),
            Op::Join(child) => Effect::Thread(ThreadEffect::Join(child)),
            Op::Acquire { lock, mode, how } => {
                Effect::Lock(LockEffect::Acquire { lock, mode, how })
            }
            Op::AcquireFailed { lock, mode, how, .. } => {
                Effect::Lock(LockEffect::Failed { lock, mode, how })
            }
            Op::Release { lock, .. } => Effect::Lock(LockEffect::Release { lock, by_wait: false }),
            Op::WaitRelease { lock } => Effect::Lock(LockEffect::Release { lock, by_wait: true }),
            Op::Wait { cond, lock, timed } => {
                Effect::Condition(ConditionEffect::Wait { cond, lock, timed })
            }
            Op::WaitAcquire { cond, lock, woken } => {
                Effect::Condition(ConditionEffect::Wake { cond, lock, woken })
            }
            Op::Signal { cond } => Effect::Condition(ConditionEffect::Signal { cond, all: false }),
            Op::Broadcast { cond } => {
                Effect::Condition(ConditionEffect::Signal { cond, all: true })
            }
            Op::BarrierEnter { barrier } => Effect::Barrier(BarrierEffect::Arrive { barrier }),
            Op::BarrierLeave { barrier, .. } => Effect::Barrier(BarrierEffect::Leave { barrier }),
            Op::SemPost { semaphore } => Effect::Semaphore(SemaphoreEffect::Post { semaphore }),
            Op::SemWait { semaphore, timed } => {
                Effect::Semaphore(SemaphoreEffect::Wait { semaphore, timed })
            }
            Op::SemFailed { semaphore, .. } => {
                Effect::Semaphore(SemaphoreEffect::Failed { semaphore })
            }
            Op::OnceBegin { once } => Effect::Once(OnceEffect::Begin { once }),
            Op::OnceEnd { once, done } => Effect::Once(OnceEffect::End { once, done }),
            Op::OnceDone { once } => Effect::Once(OnceEffect::Done { once }),
            Op::HappensBefore { object } => {
                Effect::Annotation(AnnotationEffect::HappensBefore { object })
            }
            Op::HappensAfter { object } => {
                Effect::Annotation(AnnotationEffect::HappensAfter { object })
            }
            Op::Send { channel, from, to } => {
                Effect::Channel(ChannelEffect::Send { channel, from, to })
            }
            Op::Receive { channel, from, to, timed } => {
                Effect::Channel(ChannelEffect::Receive { channel, from, to, timed })
            }
            Op::Ready { channel, from, to } => {
                Effect::Channel(ChannelEffect::Receive { channel, from, to, timed: false })
            }
            Op::Alloc { addr, size } | Op::Map { addr, size } => {
                Effect::Block(BlockEffect::Allocated { addr, size })
            }
            Op::Free { addr } | Op::Unmap { addr, .. } => {
                Effect::Block(BlockEffect::Freed { addr })
            }
            Op::Init { object, class, detail } => Effect::init(object, class, detail),
            Op::Destroy { object, class } => {
                Effect::Object(ObjectEffect::Destroy { object, class })
            }
            Op::Use { object, class } => Effect::Object(ObjectEffect::Use { object, class }),
            Op::Read { addr, size, value, .. } => {
                let (read, write) = (Some(value), None);
                Effect::Access(MemoryAccess { addr, size, read, write, atomic: false })
            }
            Op::Write { addr, size, value, .. } => {
                let (read, write) = (None, Some(value));
                Effect::Access(MemoryAccess { addr, size, read, write, atomic: false })
            }
            Op::Atomic { addr, size, op, .. } => {
                Effect::Access(MemoryAccess::atomic(addr, size.into(), op))
            }
            // A detached or cancelled thread ends by an event of its own. Fences order only what
            // other accesses already order here: the memory model is sequentially consistent.
            Op::Begin { .. }
            | Op::End
            | Op::Detach(_)
            | Op::Cancel(_)
            | Op::HandlerBegin { .. }
            | Op::HandlerEnd
            | Op::Fence(_)
            | Op::NotReady { .. }
            | Op::Call { .. }
            | Op::Return { .. }
            | Op::Mark { .. }
            | Op::RegionBegin
            | Op::RegionEnd
            | Op::Sleep { .. }
            | Op::Yield
            | Op::ProcessFork { .. }
            | Op::Exec
            | Op::Exit { .. }
            | Op::Abort => Effect::None,
        }
    }

    /// The access to memory, if it is one.
    #[inline]
    pub fn access(&self) -> Option<MemoryAccess> {
        if let Effect::Access(access) = self.effect() { Some(access) } else { None }
    }

    /// The operands, in the order in which the text notation writes them.
    #[expect(clippy::too_many_lines, reason = "an arm for each operation")]
    pub fn fields(&mut self) -> Vec<Field<'_>> {
        match self {
            Op::Begin { stack, size } => vec![Field::Stack(stack, size)],
            Op::Fork(thread) | Op::Join(thread) | Op::Detach(thread) | Op::Cancel(thread) => {
                vec![Field::Thread(thread)]
            }
            Op::HandlerBegin { signal } => vec![Field::I32("signal", "a signal", signal)],
            Op::Acquire { lock, mode, how } => {
                vec![Field::Lock(lock, mode), Field::Request(how)]
            }
            Op::AcquireFailed { lock, mode, how, error } => {
                let error = Field::I32("error", "an error", error);
                vec![Field::Lock(lock, mode), Field::Request(how), error]
            }
            Op::Release { lock, mode } => vec![Field::Lock(lock, mode)],
            Op::WaitRelease { lock } => vec![Field::Object(lock, Object::Mutex)],
            Op::Wait { cond, lock, timed } => {
                let cond = Field::Object(cond, Object::Cond);
                vec![cond, Field::WaitMutex(lock), Field::Flag("timed", timed)]
            }
            Op::WaitAcquire { cond, lock, woken } => {
                let cond = Field::Object(cond, Object::Cond);
                vec![cond, Field::WaitMutex(lock), Field::WokenBy(woken)]
            }
            Op::Signal { cond } | Op::Broadcast { cond } => vec![Field::Object(cond, Object::Cond)],
            Op::BarrierEnter { barrier } => vec![Field::Object(barrier, Object::Barrier)],
            Op::BarrierLeave { barrier, serial } => {
                let serial = Field::Answer("serial", ("serial", true), serial);
                vec![Field::Object(barrier, Object::Barrier), serial]
            }
            Op::SemPost { semaphore } => vec![Field::Object(semaphore, Object::Semaphore)],
            Op::SemWait { semaphore, timed } => {
                vec![Field::Object(semaphore, Object::Semaphore), Field::Flag("timed", timed)]
            }
            Op::SemFailed { semaphore, error } => {
                let error = Field::I32("error", "an error", error);
                vec![Field::Object(semaphore, Object::Semaphore), error]
            }
            Op::OnceEnd { once, done } => {
                vec![Field::Address(once), Field::Answer("done", ("failed", false), done)]
            }
            Op::OnceBegin { once: object }
            | Op::OnceDone { once: object }
            | Op::HappensBefore { object }
            | Op::HappensAfter { object } => vec![Field::Address(object)],
            Op::Read { addr, size, value, volatile }
            | Op::Write { addr, size, value, volatile } => {
                let volatile = Field::Flag("volatile", volatile);
                vec![Field::Memory(addr, size), Field::Value(value), volatile]
            }
            Op::Atomic { addr, size, ordering, op } => {
                vec![Field::Atomic(addr, size, op, ordering)]
            }
            Op::Fence(ordering) => vec![Field::Ordering(ordering)],
            Op::Send { channel, from, to } | Op::Ready { channel, from, to } => {
                let position = |name, position| Field::U64(name, "a position", position);
                vec![Field::Channel(channel), position("from", from), position("to", to)]
            }
            Op::Receive { channel, from, to, timed } => {
                let position = |name, position| Field::U64(name, "a position", position);
                let [from, to] = [position("from", from), position("to", to)];
                vec![Field::Channel(channel), from, to, Field::Flag("timed", timed)]
            }
            Op::NotReady { error } => vec![Field::I32("error", "an error", error)],
            Op::Alloc { addr, size } => vec![Field::Allocated(addr, size)],
            Op::Free { addr } => vec![Field::Freed(addr)],
            Op::Map { addr, size } | Op::Unmap { addr, size } => vec![Field::Pages(addr, size)],
            Op::Init { object, class, detail } => {
                vec![Field::AnyObject(object, class), Field::Detail(detail)]
            }
            Op::Destroy { object, class } | Op::Use { object, class } => {
                vec![Field::AnyObject(object, class)]
            }
            Op::Call { function, arguments } => vec![Field::Call(function, arguments)],
            Op::Return { function, value } => vec![Field::Return(function, value)],
            Op::Mark { name, object } => vec![Field::Mark(name, object)],
            Op::RegionBegin => vec![Field::Word("begin")],
            Op::RegionEnd => vec![Field::Word("end")],
            Op::Sleep { nanoseconds } => vec![Field::Duration(nanoseconds)],
            Op::ProcessFork { process } => vec![Field::U32("process", "a process", process)],
            Op::Exit { status } => vec![Field::I32("status", "a status", status)],
            Op::End | Op::HandlerEnd | Op::Yield | Op::Exec | Op::Abort => Vec::new(),
        }
    }
}

const fn atomic(op: AtomicOp) -> Op {
    Op::Atomic { addr: 0, size: 0, ordering: Ordering::SeqCst, op }
}

const fn atomic_rmw(op: RmwOp) -> Op {
    atomic(AtomicOp::Rmw { op, old: 0, new: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_operands_tell_apart_shares_a_keyword() {
        let first = |it: &OpKind| OpKind::from_keyword(it.keyword()) == Some(*it);
        let shared: Vec<_> = OpKind::ALL.iter().filter(|it| !first(it)).collect();
        assert_eq!(shared, [&OpKind::Return, &OpKind::RegionEnd]);
    }

    #[test]
    fn blank_operations_are_of_their_kind() {
        assert!(OpKind::ALL.iter().all(|it| it.blank().kind() == *it));
    }

    #[test]
    fn names_are_in_kebab_case() {
        let fine = |it: char| it.is_ascii_lowercase() || it == '-';
        assert!(OpKind::ALL.iter().all(|it| it.name().chars().all(fine)));
    }
}
