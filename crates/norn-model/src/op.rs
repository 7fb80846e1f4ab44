//! What operations are called, what they are done to, and what they mean.
//!
//! This file is the only one outside of the text notation that has to know every operation: other
//! code uses these views. [`OpKind`] has all names, one row for each kind: the pattern that
//! recognises the operation, its name in the output of `norn dump`, its keyword in the [text
//! notation](crate::text), and the operands of the notation. The words of reports are those of
//! `norn-report`. [`Op::effect`] is the meaning to an analysis, [`Op::operand`] the object that a report names.

use crate::{
    AnnotationEffect, AtomicOp, BarrierEffect, BlockEffect, ConditionEffect, Effect, LockEffect,
    LockMode, MemoryAccess, NameId, Object, ObjectEffect, OnceEffect, Op, RmwOp, SemaphoreEffect,
    ThreadEffect, ThreadId,
};

macro_rules! rmw {
    ($op:ident) => {
        Op::Atomic { op: AtomicOp::Rmw { op: RmwOp::$op, .. }, .. }
    };
}

macro_rules! op_kinds {
    ($($kind:ident = $op:pat => $name:literal, $keyword:literal, $operands:literal;)*) => {
        /// The kind of an operation. Unlike [`Op`] it has no operands, and a kind of its own for
        /// each atomic operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "`Op` and `AtomicOp` describe them")]
        pub enum OpKind {
            $($kind,)*
        }

        impl OpKind {
            /// All kinds.
            pub const ALL: &'static [OpKind] = &[$(OpKind::$kind),*];

            /// The name that dumps and counts use: `wait-acquire`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(OpKind::$kind => $name,)*
                }
            }

            /// The keyword of the text notation: `wake`. Two kinds may share one; then their
            /// operands tell them apart.
            pub const fn keyword(self) -> &'static str {
                match self {
                    $(OpKind::$kind => $keyword,)*
                }
            }

            /// The operands in the text notation. Brackets mark what can be left out, bars a
            /// choice.
            pub const fn operands(self) -> &'static str {
                match self {
                    $(OpKind::$kind => $operands,)*
                }
            }
        }

        impl Op {
            /// Its kind.
            pub const fn kind(&self) -> OpKind {
                match self {
                    $($op => OpKind::$kind,)*
                }
            }
        }
    };
}

