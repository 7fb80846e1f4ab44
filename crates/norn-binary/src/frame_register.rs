//! The position of registers in the frame of a function: an abstract interpretation of single
//! instructions. Whoever follows the control flow decides where states meet.

use iced_x86::{
    FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
};

/// The value of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// The frame address plus an offset.
    Frame(i64),
    /// The first argument plus an offset.
    Argument(i64),
}

impl Value {
    fn plus(self, distance: i64) -> Option<Value> {
        match self {
            Value::Frame(it) => it.checked_add(distance).map(Value::Frame),
            Value::Argument(it) => it.checked_add(distance).map(Value::Argument),
        }
    }
}

/// The values of the general registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameRegisters([Option<Value>; 16]);

/// The registers that a call may change.
pub(crate) const CALLER_SAVED: [Register; 9] = [
    Register::RAX,
    Register::RCX,
    Register::RDX,
    Register::RSI,
    Register::RDI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
];

impl FrameRegisters {
    /// The registers at the entry of a function, below its return address.
    pub fn at_entry() -> FrameRegisters {
        let mut registers = FrameRegisters::default();
        registers.set(Register::RSP, Some(Value::Frame(-8)));
        registers.set(Register::RDI, Some(Value::Argument(0)));
        registers
    }

    /// The registers after an instruction.
    #[must_use]
    pub fn after(
        mut self,
        instruction: &Instruction,
        facts: &mut InstructionInfoFactory,
    ) -> FrameRegisters {
        let before = self;
        if is_call(instruction) {
            for register in CALLER_SAVED {
                self.set(register, None);
            }
            return self;
        }
        let first = instruction.op0_register();
        match instruction.mnemonic() {
            Mnemonic::Push => self.add(Register::RSP, Some(-8)),
            Mnemonic::Pop => {
                self.add(Register::RSP, Some(8));
                self.set(first, None);
            }
            Mnemonic::Leave => {
                let stack = before.get(Register::RBP).and_then(|it| it.plus(8));
                self.set(Register::RSP, stack);
                self.set(Register::RBP, None);
            }
            Mnemonic::Mov if is_copy(instruction) => {
                self.set(first, before.get(instruction.op1_register()));
            }
            Mnemonic::Lea => self.set(first, pointed_at(instruction, &before)),
            Mnemonic::Add if first != Register::None => self.add(first, constant(instruction)),
            Mnemonic::Sub if first != Register::None => {
                self.add(first, constant(instruction).and_then(i64::checked_neg));
            }
            _ => {
                for used in facts.info(instruction).used_registers() {
                    if !matches!(used.access(), OpAccess::Read | OpAccess::CondRead) {
                        self.set(used.register(), None);
                    }
                }
            }
        }
        self
    }

    pub(crate) fn get(&self, register: Register) -> Option<Value> {
        if register.is_gpr64() { self.0[register.number()] } else { None }
    }

    /// Its distance from the frame address.
    pub fn distance(&self, register: Register) -> Option<i64> {
        match self.get(register)? {
            Value::Frame(it) => Some(it),
            Value::Argument(_) => None,
        }
    }

    /// A write to any part of a register changes its whole value.
    fn set(&mut self, register: Register, value: Option<Value>) {
        let whole = register.full_register();
        if whole.is_gpr64() {
            self.0[whole.number()] = value.filter(|_| register.is_gpr64());
        }
    }

    fn add(&mut self, register: Register, distance: Option<i64>) {
        let sum = self.get(register).zip(distance).and_then(|(value, more)| value.plus(more));
        self.set(register, sum);
    }

    /// Keeps what both agree on; returns whether anything was lost.
    pub fn meet(&mut self, other: &FrameRegisters) -> bool {
        let before = *self;
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine = mine.filter(|it| Some(*it) == theirs);
        }
        *self != before
    }

    /// Only the stack and the frame pointer.
    #[must_use]
    pub fn frame(&self) -> FrameRegisters {
        let mut frame = FrameRegisters::default();
        for register in [Register::RSP, Register::RBP] {
            frame.set(register, self.get(register));
        }
        frame
    }
}

pub(crate) fn is_call(instruction: &Instruction) -> bool {
    matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
}

fn is_copy(instruction: &Instruction) -> bool {
    instruction.op0_kind() == OpKind::Register && instruction.op1_kind() == OpKind::Register
}

/// The address that a `lea` loads, if it is a known register plus a constant.
fn pointed_at(instruction: &Instruction, before: &FrameRegisters) -> Option<Value> {
    let base = before.get(instruction.memory_base())?;
    let plain = instruction.memory_index() == Register::None;
    base.plus(instruction.memory_displacement64().cast_signed()).filter(|_| plain)
}

/// The constant that is the second operand.
pub(crate) fn constant(instruction: &Instruction) -> Option<i64> {
    let constant = matches!(
        instruction.op1_kind(),
        OpKind::Immediate8to64 | OpKind::Immediate32to64 | OpKind::Immediate64
    );
    constant.then(|| instruction.immediate(1).cast_signed())
}
