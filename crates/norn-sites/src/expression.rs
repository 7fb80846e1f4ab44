//! Values as expressions over reads: a small symbolic execution backwards from a use.
//!
//! A value is followed only while a single definition reaches its use. What joins from several ways is
//! unknown, and so is what no rule here describes.

use iced_x86::{ConditionCode, Instruction, Mnemonic, OpKind, Register};
use norn_model::{Comparison, Condition, Expression, Operator};
use rustc_hash::FxHashMap;

use crate::{
    dependence::{Context, destination},
    effect::is_set,
    hook::{Hook, is_call},
    linear::Values,
    location::Location,
    reaching::Definition,
};

/// Maximum number of instructions in one condition.
const MAX_INSTRUCTIONS: u32 = 64;

/// Evaluates instructions of a function.
pub(crate) struct Symbolic<'a, 'f, 'r> {
    context: &'a Context<'a>,
    values: &'a mut Values<'f, 'r>,
    /// By instruction: the site of its read.
    reads: &'a FxHashMap<u32, u64>,
    left: u32,
}

impl<'a, 'f, 'r> Symbolic<'a, 'f, 'r> {
    pub(crate) fn new(
        context: &'a Context<'a>,
        values: &'a mut Values<'f, 'r>,
        reads: &'a FxHashMap<u32, u64>,
    ) -> Self {
        Symbolic { context, values, reads, left: MAX_INSTRUCTIONS }
    }

    /// Begins a new condition.
    pub(crate) fn restart(&mut self) {
        self.left = MAX_INSTRUCTIONS;
    }

    /// The value of a location before an instruction.
    pub(crate) fn before(&mut self, at: u32, location: Location) -> Expression {
        let definitions = self.values.reaching.before(at, location);
        match definitions[..] {
            [Definition::Instruction(from)] if self.left > 0 => {
                self.left -= 1;
                self.defined(from, location)
            }
            _ => Expression::Unknown,
        }
    }

    /// The condition under which a conditional instruction does what it does.
    pub(crate) fn holds(&mut self, at: u32) -> Condition {
        let code = self.values.function.instruction(at).condition_code();
        let definitions = self.values.reaching.before(at, Location::Flags);
        let [Definition::Instruction(from)] = definitions[..] else { return Condition::Unknown };
        let instruction = *self.values.function.instruction(from);
        let bits = bits(&instruction, 0);
        let zero = Expression::Constant(0);
        match instruction.mnemonic() {
            Mnemonic::Cmp | Mnemonic::Sub => {
                let (left, right) = (self.operand(from, 0), self.operand(from, 1));
                condition(code, bits, left, right)
            }
            Mnemonic::Test | Mnemonic::And => {
                let (left, right) = (self.operand(from, 0), self.operand(from, 1));
                let both = if left == right { left } else { binary(Operator::And, left, right) };
                condition(code, bits, both, zero)
            }
            Mnemonic::Add | Mnemonic::Or | Mnemonic::Xor | Mnemonic::Inc | Mnemonic::Dec
                if matches!(
                    code,
                    ConditionCode::e | ConditionCode::ne | ConditionCode::s | ConditionCode::ns
                ) =>
            {
                let result = self.defined(from, Location::Flags);
                condition(code, bits, result, zero)
            }
            _ => Condition::Unknown,
        }
    }

    /// The value that an instruction computes.
    fn defined(&mut self, at: u32, location: Location) -> Expression {
        let code = *self.values.function.instruction(at);
        if is_call(&code) {
            return self.result(at, &code);
        }
        let first = Location::of(code.op0_register());
        let other = code.op0_kind() == OpKind::Register && first != Some(location);
        if other && location != Location::Flags && code.mnemonic() != Mnemonic::Cdqe {
            return Expression::Unknown;
        }
        let width = bits(&code, 0);
        let narrow = |it: Expression| unsigned(width, it);
        match code.mnemonic() {
            Mnemonic::Mov => narrow(self.operand(at, 1)),
            Mnemonic::Push => self.operand(at, 0),
            Mnemonic::Movzx => unsigned(bits(&code, 1), self.operand(at, 1)),
            Mnemonic::Movsx | Mnemonic::Movsxd => {
                let source = Box::new(self.operand(at, 1));
                narrow(Expression::Signed(bits(&code, 1), source))
            }
            Mnemonic::Cdqe => {
                Expression::Signed(32, Box::new(self.before(at, Location::General(0))))
            }
            Mnemonic::Lea => narrow(self.address(at, &code)),
            Mnemonic::Inc => narrow(binary(Operator::Add, self.operand(at, 0), constant(1))),
            Mnemonic::Dec => narrow(binary(Operator::Subtract, self.operand(at, 0), constant(1))),
            Mnemonic::Xor if code.op0_register() == code.op1_register() => constant(0),
            _ if is_set(&code) => Expression::Truth(Box::new(self.holds(at))),
            mnemonic => match operator(mnemonic) {
                // `imul` with three operands does not use the first one.
                Some(operator) if code.op_count() <= 3 && code.op_count() >= 2 => {
                    let left = u32::from(code.op_count() == 3);
                    let operands = (self.operand(at, left), self.operand(at, left + 1));
                    narrow(binary(operator, unsigned(width, operands.0), operands.1))
                }
                _ => Expression::Unknown,
            },
        }
    }

