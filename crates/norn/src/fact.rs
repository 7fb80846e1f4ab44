//! What an event says, as words and numbers that both forms of `norn dump` print.

use crate::size;
use norn_model::{
    AtomicOp, LockMode, Names, Object, Op, Ordering, Outcome, RmwOp, ThreadId, WokenBy,
};
use serde_json::{Value as Json, json};

/// What an event says besides where it happened.
pub(crate) struct Fact {
    /// What was done.
    pub(crate) op: &'static str,
    /// To which memory or object, and how many bytes of it.
    pub(crate) target: Option<(u64, u64)>,
    /// The value that was read or written.
    pub(crate) value: Known,
    /// Everything else.
    pub(crate) details: Vec<(&'static str, Json)>,
}

/// A value, as far as there is one.
#[derive(Clone, Copy)]
pub(crate) enum Known {
    /// The operation has none.
    Nothing,
    /// It has one, but the trace does not know it.
    Unknown,
    /// It is this.
    Value(u128),
}

impl Fact {
    fn new(op: &Op) -> Fact {
        Fact { op: op.kind().name(), target: None, value: Known::Nothing, details: Vec::new() }
    }

    fn on(op: &Op, addr: u64) -> Fact {
        Fact::whole(op, addr, 1)
    }

    /// On an object of so many bytes: by its size it is told from its first member.
    fn whole(op: &Op, addr: u64, size: u64) -> Fact {
        Fact { target: Some((addr, size)), ..Fact::new(op) }
    }

    fn with(mut self, name: &'static str, value: impl Into<Json>) -> Fact {
        self.details.push((name, value.into()));
        self
    }

    /// A wait that may have a limit of time.
    fn within(self, timed: bool) -> Fact {
        if timed { self.with("timed", true) } else { self }
    }

    fn value(mut self, value: Option<u128>) -> Fact {
        self.value = value.map_or(Known::Unknown, Known::Value);
        self
    }