op_kinds! {
    Begin = Op::Begin { .. } => "begin", "begin", "[STACK SIZE]";
    End = Op::End => "end", "end", "";
    Fork = Op::Fork(_) => "fork", "fork", "THREAD";
    Join = Op::Join(_) => "join", "join", "THREAD";
    Detach = Op::Detach(_) => "detach", "detach", "THREAD";
    Cancel = Op::Cancel(_) => "cancel", "cancel", "THREAD";
    HandlerBegin = Op::HandlerBegin { .. } => "handler-begin", "handler", "SIGNAL";
    HandlerEnd = Op::HandlerEnd => "handler-end", "return", "[FUNCTION [-> VALUE]]";
    Acquire = Op::Acquire { .. } => "acquire", "acq", "LOCK [mutex|spin|read|write] [tried|timed|ownerdied]";
    AcquireFailed = Op::AcquireFailed { .. } => "acquire-failed", "acqfail", "LOCK [mutex|spin|read|write] [tried|timed|ownerdied] ERROR";
    Release = Op::Release { .. } => "release", "rel", "LOCK [mutex|spin|read|write]";
    WaitRelease = Op::WaitRelease { .. } => "wait-release", "waitrel", "LOCK";
    Wait = Op::Wait { .. } => "wait", "wait", "COND LOCK";
    WaitAcquire = Op::WaitAcquire { .. } => "wait-acquire", "wake", "COND LOCK [by THREAD:INDEX|any COUNT|timeout|error ERROR]";
    Signal = Op::Signal { .. } => "signal", "signal", "COND";
    Broadcast = Op::Broadcast { .. } => "broadcast", "broadcast", "COND";
    BarrierEnter = Op::BarrierEnter { .. } => "barrier-enter", "arrive", "BARRIER";
    BarrierLeave = Op::BarrierLeave { .. } => "barrier-leave", "pass", "BARRIER [serial]";
    SemPost = Op::SemPost { .. } => "sem-post", "post", "SEMAPHORE";
    SemWait = Op::SemWait { .. } => "sem-wait", "down", "SEMAPHORE";
    SemFailed = Op::SemFailed { .. } => "sem-failed", "downfail", "SEMAPHORE ERROR";
    OnceBegin = Op::OnceBegin { .. } => "once-begin", "oncebegin", "ONCE";
    OnceEnd = Op::OnceEnd { .. } => "once-end", "onceend", "ONCE [failed]";
    OnceDone = Op::OnceDone { .. } => "once-done", "oncedone", "ONCE";
    Read = Op::Read { .. } => "read", "r", "OBJECT[:SIZE] [VALUE] [volatile]";
    Write = Op::Write { .. } => "write", "w", "OBJECT[:SIZE] [VALUE] [volatile]";
    Load = Op::Atomic { op: AtomicOp::Load(_), .. } => "atomic-load", "load", "OBJECT[:SIZE] VALUE [ORDERING]";
    Store = Op::Atomic { op: AtomicOp::Store(_), .. } => "atomic-store", "store", "OBJECT[:SIZE] VALUE [ORDERING]";
    Exchange = rmw!(Exchange) => "atomic-rmw", "exchange", "OBJECT[:SIZE] OLD NEW [ORDERING]";
    Add = rmw!(Add) => "atomic-rmw", "add", "OBJECT[:SIZE] OLD NEW [ORDERING]";
    Sub = rmw!(Sub) => "atomic-rmw", "sub", "OBJECT[:SIZE] OLD NEW [ORDERING]";
    And = rmw!(And) => "atomic-rmw", "and", "OBJECT[:SIZE] OLD NEW [ORDERING]";
    Or = rmw!(Or) => "atomic-rmw", "or", "OBJECT[:SIZE] OLD NEW [ORDERING]";
    Xor = rmw!(Xor) => "atomic-rmw", "xor", "OBJECT[:SIZE] OLD NEW [ORDERING]";
    Nand = rmw!(Nand) => "atomic-rmw", "nand", "OBJECT[:SIZE] OLD NEW [ORDERING]";
    Cas = Op::Atomic { op: AtomicOp::Cas { .. }, .. } => "atomic-cas", "cas", "OBJECT[:SIZE] OLD NEW [ORDERING]";
    CasFailed = Op::Atomic { op: AtomicOp::CasFailed { .. }, .. } => "atomic-cas-failed", "casfail", "OBJECT[:SIZE] SEEN EXPECTED [ORDERING]";
    Fence = Op::Fence(_) => "fence", "fence", "[relaxed|consume|acquire|release|acqrel|seqcst]";
    HappensBefore = Op::HappensBefore { .. } => "happens-before", "before", "OBJECT";
    HappensAfter = Op::HappensAfter { .. } => "happens-after", "after", "OBJECT";
    Alloc = Op::Alloc { .. } => "alloc", "alloc", "OBJECT SIZE";
    Free = Op::Free { .. } => "free", "free", "OBJECT";
    Map = Op::Map { .. } => "map", "map", "OBJECT SIZE";
    Unmap = Op::Unmap { .. } => "unmap", "unmap", "OBJECT SIZE";
    Init = Op::Init { .. } => "init", "init", "OBJECT mutex|spin|rwlock|cond|barrier|semaphore|key [DETAIL]";
    Destroy = Op::Destroy { .. } => "destroy", "destroy", "OBJECT mutex|spin|rwlock|cond|barrier|semaphore|key";
    Call = Op::Call { .. } => "call", "call", "FUNCTION([ARGUMENT, ...])";
    Return = Op::Return { .. } => "return", "return", "[FUNCTION [-> VALUE]]";
    Mark = Op::Mark { .. } => "mark", "mark", "NAME OBJECT";
    RegionBegin = Op::RegionBegin => "region-begin", "region", "begin|end";
    RegionEnd = Op::RegionEnd => "region-end", "region", "begin|end";
    Sleep = Op::Sleep { .. } => "sleep", "sleep", "NANOSECONDS";
    Yield = Op::Yield => "yield", "yield", "";
    ProcessFork = Op::ProcessFork { .. } => "process-fork", "procfork", "PROCESS";
    Exec = Op::Exec => "exec", "exec", "";
    Exit = Op::Exit { .. } => "exit", "exit", "STATUS";
    Abort = Op::Abort => "abort", "abort", "";
}

impl OpKind {
    /// The first kind with a keyword.
    pub fn from_keyword(keyword: &str) -> Option<OpKind> {
        OpKind::ALL.iter().copied().find(|it| it.keyword() == keyword)
    }
}

/// What an operation is done to, as reports name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// Nothing.
    None,
    /// A thread.
    Thread(ThreadId),
    /// A synchronisation object of a class.
    Object(u64, Object),
    /// Bytes of memory: the lowest address and the size.
    Memory(u64, u64),
    /// Memory that is allocated, of this size.
    Allocation(u64),
    /// Memory that is freed, by its address.
    Freed(u64),
    /// A function or a mark.
    Name(NameId),
    /// A signal, a status or a process.
    Number(i64),
}

