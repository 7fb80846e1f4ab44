//! Prints traces in the text notation.

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

    #[expect(clippy::too_many_lines, reason = "an arm for each form of operands")]
    fn op(&self, f: &mut fmt::Formatter<'_>) -> Result {
        let verb = self.event.op.kind().keyword();
        match self.event.op {
            Op::Begin { stack: 0, size: 0 }
            | Op::End
            | Op::HandlerEnd
            | Op::Yield
            | Op::Exec
            | Op::Abort => f.write_str(verb),
            Op::RegionBegin => write!(f, "{verb} begin"),
            Op::RegionEnd => write!(f, "{verb} end"),
            Op::Fork(thread) | Op::Join(thread) | Op::Detach(thread) | Op::Cancel(thread) => {
                self.about(f, verb, thread)
            }
            Op::HandlerBegin { signal: number } | Op::Exit { status: number } => {
                write!(f, "{verb} {number}")
            }
            Op::Sleep { nanoseconds } => write!(f, "{verb} {nanoseconds}"),
            Op::ProcessFork { process } => write!(f, "{verb} {process}"),
            Op::Acquire { lock, mode, how } => {
                self.on(f, verb, lock)?;
                qualified(f, mode, how)
            }
            Op::AcquireFailed { lock, mode, how, error } => {
                self.on(f, verb, lock)?;
                qualified(f, mode, how)?;
                write!(f, " {error}")
            }
            Op::Release { lock, mode } => {
                self.on(f, verb, lock)?;
                qualified(f, mode, Outcome::Waited)
            }
            Op::Wait { cond, lock, timed } => {
                self.on_two(f, verb, cond, lock)?;
                f.write_str(if timed { " timed" } else { "" })
            }
            Op::WaitAcquire { cond, lock, woken } => {
                self.on_two(f, verb, cond, lock)?;
                self.woken(f, woken)
            }
            Op::BarrierLeave { barrier, serial } => {
                self.on(f, verb, barrier)?;
                f.write_str(if serial { " serial" } else { "" })
            }
            Op::SemWait { semaphore, timed } => {
                self.on(f, verb, semaphore)?;
                f.write_str(if timed { " timed" } else { "" })
            }
            Op::SemFailed { semaphore, error } => {
                self.on(f, verb, semaphore)?;
                write!(f, " {error}")
            }
            Op::OnceEnd { once, done } => {
                self.on(f, verb, once)?;
                f.write_str(if done { "" } else { " failed" })
            }
            Op::Read { addr, size, value, volatile }
            | Op::Write { addr, size, value, volatile } => {
                self.access(f, verb, (addr, size), value, volatile)
            }
            Op::Atomic { addr, size, ordering, op } => {
                self.atomic(f, verb, (addr, size), ordering, op)
            }
            Op::Fence(ordering) => {
                f.write_str(verb)?;
                ordered(f, ordering)
            }
            Op::Begin { stack: addr, size }
            | Op::Alloc { addr, size }
            | Op::Map { addr, size }
            | Op::Unmap { addr, size } => self.sized(f, verb, addr, size),
            Op::WaitRelease { lock: object }
            | Op::Signal { cond: object }
            | Op::Broadcast { cond: object }
            | Op::BarrierEnter { barrier: object }
            | Op::SemPost { semaphore: object }
            | Op::OnceBegin { once: object }
            | Op::OnceDone { once: object }
            | Op::HappensBefore { object }
            | Op::HappensAfter { object }
            | Op::Free { addr: object } => self.on(f, verb, object),
            Op::Init { object, class, detail } => self.init(f, verb, object, class, detail),
            Op::Destroy { object, class } => {
                self.on(f, verb, object)?;
                write!(f, " {}", class.word())
            }
            Op::Call { function, arguments } => self.call(f, function, arguments),
            Op::Return { function, value } => self.returned(f, function, value),
            Op::Mark { name, object } => self.mark(f, name, object),
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
        verb: &str,
        (addr, size): (u64, u8),
        ordering: Ordering,
        op: AtomicOp,
    ) -> Result {
        let (first, second) = match op {
            AtomicOp::Load(value) | AtomicOp::Store(value) => (value, None),
            AtomicOp::Rmw { old, new, .. } | AtomicOp::Cas { old, new } => (old, Some(new)),
            AtomicOp::CasFailed { seen, expected } => (seen, Some(expected)),
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

    fn init(
        &self,
        f: &mut fmt::Formatter<'_>,
        verb: &str,
        object: u64,
        class: Object,
        detail: u64,
    ) -> Result {
        self.on(f, verb, object)?;
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
    if ordering == Ordering::SeqCst { Ok(()) } else { write!(f, " {}", ordering.word()) }
}

/// Small numbers are decimal; large ones, which are mostly addresses and bit patterns, hexadecimal.
fn number(f: &mut fmt::Formatter<'_>, value: u128) -> Result {
    if value < 1 << 16 { write!(f, " {value}") } else { write!(f, " {value:#x}") }
}
