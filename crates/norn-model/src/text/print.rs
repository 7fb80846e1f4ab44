//! Prints traces in the text notation.

use std::fmt;

use super::{SIZE, word::Word};
use crate::{AtomicOp, Event, Field, LockMode, Order, Ordering, Outcome, ThreadId, Trace, WokenBy};

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

    fn op(&self, f: &mut fmt::Formatter<'_>) -> Result {
        let mut op = self.event.op;
        f.write_str(op.kind().keyword())?;
        op.fields().into_iter().try_for_each(|it| self.field(f, it))
    }

    /// One operand, with a space before it. What a reader assumes without it is left out.
    fn field(&self, f: &mut fmt::Formatter<'_>, field: Field<'_>) -> Result {
        match field {
            Field::Thread(thread) => {
                f.write_str(" ")?;
                self.thread(f, *thread)
            }
            Field::Lock(lock, mode) => {
                self.on(f, *lock)?;
                word(f, *mode, LockMode::Mutex)
            }
            Field::Object(addr, _)
            | Field::Address(addr)
            | Field::Channel(addr)
            | Field::Freed(addr)
            | Field::WaitMutex(addr) => self.on(f, *addr),
            Field::AnyObject(addr, class) => {
                self.on(f, *addr)?;
                write!(f, " {}", class.word())
            }
            Field::Stack(0, 0) | Field::Detail(0) | Field::Flag(_, false) => Ok(()),
            Field::Stack(addr, size) | Field::Allocated(addr, size) | Field::Pages(addr, size) => {
                self.on(f, *addr)?;
                write!(f, " {size}")
            }
            Field::Memory(addr, size) => self.memory(f, *addr, *size),
            Field::Value(value) => value.map_or(Ok(()), |it| number(f, it)),
            Field::Atomic(addr, size, op, ordering) => {
                self.memory(f, *addr, u64::from(*size))?;
                values(f, *op)?;
                word(f, *ordering, Ordering::SeqCst)
            }
            Field::Ordering(ordering) => word(f, *ordering, Ordering::SeqCst),
            Field::Request(how) => word(f, *how, Outcome::Waited),
            Field::WokenBy(woken) => self.woken(f, *woken),
            Field::Flag(word, true) | Field::Word(word) => write!(f, " {word}"),
            Field::Answer(_, (word, meaning), answer) if *answer == meaning => {
                write!(f, " {word}")
            }
            Field::Answer(..) => Ok(()),
            Field::I32(_, _, number) => write!(f, " {number}"),
            Field::U32(_, _, number) => write!(f, " {number}"),
            Field::U64(_, _, number) | Field::Duration(number) | Field::Detail(number) => {
                write!(f, " {number}")
            }
            Field::Call(function, arguments) => self.call(f, *function, *arguments),
            Field::Return(function, value) => self.returned(f, *function, *value),
            Field::Mark(name, object) => self.mark(f, *name, *object),
        }
    }

    fn on(&self, f: &mut fmt::Formatter<'_>, addr: u64) -> Result {
        f.write_str(" ")?;
        self.object(f, addr)
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

    fn memory(&self, f: &mut fmt::Formatter<'_>, addr: u64, size: u64) -> Result {
        self.on(f, addr)?;
        if size == SIZE { Ok(()) } else { write!(f, ":{size}") }
    }
}

fn values(f: &mut fmt::Formatter<'_>, op: AtomicOp) -> Result {
    let (first, second) = match op {
        AtomicOp::Load(value) | AtomicOp::Store(value) => (value, None),
        AtomicOp::Rmw { old, new, .. } | AtomicOp::Cas { old, new } => (old, Some(new)),
        AtomicOp::CasFailed { seen, expected } => (seen, Some(expected)),
    };
    number(f, first)?;
    second.map_or(Ok(()), |it| number(f, it))
}

/// The word for a choice, unless it is the default one.
fn word<T: Word>(f: &mut fmt::Formatter<'_>, choice: T, default: T) -> Result {
    if choice == default { Ok(()) } else { write!(f, " {}", choice.word()) }
}

/// Small numbers are decimal; large ones, which are mostly addresses and bit patterns, hexadecimal.
fn number(f: &mut fmt::Formatter<'_>, value: u128) -> Result {
    if value < 1 << 16 { write!(f, " {value}") } else { write!(f, " {value:#x}") }
}