    fn result(&self, at: u32, code: &Instruction) -> Expression {
        let callee = self.context.callees.get(self.context.view.callee(code));
        match callee.hook {
            Some(Hook::AtomicRead) => {
                self.reads.get(&at).map_or(Expression::Unknown, |it| Expression::Read(*it))
            }
            Some(_) => Expression::Unknown,
            None => destination(self.context.view, self.context.names, code)
                .map_or(Expression::Unknown, Expression::Result),
        }
    }

    /// The value of an operand.
    pub(crate) fn operand(&mut self, at: u32, operand: u32) -> Expression {
        let code = *self.values.function.instruction(at);
        match code.op_kind(operand) {
            OpKind::Register => match Location::of(code.op_register(operand)) {
                Some(location) => self.before(at, location),
                None => Expression::Unknown,
            },
            OpKind::Memory => match (self.reads.get(&at), self.values.slot(at, &code)) {
                (Some(site), _) => unsigned(bits(&code, operand), Expression::Read(*site)),
                (None, Some(slot)) => self.before(at, slot),
                (None, None) => Expression::Unknown,
            },
            _ => constant(code.immediate(operand)),
        }
    }

    /// The address that `lea` computes.
    fn address(&mut self, at: u32, code: &Instruction) -> Expression {
        let mut sum = constant(code.memory_displacement64());
        if code.is_ip_rel_memory_operand() {
            return sum;
        }
        let scale = u64::from(code.memory_index_scale());
        for (register, scale) in [(code.memory_base(), 1), (code.memory_index(), scale)] {
            if register != Register::None {
                let value = match Location::of(register) {
                    Some(location) => self.before(at, location),
                    None => Expression::Unknown,
                };
                let part = binary(Operator::Multiply, value, constant(scale));
                sum = binary(Operator::Add, sum, part);
            }
        }
        sum
    }
}

/// The condition that a condition code stands for after a comparison.
fn condition(code: ConditionCode, bits: u8, left: Expression, right: Expression) -> Condition {
    let compare = |comparison, left, right| Condition::Compare(comparison, bits, left, right);
    let not = Condition::negated;
    match code {
        ConditionCode::e => compare(Comparison::Equal, left, right),
        ConditionCode::ne => not(compare(Comparison::Equal, left, right)),
        ConditionCode::l => compare(Comparison::Less, left, right),
        ConditionCode::ge => not(compare(Comparison::Less, left, right)),
        ConditionCode::g => compare(Comparison::Less, right, left),
        ConditionCode::le => not(compare(Comparison::Less, right, left)),
        ConditionCode::b => compare(Comparison::Below, left, right),
        ConditionCode::ae => not(compare(Comparison::Below, left, right)),
        ConditionCode::a => compare(Comparison::Below, right, left),
        ConditionCode::be => not(compare(Comparison::Below, right, left)),
        ConditionCode::s | ConditionCode::ns => {
            let difference = binary(Operator::Subtract, left, right);
            let negative = compare(Comparison::Less, difference, constant(0));
            if code == ConditionCode::s { negative } else { not(negative) }
        }
        _ => Condition::Unknown,
    }
}

fn operator(mnemonic: Mnemonic) -> Option<Operator> {
    Some(match mnemonic {
        Mnemonic::Add => Operator::Add,
        Mnemonic::Sub => Operator::Subtract,
        Mnemonic::Imul => Operator::Multiply,
        Mnemonic::And => Operator::And,
        Mnemonic::Or => Operator::Or,
        Mnemonic::Xor => Operator::Xor,
        Mnemonic::Shl => Operator::ShiftLeft,
        Mnemonic::Shr => Operator::ShiftRight,
        _ => return None,
    })
}

fn constant(value: u64) -> Expression {
    Expression::Constant(value)
}

fn binary(operator: Operator, left: Expression, right: Expression) -> Expression {
    if left == Expression::Unknown || right == Expression::Unknown {
        return Expression::Unknown;
    }
    Expression::Binary(operator, Box::new((left, right)))
}

fn unsigned(bits: u8, value: Expression) -> Expression {
    match value {
        Expression::Unknown => Expression::Unknown,
        value if bits >= 64 => value,
        // A value that is narrow enough already.
        Expression::Unsigned(less, _) if less <= bits => value,
        value => Expression::Unsigned(bits, Box::new(value)),
    }
}

/// The size of an operand in bits.
pub(crate) fn bits(code: &Instruction, operand: u32) -> u8 {
    let bytes = match code.op_kind(operand) {
        OpKind::Register => code.op_register(operand).size(),
        OpKind::Memory => code.memory_size().size(),
        _ => 8,
    };
    u8::try_from(bytes * 8).unwrap_or(u8::MAX)
}
