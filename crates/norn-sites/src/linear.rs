//! Values as sums: a constant plus multiples of values that are not known further.
//!
//! Two addresses with the same sum are equal. That is how the access behind a hook is recognised, and how
//! the table of a `switch` is found.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};
use norn_binary::{CodeView, FrameRegisters};
use smallvec::SmallVec;

use crate::{
    effect::is_immediate,
    function::Function,
    location::Location,
    reaching::{Definition, Definitions, Reaching},
};

/// A value that is not known further.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Root {
    /// The frame address of the function.
    Frame,
    /// The address of a symbol of another module, which the loader puts into this slot.
    Import(u64),
    /// The value that these definitions leave in a location.
    Defined(Definitions),
}

/// A constant plus multiples of roots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Linear {
    /// The roots, ascending, with their factors.
    pub(crate) terms: SmallVec<[(Root, i64); 2]>,
    /// The constant.
    pub(crate) constant: i64,
}

/// How many definitions are followed to one value. Each may use several others, so their number and not
/// their depth is limited.
const MAX_DEFINITIONS: u32 = 64;

impl Linear {
    fn constant(constant: i64) -> Linear {
        Linear { constant, ..Linear::default() }
    }

    fn root(root: Root) -> Linear {
        Linear { terms: SmallVec::from_iter([(root, 1)]), constant: 0 }
    }

    fn plus(mut self, other: &Linear, factor: i64) -> Linear {
        self.constant = self.constant.wrapping_add(other.constant.wrapping_mul(factor));
        for (root, count) in &other.terms {
            let more = count.wrapping_mul(factor);
            match self.terms.binary_search_by(|it| it.0.cmp(root)) {
                Ok(at) => self.terms[at].1 = self.terms[at].1.wrapping_add(more),
                Err(at) => self.terms.insert(at, (root.clone(), more)),
            }
        }
        self.terms.retain(|it| it.1 != 0);
        self
    }

    /// The value, if it is a constant.
    pub(crate) fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// Whether it is an address in the frame.
    pub(crate) fn is_in_frame(&self) -> bool {
        self.terms.iter().any(|it| it.0 == Root::Frame)
    }

    /// The distance from another address, if both differ by a constant only.
    pub(crate) fn distance_from(&self, other: &Linear) -> Option<i64> {
        (self.terms == other.terms).then(|| self.constant.wrapping_sub(other.constant))
    }
}

/// Evaluates registers and addresses of a function.
pub(crate) struct Values<'f, 'r> {
    pub(crate) view: &'f CodeView<'f>,
    pub(crate) function: &'f Function,
    pub(crate) frames: &'f [FrameRegisters],
    pub(crate) reaching: &'r mut Reaching<'f>,
    left: u32,
}

impl<'f, 'r> Values<'f, 'r> {
    pub(crate) fn new(
        view: &'f CodeView<'f>,
        function: &'f Function,
        frames: &'f [FrameRegisters],
        reaching: &'r mut Reaching<'f>,
    ) -> Self {
        Values { view, function, frames, reaching, left: 0 }
    }
}

impl Values<'_, '_> {
    /// The value of a location before an instruction.
    pub(crate) fn before(&mut self, at: u32, location: Location) -> Linear {
        self.left = MAX_DEFINITIONS;
        self.location(at, location)
    }

    /// The address of an instruction's memory operand.
    pub(crate) fn address(&mut self, at: u32) -> Linear {
        self.left = MAX_DEFINITIONS;
        self.operand_address(at)
    }

    fn location(&mut self, at: u32, location: Location) -> Linear {
        if let Location::General(number) = location {
            let register = Register::RAX + u32::from(number);
            if let Some(distance) = self.frames[at as usize].distance(register) {
                return Linear { constant: distance, ..Linear::root(Root::Frame) };
            }
        }
        let definitions = self.reaching.before(at, location);
        match definitions[..] {
            [Definition::Instruction(from)] if self.left > 0 => {
                self.left -= 1;
                self.defined(from, location)
            }
            _ => Linear::root(Root::Defined(definitions)),
        }
    }