impl LockMode {
    /// The class of object that a lock with this mode is.
    pub const fn object(self) -> Object {
        match self {
            LockMode::Mutex => Object::Mutex,
            LockMode::Spin => Object::Spin,
            LockMode::Read | LockMode::Write => Object::RwLock,
        }
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
            Op::Alloc { addr, size } | Op::Map { addr, size } => {
                Effect::Block(BlockEffect::Allocated { addr, size })
            }
            Op::Free { addr } | Op::Unmap { addr, .. } => {
                Effect::Block(BlockEffect::Freed { addr })
            }
            Op::Init { object, class, detail } => init(object, class, detail),
            Op::Destroy { object, class } => {
                Effect::Object(ObjectEffect::Destroy { object, class })
            }
            Op::Read { addr, size, value, .. } => {
                let (read, write) = (Some(value), None);
                Effect::Access(MemoryAccess { addr, size, read, write, atomic: false })
            }
            Op::Write { addr, size, value, .. } => {
                let (read, write) = (None, Some(value));
                Effect::Access(MemoryAccess { addr, size, read, write, atomic: false })
            }
            Op::Atomic { addr, size, op, .. } => Effect::Access(atomic(addr, size.into(), op)),
            // A detached or cancelled thread ends by an event of its own. Fences order only what
            // other accesses already order here: the memory model is sequentially consistent.
            Op::Begin { .. }
            | Op::End
            | Op::Detach(_)
            | Op::Cancel(_)
            | Op::HandlerBegin { .. }
            | Op::HandlerEnd
            | Op::Fence(_)
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

    /// What the operation is done to.
    pub fn operand(&self) -> Operand {
        match *self {
            Op::Fork(id) | Op::Join(id) | Op::Detach(id) | Op::Cancel(id) => Operand::Thread(id),
            Op::HandlerBegin { signal: number } | Op::Exit { status: number } => {
                Operand::Number(number.into())
            }
            Op::ProcessFork { process } => Operand::Number(process.into()),
            Op::Acquire { lock, mode, .. }
            | Op::AcquireFailed { lock, mode, .. }
            | Op::Release { lock, mode } => Operand::Object(lock, mode.object()),
            Op::WaitRelease { lock } => Operand::Object(lock, Object::Mutex),
            Op::Wait { cond, .. }
            | Op::WaitAcquire { cond, .. }
            | Op::Signal { cond }
            | Op::Broadcast { cond } => Operand::Object(cond, Object::Cond),
            Op::BarrierEnter { barrier } | Op::BarrierLeave { barrier, .. } => {
                Operand::Object(barrier, Object::Barrier)
            }
            Op::SemPost { semaphore }
            | Op::SemWait { semaphore, .. }
            | Op::SemFailed { semaphore, .. } => Operand::Object(semaphore, Object::Semaphore),
            Op::Init { object, class, .. } | Op::Destroy { object, class } => {
                Operand::Object(object, class)
            }
            Op::OnceBegin { once: object }
            | Op::OnceEnd { once: object, .. }
            | Op::OnceDone { once: object }
            | Op::HappensBefore { object }
            | Op::HappensAfter { object }
            | Op::Map { addr: object, .. }
            | Op::Unmap { addr: object, .. } => Operand::Memory(object, 1),
            Op::Read { addr, size, .. } | Op::Write { addr, size, .. } => {
                Operand::Memory(addr, size)
            }
            Op::Atomic { addr, size, .. } => Operand::Memory(addr, size.into()),
            Op::Alloc { size, .. } => Operand::Allocation(size),
            Op::Free { addr } => Operand::Freed(addr),
            Op::Call { function: name, .. }
            | Op::Return { function: name, .. }
            | Op::Mark { name, .. } => Operand::Name(name),
            Op::Begin { .. }
            | Op::End
            | Op::HandlerEnd
            | Op::Fence(_)
            | Op::RegionBegin
            | Op::RegionEnd
            | Op::Sleep { .. }
            | Op::Yield
            | Op::Exec
            | Op::Abort => Operand::None,
        }
    }
}

fn init(object: u64, class: Object, detail: u64) -> Effect {
    match class {
        Object::Barrier => Effect::Barrier(BarrierEffect::Init { barrier: object, size: detail }),
        Object::Semaphore => {
            Effect::Semaphore(SemaphoreEffect::Init { semaphore: object, value: detail })
        }
        Object::Mutex | Object::Spin | Object::RwLock | Object::Cond | Object::Key => {
            Effect::Object(ObjectEffect::Init { object, class })
        }
    }
}

fn atomic(addr: u64, size: u64, op: AtomicOp) -> MemoryAccess {
    let (read, write) = match op {
        AtomicOp::Load(value) | AtomicOp::CasFailed { seen: value, .. } => (Some(value), None),
        AtomicOp::Store(value) => (None, Some(value)),
        AtomicOp::Rmw { old, new, .. } | AtomicOp::Cas { old, new } => (Some(old), Some(new)),
    };
    MemoryAccess { addr, size, read: read.map(Some), write: write.map(Some), atomic: true }
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
    fn names_are_in_kebab_case() {
        let fine = |it: char| it.is_ascii_lowercase() || it == '-';
        assert!(OpKind::ALL.iter().all(|it| it.name().chars().all(fine)));
    }
}
