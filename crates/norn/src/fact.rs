//! What an event says, as words and numbers that both forms of `norn dump` print.

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
    fn new(op: &'static str) -> Fact {
        Fact { op, target: None, value: Known::Nothing, details: Vec::new() }
    }

    fn on(op: &'static str, addr: u64) -> Fact {
        Fact::whole(op, addr, 1)
    }

    /// On an object of so many bytes: by its size it is told from its first member.
    fn whole(op: &'static str, addr: u64, size: u64) -> Fact {
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
pub(crate) fn fact(op: &Op, names: &Names, name: impl Fn(ThreadId) -> String) -> Fact {
    match *op {
        Op::Begin { stack, size } => {
            Fact::new("begin").with("start", address(stack)).with("size", size)
        }
        Op::End => Fact::new("end"),
        Op::Fork(other) => Fact::new("fork").with("other", name(other)),
        Op::Join(other) => Fact::new("join").with("other", name(other)),
        Op::Detach(other) => Fact::new("detach").with("other", name(other)),
        Op::Cancel(other) => Fact::new("cancel").with("other", name(other)),
        Op::HandlerBegin { signal } => Fact::new("handler-begin").with("signal", signal),
        Op::HandlerEnd => Fact::new("handler-end"),
        Op::Read { addr, size, value, volatile } => access("read", addr, size, value, volatile),
        Op::Write { addr, size, value, volatile } => access("write", addr, size, value, volatile),
        Op::Atomic { addr, size, ordering: order, op } => atomic(addr, size, order, op),
        Op::Fence(order) => Fact::new("fence").with("ordering", ordering(order)),
        Op::HappensBefore { object } => Fact::on("happens-before", object),
        Op::HappensAfter { object } => Fact::on("happens-after", object),
        Op::Alloc { addr, size } => Fact::on("alloc", addr).sized(size),
        Op::Free { addr } => Fact::on("free", addr),
        Op::Map { addr, size } => Fact::on("map", addr).sized(size),
        Op::Unmap { addr, size } => Fact::on("unmap", addr).sized(size),
        Op::Init { object, class: kind, detail } => Fact::whole("init", object, size_of(kind))
            .with("class", class(kind))
            .with("detail", detail),
        Op::Destroy { object, class: kind } => {
            Fact::whole("destroy", object, size_of(kind)).with("class", class(kind))
        }
        Op::Call { function, arguments } => Fact::new("call")
            .with("function", names.name(function))
            .with("arguments", arguments.to_vec()),
        Op::Return { function, value } => {
            Fact::new("return").with("function", names.name(function)).with("result", value)
        }
        Op::Mark { name, object } => Fact::on("mark", object).with("name", names.name(name)),
        Op::RegionBegin => Fact::new("region-begin"),
        Op::RegionEnd => Fact::new("region-end"),
        Op::Sleep { nanoseconds } => Fact::new("sleep").with("nanoseconds", nanoseconds),
        Op::Yield => Fact::new("yield"),
        Op::ProcessFork { process } => Fact::new("process-fork").with("process", process),
        Op::Exec => Fact::new("exec"),
        Op::Exit { status } => Fact::new("exit").with("status", status),
        Op::Abort => Fact::new("abort"),
        _ => synchronisation(op, name),
    }
}

/// The operations on locks, conditions, barriers, semaphores and once-only initialisation.
fn synchronisation(op: &Op, name: impl Fn(ThreadId) -> String) -> Fact {
    match *op {
        Op::Acquire { lock, mode: kind, how: asked } => {
            Fact::whole("acquire", lock, lock_size(kind))
                .with("mode", mode(kind))
                .with("how", how(asked))
        }
        Op::AcquireFailed { lock, mode: kind, how: asked, error } => {
            Fact::whole("acquire-failed", lock, lock_size(kind))
                .with("mode", mode(kind))
                .with("how", how(asked))
                .with("error", error)
        }
        Op::Release { lock, mode: kind } => {
            Fact::whole("release", lock, lock_size(kind)).with("mode", mode(kind))
        }
        Op::WaitRelease { lock } => Fact::whole("wait-release", lock, MUTEX),
        Op::Wait { cond, lock, timed } => {
            Fact::whole("wait", cond, COND).with("lock", address(lock)).within(timed)
        }
        Op::WaitAcquire { cond, lock, woken: by } => Fact::whole("wait-acquire", cond, COND)
            .with("lock", address(lock))
            .with("woken", woken(by, name)),
        Op::Signal { cond } => Fact::whole("signal", cond, COND),
        Op::Broadcast { cond } => Fact::whole("broadcast", cond, COND),
        Op::BarrierEnter { barrier } => Fact::whole("barrier-enter", barrier, BARRIER),
        Op::BarrierLeave { barrier, serial } => {
            Fact::whole("barrier-leave", barrier, BARRIER).with("serial", serial)
        }
        Op::SemPost { semaphore } => Fact::whole("sem-post", semaphore, SEMAPHORE),
        Op::SemWait { semaphore, timed } => {
            Fact::whole("sem-wait", semaphore, SEMAPHORE).within(timed)
        }
        Op::SemFailed { semaphore, error } => {
            Fact::whole("sem-failed", semaphore, SEMAPHORE).with("error", error)
        }
        Op::OnceBegin { once } => Fact::on("once-begin", once),
        Op::OnceEnd { once, done } => Fact::on("once-end", once).with("done", done),
        Op::OnceDone { once } => Fact::on("once-done", once),
        _ => Fact::new("unknown"),
    }
}

// Sizes of libc's objects.
pub(crate) const MUTEX: u64 = 40;
const SPIN: u64 = 4;
const RWLOCK: u64 = 56;
pub(crate) const COND: u64 = 48;
pub(crate) const BARRIER: u64 = 32;
pub(crate) const SEMAPHORE: u64 = 32;
const KEY: u64 = 4;

fn lock_size(mode: LockMode) -> u64 {
    match mode {
        LockMode::Mutex => MUTEX,
        LockMode::Spin => SPIN,
        LockMode::Read | LockMode::Write => RWLOCK,
    }
}

fn size_of(class: Object) -> u64 {
    match class {
        Object::Mutex => MUTEX,
        Object::Spin => SPIN,
        Object::RwLock => RWLOCK,
        Object::Cond => COND,
        Object::Barrier => BARRIER,
        Object::Semaphore => SEMAPHORE,
        Object::Key => KEY,
    }
}

fn access(op: &'static str, addr: u64, size: u64, value: Option<u128>, volatile: bool) -> Fact {
    let fact = Fact::on(op, addr).sized(size).value(value);
    if volatile { fact.with("volatile", true) } else { fact }
}

fn atomic(addr: u64, size: u8, order: Ordering, op: AtomicOp) -> Fact {
    let on = |op| Fact::on(op, addr).sized(size.into()).with("ordering", ordering(order));
    match op {
        AtomicOp::Load(value) => on("atomic-load").value(Some(value)),
        AtomicOp::Store(value) => on("atomic-store").value(Some(value)),
        AtomicOp::Rmw { op, old, new } => {
            on("atomic-rmw").with("rmw", rmw(op)).with("old", number(old)).with("new", number(new))
        }
        AtomicOp::Cas { old, new } => {
            on("atomic-cas").with("old", number(old)).with("new", number(new))
        }
        AtomicOp::CasFailed { seen, expected } => {
            on("atomic-cas-failed").with("seen", number(seen)).with("expected", number(expected))
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