    fn sized(mut self, size: u64) -> Fact {
        self.target = self.target.map(|(addr, _)| (addr, size));
        self.with("size", size)
    }
}

/// What an operation says. `name` names threads, `names` has those of functions and marks.
#[expect(clippy::too_many_lines, reason = "an arm for each form of operands")]
pub(crate) fn fact(op: &Op, names: &Names, name: impl Fn(ThreadId) -> String) -> Fact {
    match *op {
        Op::Begin { stack, size } => Fact::new(op).with("start", address(stack)).with("size", size),
        Op::Fork(other) | Op::Join(other) | Op::Detach(other) | Op::Cancel(other) => {
            Fact::new(op).with("other", name(other))
        }
        Op::HandlerBegin { signal } => Fact::new(op).with("signal", signal),
        Op::End
        | Op::HandlerEnd
        | Op::RegionBegin
        | Op::RegionEnd
        | Op::Yield
        | Op::Exec
        | Op::Abort => Fact::new(op),
        Op::Read { addr, size, value, volatile } | Op::Write { addr, size, value, volatile } => {
            access(op, addr, size, value, volatile)
        }
        Op::Atomic { addr, size, ordering: order, op: change } => {
            let fact = Fact::on(op, addr).sized(size.into()).with("ordering", ordering(order));
            atomic(fact, change)
        }
        Op::Fence(order) => Fact::new(op).with("ordering", ordering(order)),
        Op::HappensBefore { object } | Op::HappensAfter { object } | Op::Free { addr: object } => {
            Fact::on(op, object)
        }
        Op::Alloc { addr, size } | Op::Map { addr, size } | Op::Unmap { addr, size } => {
            Fact::on(op, addr).sized(size)
        }
        Op::Init { object, class: kind, detail } => Fact::whole(op, object, size::of(kind))
            .with("class", class(kind))
            .with("detail", detail),
        Op::Destroy { object, class: kind } => {
            Fact::whole(op, object, size::of(kind)).with("class", class(kind))
        }
        Op::Call { function, arguments } => Fact::new(op)
            .with("function", names.name(function))
            .with("arguments", arguments.to_vec()),
        Op::Return { function, value } => {
            Fact::new(op).with("function", names.name(function)).with("result", value)
        }
        Op::Mark { name, object } => Fact::on(op, object).with("name", names.name(name)),
        Op::Sleep { nanoseconds } => Fact::new(op).with("nanoseconds", nanoseconds),
        Op::ProcessFork { process } => Fact::new(op).with("process", process),
        Op::Exit { status } => Fact::new(op).with("status", status),
        Op::Acquire { lock, mode: kind, how: asked } => {
            Fact::whole(op, lock, size::lock(kind)).with("mode", mode(kind)).with("how", how(asked))
        }
        Op::AcquireFailed { lock, mode: kind, how: asked, error } => {
            Fact::whole(op, lock, size::lock(kind))
                .with("mode", mode(kind))
                .with("how", how(asked))
                .with("error", error)
        }
        Op::Release { lock, mode: kind } => {
            Fact::whole(op, lock, size::lock(kind)).with("mode", mode(kind))
        }
        Op::WaitRelease { lock } => Fact::whole(op, lock, size::lock(LockMode::Mutex)),
        Op::Wait { cond, lock, timed } => {
            Fact::whole(op, cond, size::COND).with("lock", address(lock)).within(timed)
        }
        Op::WaitAcquire { cond, lock, woken: by } => Fact::whole(op, cond, size::COND)
            .with("lock", address(lock))
            .with("woken", woken(by, name)),
        Op::Signal { cond } | Op::Broadcast { cond } => Fact::whole(op, cond, size::COND),
        Op::BarrierEnter { barrier } => Fact::whole(op, barrier, size::BARRIER),
        Op::BarrierLeave { barrier, serial } => {
            Fact::whole(op, barrier, size::BARRIER).with("serial", serial)
        }
        Op::SemPost { semaphore } => Fact::whole(op, semaphore, size::SEMAPHORE),
        Op::SemWait { semaphore, timed } => {
            Fact::whole(op, semaphore, size::SEMAPHORE).within(timed)
        }
        Op::SemFailed { semaphore, error } => {
            Fact::whole(op, semaphore, size::SEMAPHORE).with("error", error)
        }
        Op::OnceBegin { once } | Op::OnceDone { once } => Fact::on(op, once),
        Op::OnceEnd { once, done } => Fact::on(op, once).with("done", done),
    }
}

fn access(op: &Op, addr: u64, size: u64, value: Option<u128>, volatile: bool) -> Fact {
    let fact = Fact::on(op, addr).sized(size).value(value);
    if volatile { fact.with("volatile", true) } else { fact }
}

fn atomic(fact: Fact, op: AtomicOp) -> Fact {
    match op {
        AtomicOp::Load(value) | AtomicOp::Store(value) => fact.value(Some(value)),
        AtomicOp::Rmw { op, old, new } => {
            fact.with("rmw", rmw(op)).with("old", number(old)).with("new", number(new))
        }
        AtomicOp::Cas { old, new } => fact.with("old", number(old)).with("new", number(new)),
        AtomicOp::CasFailed { seen, expected } => {
            fact.with("seen", number(seen)).with("expected", number(expected))
        }
    }
}

fn woken(by: WokenBy, name: impl Fn(ThreadId) -> String) -> Json {
    match by {
        WokenBy::Event(id) => json!({ "by": format!("{}:{}", name(id.thread), id.index) }),
        WokenBy::OneOf(count) => json!({ "one-of": count }),
        WokenBy::Nothing => json!("nothing"),
        WokenBy::Timeout => json!("timeout"),
        WokenBy::Error(error) => json!({ "error": error }),
    }
}

/// An address as both forms print it.
pub(crate) fn address(addr: u64) -> String {
    format!("{addr:#x}")
}

/// A number that JSON readers take: large ones as text.
pub(crate) fn number(value: u128) -> Json {
    u64::try_from(value).map_or_else(|_| json!(value.to_string()), |it| json!(it))
}

fn mode(mode: LockMode) -> &'static str {
    match mode {
        LockMode::Mutex => "mutex",
        LockMode::Spin => "spin",
        LockMode::Read => "read",
        LockMode::Write => "write",
    }
}

fn how(how: Outcome) -> &'static str {
    match how {
        Outcome::Waited => "waited",
        Outcome::Tried => "tried",
        Outcome::Timed => "timed",
        Outcome::OwnerDied => "ownerdied",
    }
}

fn class(class: Object) -> &'static str {
    match class {
        Object::Mutex => "mutex",
        Object::Spin => "spin",
        Object::RwLock => "rwlock",
        Object::Cond => "cond",
        Object::Barrier => "barrier",
        Object::Semaphore => "semaphore",
        Object::Key => "key",
    }
}

fn ordering(ordering: Ordering) -> &'static str {
    match ordering {
        Ordering::Relaxed => "relaxed",
        Ordering::Consume => "consume",
        Ordering::Acquire => "acquire",
        Ordering::Release => "release",
        Ordering::AcqRel => "acqrel",
        Ordering::SeqCst => "seqcst",
    }
}

fn rmw(op: RmwOp) -> &'static str {
    match op {
        RmwOp::Exchange => "exchange",
        RmwOp::Add => "add",
        RmwOp::Sub => "sub",
        RmwOp::And => "and",
        RmwOp::Or => "or",
        RmwOp::Xor => "xor",
        RmwOp::Nand => "nand",
    }
}
