//! The kinds of operation with all of their names: one table for every place that prints or reads
//! operations.
//!
//! A row has the pattern that recognises the operation, its name in the output of `norn dump`, its
//! keyword in the [text notation](crate::text), the operands of the notation, and the verb that
//! reports use.

use crate::{AtomicOp, Op, RmwOp};

macro_rules! rmw {
    ($op:ident) => {
        Op::Atomic { op: AtomicOp::Rmw { op: RmwOp::$op, .. }, .. }
    };
}

macro_rules! op_kinds {
    ($($kind:ident = $op:pat => $name:literal, $keyword:literal, $operands:literal, $verb:literal;)*) => {
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

            /// The operands in the text notation. Brackets mark what can be left out, bars a choice.
            pub const fn operands(self) -> &'static str {
                match self {
                    $(OpKind::$kind => $operands,)*
                }
            }

            /// What reports say that the thread does.
            pub const fn verb(self) -> &'static str {
                match self {
                    $(OpKind::$kind => $verb,)*
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
    Begin = Op::Begin { .. } => "begin", "begin", "[STACK SIZE]", "begins";
    End = Op::End => "end", "end", "", "ends";
    Fork = Op::Fork(_) => "fork", "fork", "THREAD", "create";
    Join = Op::Join(_) => "join", "join", "THREAD", "join";
    Detach = Op::Detach(_) => "detach", "detach", "THREAD", "detach";
    Cancel = Op::Cancel(_) => "cancel", "cancel", "THREAD", "cancel";
    HandlerBegin = Op::HandlerBegin { .. } => "handler-begin", "handler", "SIGNAL", "handler of signal";
    HandlerEnd = Op::HandlerEnd => "handler-end", "return", "[FUNCTION [-> VALUE]]", "handler ends";
    Acquire = Op::Acquire { .. } => "acquire", "acq", "LOCK [mutex|spin|read|write] [tried|timed|ownerdied]", "lock";
    AcquireFailed = Op::AcquireFailed { .. } => "acquire-failed", "acqfail", "LOCK [mutex|spin|read|write] [tried|timed|ownerdied] ERROR", "lock not given";
    Release = Op::Release { .. } => "release", "rel", "LOCK [mutex|spin|read|write]", "unlock";
    WaitRelease = Op::WaitRelease { .. } => "wait-release", "waitrel", "LOCK", "wait unlocks";
    Wait = Op::Wait { .. } => "wait", "wait", "COND LOCK", "wait";
    WaitAcquire = Op::WaitAcquire { .. } => "wait-acquire", "wake", "COND LOCK [by THREAD:INDEX|any COUNT|timeout|error ERROR]", "wake";
    Signal = Op::Signal { .. } => "signal", "signal", "COND", "signal";
    Broadcast = Op::Broadcast { .. } => "broadcast", "broadcast", "COND", "broadcast";
    BarrierEnter = Op::BarrierEnter { .. } => "barrier-enter", "arrive", "BARRIER", "barrier";
    BarrierLeave = Op::BarrierLeave { .. } => "barrier-leave", "pass", "BARRIER [serial]", "behind barrier";
    SemPost = Op::SemPost { .. } => "sem-post", "post", "SEMAPHORE", "sem-post";
    SemWait = Op::SemWait { .. } => "sem-wait", "down", "SEMAPHORE", "sem-wait";
    SemFailed = Op::SemFailed { .. } => "sem-failed", "downfail", "SEMAPHORE ERROR", "sem-wait failed";
    OnceBegin = Op::OnceBegin { .. } => "once-begin", "oncebegin", "ONCE", "once begins";
    OnceEnd = Op::OnceEnd { .. } => "once-end", "onceend", "ONCE [failed]", "once ends";
    OnceDone = Op::OnceDone { .. } => "once-done", "oncedone", "ONCE", "once was done";
    Read = Op::Read { .. } => "read", "r", "OBJECT[:SIZE] [VALUE] [volatile]", "read";
    Write = Op::Write { .. } => "write", "w", "OBJECT[:SIZE] [VALUE] [volatile]", "write";
    Load = Op::Atomic { op: AtomicOp::Load(_), .. } => "atomic-load", "load", "OBJECT[:SIZE] VALUE [ORDERING]", "atomic read";
    Store = Op::Atomic { op: AtomicOp::Store(_), .. } => "atomic-store", "store", "OBJECT[:SIZE] VALUE [ORDERING]", "atomic write";
    Exchange = rmw!(Exchange) => "atomic-rmw", "exchange", "OBJECT[:SIZE] OLD NEW [ORDERING]", "atomic change";
    Add = rmw!(Add) => "atomic-rmw", "add", "OBJECT[:SIZE] OLD NEW [ORDERING]", "atomic change";
    Sub = rmw!(Sub) => "atomic-rmw", "sub", "OBJECT[:SIZE] OLD NEW [ORDERING]", "atomic change";
    And = rmw!(And) => "atomic-rmw", "and", "OBJECT[:SIZE] OLD NEW [ORDERING]", "atomic change";
    Or = rmw!(Or) => "atomic-rmw", "or", "OBJECT[:SIZE] OLD NEW [ORDERING]", "atomic change";
    Xor = rmw!(Xor) => "atomic-rmw", "xor", "OBJECT[:SIZE] OLD NEW [ORDERING]", "atomic change";
    Nand = rmw!(Nand) => "atomic-rmw", "nand", "OBJECT[:SIZE] OLD NEW [ORDERING]", "atomic change";
    Cas = Op::Atomic { op: AtomicOp::Cas { .. }, .. } => "atomic-cas", "cas", "OBJECT[:SIZE] OLD NEW [ORDERING]", "atomic exchange";
    CasFailed = Op::Atomic { op: AtomicOp::CasFailed { .. }, .. } => "atomic-cas-failed", "casfail", "OBJECT[:SIZE] SEEN EXPECTED [ORDERING]", "atomic exchange failed";
    Fence = Op::Fence(_) => "fence", "fence", "[relaxed|consume|acquire|release|acqrel|seqcst]", "fence";
    HappensBefore = Op::HappensBefore { .. } => "happens-before", "before", "OBJECT", "happens-before";
    HappensAfter = Op::HappensAfter { .. } => "happens-after", "after", "OBJECT", "happens-after";
    Alloc = Op::Alloc { .. } => "alloc", "alloc", "OBJECT SIZE", "alloc";
    Free = Op::Free { .. } => "free", "free", "OBJECT", "free";
    Map = Op::Map { .. } => "map", "map", "OBJECT SIZE", "map";
    Unmap = Op::Unmap { .. } => "unmap", "unmap", "OBJECT SIZE", "unmap";
    Init = Op::Init { .. } => "init", "init", "OBJECT mutex|spin|rwlock|cond|barrier|semaphore|key [DETAIL]", "init";
    Destroy = Op::Destroy { .. } => "destroy", "destroy", "OBJECT mutex|spin|rwlock|cond|barrier|semaphore|key", "destroy";
    Call = Op::Call { .. } => "call", "call", "FUNCTION([ARGUMENT, ...])", "call";
    Return = Op::Return { .. } => "return", "return", "[FUNCTION [-> VALUE]]", "return from";
    Mark = Op::Mark { .. } => "mark", "mark", "NAME OBJECT", "mark";
    RegionBegin = Op::RegionBegin => "region-begin", "region", "begin|end", "atomic region begins";
    RegionEnd = Op::RegionEnd => "region-end", "region", "begin|end", "atomic region ends";
    Sleep = Op::Sleep { .. } => "sleep", "sleep", "NANOSECONDS", "sleep";
    Yield = Op::Yield => "yield", "yield", "", "yield";
    ProcessFork = Op::ProcessFork { .. } => "process-fork", "procfork", "PROCESS", "fork process";
    Exec = Op::Exec => "exec", "exec", "", "exec";
    Exit = Op::Exit { .. } => "exit", "exit", "STATUS", "exit";
    Abort = Op::Abort => "abort", "abort", "", "abort";
}

impl OpKind {
    /// The first kind with a keyword.
    pub fn from_keyword(keyword: &str) -> Option<OpKind> {
        OpKind::ALL.iter().copied().find(|it| it.keyword() == keyword)
    }
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