    /// The value that an instruction leaves in a location.
    fn defined(&mut self, at: u32, location: Location) -> Linear {
        let code = *self.function.instruction(at);
        let unknown = || {
            let definition = SmallVec::from_iter([Definition::Instruction(at)]);
            Linear::root(Root::Defined(definition))
        };
        let own = |this: &mut Self| this.location(at, location);
        match code.mnemonic() {
            Mnemonic::Mov | Mnemonic::Movsxd | Mnemonic::Push => {
                self.source(at, &code).unwrap_or_else(unknown)
            }
            Mnemonic::Movzx | Mnemonic::Movsx if code.op1_kind() == OpKind::Memory => {
                self.source(at, &code).unwrap_or_else(unknown)
            }
            Mnemonic::Cdqe => own(self),
            Mnemonic::Lea => self.operand_address(at),
            Mnemonic::Xor if code.op0_register() == code.op1_register() => Linear::default(),
            Mnemonic::Add | Mnemonic::Sub if code.op0_kind() == OpKind::Register => {
                let sign = if code.mnemonic() == Mnemonic::Add { 1 } else { -1 };
                match self.second(at, &code) {
                    Some(other) => own(self).plus(&other, sign),
                    None => unknown(),
                }
            }
            Mnemonic::Inc => own(self).plus(&Linear::constant(1), 1),
            Mnemonic::Dec => own(self).plus(&Linear::constant(-1), 1),
            Mnemonic::Shl if is_immediate(&code) && code.immediate(1) < 32 => {
                Linear::default().plus(&own(self), 1 << code.immediate(1))
            }
            _ => unknown(),
        }
    }

    /// The value that a `mov` moves or a `push` stores, unless it is loaded from shared memory.
    fn source(&mut self, at: u32, code: &Instruction) -> Option<Linear> {
        if code.mnemonic() == Mnemonic::Push {
            let location = Location::of(code.op0_register())?;
            return Some(self.location(at, location));
        }
        self.second(at, code)
    }

    /// The value of the second operand.
    fn second(&mut self, at: u32, code: &Instruction) -> Option<Linear> {
        if is_immediate(code) {
            return Some(Linear::constant(code.immediate(1).cast_signed()));
        }
        match code.op1_kind() {
            OpKind::Register => Some(self.location(at, Location::of(code.op1_register())?)),
            OpKind::Memory => {
                if code.is_ip_rel_memory_operand() {
                    let slot = code.ip_rel_memory_address();
                    return self.view.import(slot).map(|_| Linear::root(Root::Import(slot)));
                }
                let slot = self.slot(at, code)?;
                Some(self.location(at, slot))
            }
            _ => None,
        }
    }

    /// The slot of the frame that an instruction's memory operand is.
    pub(crate) fn slot(&self, at: u32, code: &Instruction) -> Option<Location> {
        let base = self.frames[at as usize].distance(code.memory_base())?;
        let plain = code.memory_index() == Register::None;
        let offset = base.checked_add(code.memory_displacement64().cast_signed())?;
        let size = u16::try_from(code.memory_size().size()).ok().filter(|it| *it > 0)?;
        plain.then_some(Location::Slot(i32::try_from(offset).ok()?, size))
    }

    fn operand_address(&mut self, at: u32) -> Linear {
        let code = *self.function.instruction(at);
        let mut sum = Linear::constant(code.memory_displacement64().cast_signed());
        if code.is_ip_rel_memory_operand() {
            return sum;
        }
        let scale = i64::from(code.memory_index_scale());
        for (register, factor) in [(code.memory_base(), 1), (code.memory_index(), scale)] {
            if let Some(location) = Location::of(register) {
                sum = sum.plus(&self.location(at, location), factor);
            }
        }
        sum
    }
}
