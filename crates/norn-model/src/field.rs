//! The operands of operations as typed lists.
//!
//! [`Op::fields`](crate::Op::fields) has one arm for each operation. Whatever shows or reads all operands goes
//! through the list instead of matching operations: the text notation prints the fields and fills
//! in those of a [blank](crate::OpKind::blank) operation, `norn dump` shows them, and reports name
//! the first one ([`Op::operand`]). A new operation made of known fields needs no change there.

use crate::{AtomicOp, LockMode, NameId, Object, Op, Ordering, Outcome, ThreadId, Value, WokenBy};

/// One operand of an operation, or a few that belong together.
#[derive(Debug)]
pub enum Field<'a> {
    /// Another thread.
    Thread(&'a mut ThreadId),
    /// A lock, and the mode in which it is held.
    Lock(&'a mut u64, &'a mut LockMode),
    /// A synchronisation object of a class that the operation implies.
    Object(&'a mut u64, Object),
    /// A synchronisation object of any class.
    AnyObject(&'a mut u64, &'a mut Object),
    /// The control object of a once-only initialisation, or an address that annotations name.
    Address(&'a mut u64),
    /// The mutex of a condition wait, which is named after the condition variable.
    WaitMutex(&'a mut u64),
    /// An object of the kernel through which threads reach each other: its number.
    Channel(&'a mut u64),
    /// The stack of a thread: lowest address and size; both are 0 if it is not known.
    Stack(&'a mut u64, &'a mut u64),
    /// An allocated block: lowest address and size.
    Allocated(&'a mut u64, &'a mut u64),
    /// A block that is freed: its lowest address.
    Freed(&'a mut u64),
    /// Pages that are mapped or unmapped: lowest address and size.
    Pages(&'a mut u64, &'a mut u64),
    /// Memory that is read or written: lowest address and size.
    Memory(&'a mut u64, &'a mut u64),
    /// The value that is read or written.
    Value(&'a mut Value),
    /// The memory of an atomic operation, its values and its ordering.
    Atomic(&'a mut u64, &'a mut u8, &'a mut AtomicOp, &'a mut Ordering),
    /// The ordering of a fence.
    Ordering(&'a mut Ordering),
    /// How a lock was requested.
    Request(&'a mut Outcome),
    /// What ended a condition wait.
    WokenBy(&'a mut WokenBy),
    /// The argument of an initialisation; usually 0.
    Detail(&'a mut u64),
    /// A property that is mentioned only of operations that have it: its name.
    Flag(&'static str, &'a mut bool),
    /// A result that is yes or no: its name, the word of the notation for the unusual result, and
    /// which result that is.
    Answer(&'static str, (&'static str, bool), &'a mut bool),
    /// A signed number: its name, and what an error message calls it.
    I32(&'static str, &'static str, &'a mut i32),
    /// An unsigned number: its name, and what an error message calls it.
    U32(&'static str, &'static str, &'a mut u32),
    /// A large unsigned number: its name, and what an error message calls it.
    U64(&'static str, &'static str, &'a mut u64),
    /// A duration in nanoseconds.
    Duration(&'a mut u64),
    /// A function and the registers of its arguments.
    Call(&'a mut NameId, &'a mut [u64; 6]),
    /// A function and its result.
    Return(&'a mut NameId, &'a mut Option<u64>),
    /// The name of a mark and the object that it is about.
    Mark(&'a mut NameId, &'a mut u64),
    /// A word that tells two kinds with the same keyword apart.
    Word(&'static str),
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
    /// A pipe, a socket or another object of the kernel, by its number.
    Channel(u64),
    /// A function or a mark.
    Name(NameId),
    /// A number, such as a signal, a status or a process.
    Number(i64),
}

impl Op {
    /// What the operation is done to: its first operand.
    pub fn operand(&self) -> Operand {
        // A copy, since the fields can be filled in.
        let mut op = *self;
        op.fields().into_iter().next().map_or(Operand::None, |it| it.operand())
    }
}

impl Field<'_> {
    fn operand(&self) -> Operand {
        match self {
            Field::Thread(id) => Operand::Thread(**id),
            Field::Lock(lock, mode) => Operand::Object(**lock, mode.object()),
            Field::Object(addr, class) => Operand::Object(**addr, *class),
            Field::AnyObject(addr, class) => Operand::Object(**addr, **class),
            Field::Address(addr) | Field::Pages(addr, _) => Operand::Memory(**addr, 1),
            Field::Channel(number) => Operand::Channel(**number),
            Field::Allocated(_, size) => Operand::Allocation(**size),
            Field::Freed(addr) => Operand::Freed(**addr),
            Field::Memory(addr, size) => Operand::Memory(**addr, **size),
            Field::Atomic(addr, size, ..) => Operand::Memory(**addr, u64::from(**size)),
            Field::I32(_, _, number) => Operand::Number(i64::from(**number)),
            Field::U32(_, _, number) => Operand::Number(i64::from(**number)),
            Field::U64(_, _, number) => {
                Operand::Number(i64::try_from(**number).unwrap_or(i64::MAX))
            }
            Field::Call(name, _) | Field::Return(name, _) | Field::Mark(name, _) => {
                Operand::Name(**name)
            }
            Field::WaitMutex(_)
            | Field::Stack(..)
            | Field::Value(_)
            | Field::Ordering(_)
            | Field::Request(_)
            | Field::WokenBy(_)
            | Field::Detail(_)
            | Field::Flag(..)
            | Field::Answer(..)
            | Field::Duration(_)
            | Field::Word(_) => Operand::None,
        }
    }
}
