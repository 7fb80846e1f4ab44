//! What an instruction reads and writes: locations that carry values, and memory.

use iced_x86::{
    ConditionCode, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind,
    Register, UsedMemory, UsedRegister,
};
use norn_binary::FrameRegisters;
use smallvec::SmallVec;

use crate::location::Location;

/// Some locations.
pub(crate) type Locations = SmallVec<[Location; 3]>;

/// The effect of one instruction. Registers that point into the frame carry no value of the program, so
/// using them is not listed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effect {
    /// Locations whose values it computes with.
    pub(crate) values: Locations,
    /// Registers from which it computes an address outside of the frame.
    pub(crate) addresses: Locations,
    /// Locations that it writes.
    pub(crate) written: Locations,
    /// Whether it reads memory outside of the frame.
    pub(crate) loads: bool,
    /// Whether it writes memory outside of the frame.
    pub(crate) stores: bool,
    /// What kind of instruction it is.
    pub(crate) form: Form,
}

/// What kind of instruction it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// It computes something.
    #[default]
    Other,
    /// It only moves a value.
    Copy,
    /// It calls a function, which may change many registers.
    Call,
}

/// Determines effects.
#[derive(Default)]
pub(crate) struct Effects {
    facts: Option<InstructionInfoFactory>,
}

impl Effects {
    /// The effect of an instruction, given the registers before it.
    pub(crate) fn of(&mut self, code: &Instruction, frame: &FrameRegisters) -> Effect {
        if code.is_call_near() || code.is_call_near_indirect() {
            return call(code, frame);
        }
        let facts = self.facts.get_or_insert_with(InstructionInfoFactory::new);
        let info = facts.info(code);
        let form = if is_copy(code) { Form::Copy } else { Form::Other };
        let mut effect = Effect { form, ..Effect::default() };
        for used in info.used_memory() {
            memory(used, frame, code, &mut effect);
        }
        for used in info.used_registers() {
            register(*used, code, frame, &mut effect);
        }
        if code.rflags_read() != 0 {
            effect.values.push(Location::Flags);
        }
        if code.rflags_modified() != 0 {
            effect.written.push(Location::Flags);
        }
        effect
    }
}

fn call(code: &Instruction, frame: &FrameRegisters) -> Effect {
    let mut effect = Effect { form: Form::Call, ..Effect::default() };
    let registers = match code.op0_kind() {
        OpKind::Register => [code.op0_register(), Register::None],
        OpKind::Memory => [code.memory_base(), code.memory_index()],
        _ => return effect,
    };
    let followed = registers.into_iter().filter(|it| frame.distance(*it).is_none());
    effect.addresses.extend(followed.filter_map(Location::of));
    effect.loads = code.op0_kind() == OpKind::Memory && !code.is_ip_rel_memory_operand();
    effect
}

fn memory(used: &UsedMemory, frame: &FrameRegisters, code: &Instruction, effect: &mut Effect) {
    // An address that is only computed, as by `lea` and `nop`, and thread-local memory.
    if used.access() == OpAccess::NoMemAccess || is_thread_local(used.segment()) {
        return;
    }
    let base = frame.distance(used.base());
    if base.is_some() || used.base() == Register::RSP {
        let offset = base.and_then(|it| it.checked_add(used.displacement().cast_signed()));
        let size = u16::try_from(used.memory_size().size()).ok().filter(|it| *it > 0);
        let plain = used.index() == Register::None;
        let slot = offset.and_then(|it| i32::try_from(it).ok()).zip(size).filter(|_| plain);
        let slot = slot.map(|(offset, size)| Location::Slot(offset, size));
        effect.values.extend(slot.filter(|_| reads(used.access())));
        effect.written.extend(slot.filter(|_| writes(used.access())));
        // The index selects an element, so the value depends on it.
        effect.values.extend(Location::of(used.index()));
        return;
    }
    effect.loads |= reads(used.access());
    effect.stores |= writes(used.access()) && code.mnemonic() != Mnemonic::Push;
    for register in [used.base(), used.index()] {
        effect.addresses.extend(Location::of(register));
    }
}

fn register(used: UsedRegister, code: &Instruction, frame: &FrameRegisters, effect: &mut Effect) {
    let Some(location) = Location::of(used.register()) else { return };
    let known = frame.distance(used.register().full_register()).is_some();
    let stack = used.register().full_register() == Register::RSP;
    // `xor eax, eax` does not depend on `eax`.
    let clears = matches!(code.mnemonic(), Mnemonic::Xor | Mnemonic::Sub | Mnemonic::Pxor)
        && code.op0_register() == code.op1_register()
        && code.op1_kind() == OpKind::Register;
    if reads(used.access()) && !known && !stack && !clears && !effect.addresses.contains(&location)
    {
        effect.values.push(location);
    }
    if writes(used.access()) && !stack {
        effect.written.push(location);
    }
}

fn is_thread_local(segment: Register) -> bool {
    matches!(segment, Register::FS | Register::GS)
}

fn reads(access: OpAccess) -> bool {
    !matches!(access, OpAccess::Write | OpAccess::CondWrite | OpAccess::None)
}

fn writes(access: OpAccess) -> bool {
    !matches!(access, OpAccess::Read | OpAccess::CondRead | OpAccess::None)
}

/// Whether an instruction only moves a value, or turns flags into a truth value and back. What compilers
/// insert to move values differs between levels of optimisation, so it is no step of a dependence.
fn is_copy(code: &Instruction) -> bool {
    let mnemonic = code.mnemonic();
    let truth = code.op_count() == 2 && is_immediate(code) && code.immediate(1) == 1;
    matches!(
        mnemonic,
        Mnemonic::Mov
            | Mnemonic::Movzx
            | Mnemonic::Movsx
            | Mnemonic::Movsxd
            | Mnemonic::Cdqe
            | Mnemonic::Cwde
            | Mnemonic::Push
            | Mnemonic::Pop
            | Mnemonic::Movd
            | Mnemonic::Movq
            | Mnemonic::Movss
            | Mnemonic::Movsd
            | Mnemonic::Movaps
            | Mnemonic::Movups
            | Mnemonic::Movapd
            | Mnemonic::Movupd
            | Mnemonic::Movdqa
            | Mnemonic::Movdqu
    ) || is_set(code)
        || truth && matches!(mnemonic, Mnemonic::And | Mnemonic::Test | Mnemonic::Xor)
}

/// Whether an instruction turns flags into a truth value.
pub(crate) fn is_set(code: &Instruction) -> bool {
    code.condition_code() != ConditionCode::None
        && code.op_count() == 1
        && code.flow_control() == FlowControl::Next
}

pub(crate) fn is_immediate(code: &Instruction) -> bool {
    matches!(
        code.op1_kind(),
        OpKind::Immediate8
            | OpKind::Immediate8to16
            | OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate16
            | OpKind::Immediate32
            | OpKind::Immediate32to64
            | OpKind::Immediate64
    )
}
