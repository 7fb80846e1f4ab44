//! Writes traces as text.

use std::fmt;

use super::{SIZE, word::Word};
use crate::{
    AtomicOp, Event, LockMode, Object, Op, Order, Ordering, Outcome, ThreadId, Trace, Value,
    WokenBy,
};

/// The whole trace, its events in [merged](Trace::merged) order.
pub fn print(trace: &Trace) -> String {
    let first = (trace.order == Order::Global).then(|| "order global\n".to_owned());
    first.into_iter().chain(trace.merged().map(|it| format!("{}\n", show(trace, &it)))).collect()
}

/// One event as a line of the notation.
pub fn show<'a>(trace: &'a Trace, event: &Event) -> Shown<'a> {
    Shown { trace, event: *event }
}

/// An event that can be displayed.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    pub(super) trace: &'a Trace,
    event: Event,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.thread(f, self.event.id.thread)?;
        f.write_str(" ")?;
        self.op(f)?;
        match self.trace.site(self.event.site).and_then(|it| it.place.as_ref()) {
            Some(place) => write!(f, " @ {place}"),
            None => Ok(()),
        }
    }
}

type Result = fmt::Result;

impl Shown<'_> {
    fn thread(&self, f: &mut fmt::Formatter<'_>, id: ThreadId) -> Result {
        match self.trace.thread(id) {
            Some(thread) => f.write_str(&thread.name.0),
            None => write!(f, "{id}"),
        }
    }

    #[expect(clippy::too_many_lines, reason = "a line for each operation")]
    fn op(&self, f: &mut fmt::Formatter<'_>) -> Result {
        match self.event.op {
            Op::Begin { stack: 0, size: 0 } => f.write_str("begin"),
            Op::Begin { stack, size } => self.sized(f, "begin", stack, size),
            Op::End => f.write_str("end"),
            Op::Fork(thread) => self.about(f, "fork", thread),
            Op::Join(thread) => self.about(f, "join", thread),
            Op::Detach(thread) => self.about(f, "detach", thread),
            Op::Cancel(thread) => self.about(f, "cancel", thread),
            Op::HandlerBegin { signal } => write!(f, "handler {signal}"),
            Op::HandlerEnd => f.write_str("return"),
            Op::Acquire { .. } | Op::AcquireFailed { .. } | Op::Release { .. } => self.lock(f),
            Op::WaitRelease { lock } => self.on(f, "waitrel", lock),
            Op::Wait { cond, lock, timed } => {
                self.on_two(f, "wait", cond, lock)?;
                f.write_str(if timed { " timed" } else { "" })
            }
            Op::WaitAcquire { cond, lock, woken } => {
                self.on_two(f, "wake", cond, lock)?;
                self.woken(f, woken)
            }
            Op::Signal { cond } => self.on(f, "signal", cond),
            Op::Broadcast { cond } => self.on(f, "broadcast", cond),
            Op::BarrierEnter { barrier } => self.on(f, "arrive", barrier),
            Op::BarrierLeave { barrier, serial } => {
                self.on(f, "pass", barrier)?;
                f.write_str(if serial { " serial" } else { "" })
            }
            Op::SemPost { semaphore } => self.on(f, "post", semaphore),
            Op::SemWait { semaphore, timed } => {
                self.on(f, "down", semaphore)?;
                f.write_str(if timed { " timed" } else { "" })
            }
            Op::SemFailed { semaphore, error } => {
                self.on(f, "downfail", semaphore)?;
                write!(f, " {error}")
            }
            Op::OnceBegin { once } => self.on(f, "oncebegin", once),
            Op::OnceEnd { once, done } => {
                self.on(f, "onceend", once)?;
                f.write_str(if done { "" } else { " failed" })
            }
            Op::OnceDone { once } => self.on(f, "oncedone", once),
            Op::Read { addr, size, value, volatile } => {
                self.access(f, "r", (addr, size), value, volatile)
            }
            Op::Write { addr, size, value, volatile } => {
                self.access(f, "w", (addr, size), value, volatile)
            }
            Op::Atomic { addr, size, ordering, op } => self.atomic(f, (addr, size), ordering, op),
            Op::Fence(ordering) => {
                f.write_str("fence")?;
                ordered(f, ordering)
            }
            Op::HappensBefore { object } => self.on(f, "before", object),
            Op::HappensAfter { object } => self.on(f, "after", object),
            Op::Alloc { addr, size } => self.sized(f, "alloc", addr, size),
            Op::Free { addr } => self.on(f, "free", addr),
            Op::Map { addr, size } => self.sized(f, "map", addr, size),
            Op::Unmap { addr, size } => self.sized(f, "unmap", addr, size),
            Op::Init { object, class, detail } => self.init(f, object, class, detail),
            Op::Destroy { object, class } => {
                self.on(f, "destroy", object)?;
                write!(f, " {}", class.word())
            }
            Op::Call { function, arguments } => self.call(f, function, arguments),
            Op::Return { function, value } => self.returned(f, function, value),
            Op::Mark { name, object } => self.mark(f, name, object),
            Op::RegionBegin => f.write_str("region begin"),
            Op::RegionEnd => f.write_str("region end"),
            Op::Sleep { nanoseconds } => write!(f, "sleep {nanoseconds}"),
            Op::Yield => f.write_str("yield"),
            Op::ProcessFork { process } => write!(f, "procfork {process}"),
            Op::Exec => f.write_str("exec"),
            Op::Exit { status } => write!(f, "exit {status}"),
            Op::Abort => f.write_str("abort"),
        }
    }

    fn about(&self, f: &mut fmt::Formatter<'_>, verb: &str, thread: ThreadId) -> Result {
        write!(f, "{verb} ")?;
        self.thread(f, thread)
    }

    fn on(&self, f: &mut fmt::Formatter<'_>, verb: &str, addr: u64) -> Result {
        write!(f, "{verb} ")?;
        self.object(f, addr)
    }

    fn on_two(&self, f: &mut fmt::Formatter<'_>, verb: &str, first: u64, second: u64) -> Result {
        self.on(f, verb, first)?;
        f.write_str(" ")?;
        self.object(f, second)
    }

    fn sized(&self, f: &mut fmt::Formatter<'_>, verb: &str, addr: u64, size: u64) -> Result {
        self.on(f, verb, addr)?;
        write!(f, " {size}")
    }

    pub(super) fn object(&self, f: &mut fmt::Formatter<'_>, addr: u64) -> Result {
        match self.trace.symbols.name(addr) {
            Some((name, 0)) => f.write_str(name),
            Some((name, offset)) => write!(f, "{name}+{offset}"),
            None => write!(f, "{addr:#x}"),
        }
    }

    fn lock(&self, f: &mut fmt::Formatter<'_>) -> Result {
        match self.event.op {
            Op::Acquire { lock, mode, how } => {
                self.on(f, "acq", lock)?;
                qualified(f, mode, how)
            }
            Op::AcquireFailed { lock, mode, how, error } => {
                self.on(f, "acqfail", lock)?;
                qualified(f, mode, how)?;
                write!(f, " {error}")
            }
            Op::Release { lock, mode } => {
                self.on(f, "rel", lock)?;
                qualified(f, mode, Outcome::Waited)
            }
            _ => Ok(()),
        }
    }

    fn woken(&self, f: &mut fmt::Formatter<'_>, woken: WokenBy) -> Result {
        match woken {
            WokenBy::Event(id) => {
                f.write_str(" by ")?;
                self.thread(f, id.thread)?;
                write!(f, ":{}", id.index)
            }
            WokenBy::OneOf(count) => write!(f, " any {count}"),
            WokenBy::Nothing => Ok(()),
            WokenBy::Timeout => f.write_str(" timeout"),
            WokenBy::Error(error) => write!(f, " error {error}"),
        }
    }

    fn access(
        &self,
        f: &mut fmt::Formatter<'_>,
        verb: &str,
        (addr, size): (u64, u64),
        value: Value,
        volatile: bool,
    ) -> Result {
        self.memory(f, verb, addr, size)?;
        if let Some(value) = value {
            number(f, value)?;
        }
        f.write_str(if volatile { " volatile" } else { "" })
    }

    fn atomic(
        &self,
        f: &mut fmt::Formatter<'_>,
        (addr, size): (u64, u8),
        ordering: Ordering,
        op: AtomicOp,
    ) -> Result {
        let (verb, first, second) = match op {
            AtomicOp::Load(value) => ("load", value, None),
            AtomicOp::Store(value) => ("store", value, None),
            AtomicOp::Rmw { op, old, new } => (op.word(), old, Some(new)),
            AtomicOp::Cas { old, new } => ("cas", old, Some(new)),
            AtomicOp::CasFailed { seen, expected } => ("casfail", seen, Some(expected)),
        };
        self.memory(f, verb, addr, u64::from(size))?;
        number(f, first)?;
        if let Some(second) = second {
            number(f, second)?;
        }
        ordered(f, ordering)
    }

    fn memory(&self, f: &mut fmt::Formatter<'_>, verb: &str, addr: u64, size: u64) -> Result {
        self.on(f, verb, addr)?;
        if size == SIZE { Ok(()) } else { write!(f, ":{size}") }
    }

    fn init(&self, f: &mut fmt::Formatter<'_>, object: u64, class: Object, detail: u64) -> Result {
        self.on(f, "init", object)?;
        write!(f, " {}", class.word())?;
        if detail == 0 { Ok(()) } else { write!(f, " {detail}") }
    }
}

fn qualified(f: &mut fmt::Formatter<'_>, mode: LockMode, how: Outcome) -> Result {
    if mode != LockMode::Mutex {
        write!(f, " {}", mode.word())?;
    }
    if how != Outcome::Waited {
        write!(f, " {}", how.word())?;
    }
    Ok(())
}

fn ordered(f: &mut fmt::Formatter<'_>, ordering: Ordering) -> Result {
    match ordering {
        Ordering::SeqCst => Ok(()),
        ordering => write!(f, " {}", ordering.word()),
    }
}

/// Small numbers are for people to count with, large ones are addresses and patterns of bits.
fn number(f: &mut fmt::Formatter<'_>, value: u128) -> Result {
    if value < 1 << 16 { write!(f, " {value}") } else { write!(f, " {value:#x}") }
}
