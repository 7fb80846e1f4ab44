//! The static storage of a variable, if it has any.
//!
//! A location is a small program for a stack machine. Only two forms denote static storage: a plain
//! address, and an offset with the thread-local operator. Every other form, such as an address
//! followed by `DW_OP_stack_value`, describes a local or an optimised-away variable.

use gimli::{Expression, Operation, UnitRef};

use crate::dwarf::Slice;

/// Static storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Module-relative address.
    Memory(u64),
    /// Offset in the thread-local block of the module.
    ThreadLocal(u64),
}

/// Evaluates a location description; `None` if it is not static storage or is damaged.
pub(crate) fn place(
    expression: Expression<Slice<'_>>,
    unit: &UnitRef<'_, Slice<'_>>,
) -> Option<Place> {
    let mut operations = expression.operations(unit.encoding());
    let mut top = match operations.next().ok()?? {
        Operation::Address { address } => Top::Address(address),
        Operation::AddressIndex { index } => Top::Address(unit.address(index).ok()?),
        Operation::UnsignedConstant { value } => Top::Constant(value),
        Operation::SignedConstant { value } => Top::Constant(value.cast_unsigned()),
        Operation::ConstantIndex { index } => Top::Constant(unit.address(index).ok()?),
        _ => return None,
    };
    while let Some(operation) = operations.next().ok()? {
        top = match (operation, top) {
            (Operation::TLS, Top::Address(offset) | Top::Constant(offset)) => Top::Tls(offset),
            (Operation::PlusConstant { value }, top) => top.plus(value),
            _ => return None,
        }
    }
    match top {
        Top::Address(address) => Some(Place::Memory(address)),
        Top::Tls(offset) => Some(Place::ThreadLocal(offset)),
        Top::Constant(_) => None,
    }
}

/// The top of the machine's stack.
enum Top {
    Constant(u64),
    Address(u64),
    Tls(u64),
}

impl Top {
    fn plus(self, more: u64) -> Self {
        match self {
            Self::Constant(value) => Self::Constant(value.wrapping_add(more)),
            Self::Address(value) => Self::Address(value.wrapping_add(more)),
            Self::Tls(value) => Self::Tls(value.wrapping_add(more)),
        }
    }
}
