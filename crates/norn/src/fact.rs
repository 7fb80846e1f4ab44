//! What an event says, as words and numbers that both forms of `norn dump` print.

use norn_model::{AtomicOp, Field, Names, Object, Op, ThreadId, WokenBy, text::Word};
use serde_json::{Value as Json, json};

/// What an event says besides where it happened.
pub(crate) struct Fact {
    /// What was done.
    pub(crate) op: &'static str,
    /// To which memory or object, and how many bytes of it.
    pub(crate) target: Option<(u64, Extent)>,
    /// The value that was read or written.
    pub(crate) value: Known,
    /// Everything else.
    pub(crate) details: Vec<(&'static str, Json)>,
}

/// The extent of a target, which distinguishes it from its first member.
#[derive(Clone, Copy)]
pub(crate) enum Extent {
    /// A number of bytes.
    Bytes(u64),
    /// That of a synchronisation object, which only the front end knows.
    Object(Object),
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

/// What an operation says. `name` names threads, `names` has those of functions and marks.
pub(crate) fn fact(op: &Op, names: &Names, name: impl Fn(ThreadId) -> String) -> Fact {
    // A copy, since the fields can be filled in.
    let mut op = *op;
    let kind = op.kind().name();
    let fact = Fact { op: kind, target: None, value: Known::Nothing, details: Vec::new() };
    op.fields().into_iter().fold(fact, |fact, field| fact.field(field, names, &name))
}

impl Fact {
    /// Adds one operand.
    fn field(self, field: Field<'_>, names: &Names, name: impl Fn(ThreadId) -> String) -> Fact {
        match field {
            Field::Thread(other) => self.with("other", name(*other)),
            Field::Lock(lock, mode) => {
                self.on_object(*lock, mode.object()).with("mode", mode.word())
            }
            Field::Object(addr, class) => self.on_object(*addr, class),
            Field::AnyObject(addr, class) => {
                self.on_object(*addr, *class).with("class", class.word())
            }
            Field::Address(addr) | Field::Freed(addr) => self.on(*addr, 1),
            Field::Channel(number) => self.with("channel", *number),
            Field::WaitMutex(lock) => self.with("lock", address(*lock)),
            Field::Stack(start, size) => self.with("start", address(*start)).with("size", *size),
            Field::Allocated(addr, size) | Field::Pages(addr, size) | Field::Memory(addr, size) => {
                self.on(*addr, *size).with("size", *size)
            }
            Field::Value(value) => self.value(*value),
            Field::Atomic(addr, size, op, ordering) => {
                let fact = self.on(*addr, u64::from(*size)).with("size", *size);
                atomic(fact.with("ordering", ordering.word()), *op)
            }
            Field::Ordering(ordering) => self.with("ordering", ordering.word()),
            Field::Request(how) => self.with("how", how.word()),
            Field::WokenBy(by) => self.with("woken", woken(*by, name)),
            Field::Detail(detail) => self.with("detail", *detail),
            Field::Flag(name, true) => self.with(name, true),
            Field::Flag(_, false) | Field::Word(_) => self,
            Field::Answer(name, _, answer) => self.with(name, *answer),
            Field::I32(name, _, number) => self.with(name, *number),
            Field::U32(name, _, number) => self.with(name, *number),
            Field::U64(name, _, number) => self.with(name, *number),
            Field::Duration(nanoseconds) => self.with("nanoseconds", *nanoseconds),
            Field::Call(function, arguments) => {
                self.with("function", names.name(*function)).with("arguments", arguments.to_vec())
            }
            Field::Return(function, value) => {
                self.with("function", names.name(*function)).with("result", *value)
            }
            Field::Mark(name, object) => self.on(*object, 1).with("name", names.name(*name)),
        }
    }

    fn on(mut self, addr: u64, size: u64) -> Fact {
        self.target = Some((addr, Extent::Bytes(size)));
        self
    }

    fn on_object(mut self, addr: u64, class: Object) -> Fact {
        self.target = Some((addr, Extent::Object(class)));
        self
    }

    fn with(mut self, name: &'static str, value: impl Into<Json>) -> Fact {
        self.details.push((name, value.into()));
        self
    }

    fn value(mut self, value: Option<u128>) -> Fact {
        self.value = value.map_or(Known::Unknown, Known::Value);
        self
    }
}

fn atomic(fact: Fact, op: AtomicOp) -> Fact {
    match op {
        AtomicOp::Load(value) | AtomicOp::Store(value) => fact.value(Some(value)),
        AtomicOp::Rmw { op, old, new } => {
            fact.with("rmw", op.word()).with("old", number(old)).with("new", number(new))
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
