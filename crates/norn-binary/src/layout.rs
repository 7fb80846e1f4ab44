//! Determines the position of registers in the frame of a function, at each of its calls.
//!
//! The *frame address* is the canonical frame address of DWARF: the stack pointer just before the
//! call of the function. At the entry of a function its stack pointer is 8 bytes below. From there
//! its code is interpreted abstractly: for each register, its distance from the frame address or
//! from the function's first argument is tracked while it is certain. Where control flow joins,
//! only what all paths agree on is kept.
//!
//! Not all control flow is visible: `switch` tables and exception handlers are not. Unreachable
//! code is assumed to begin with the stack and frame pointer of the function's first call, and with
//! no other known register. In a function with a table, registers are only trusted from one call to
//! the next, because a `switch` case that another one falls into does not look like an entry.

use std::ops::Range;

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, Register,
};
use rustc_hash::FxHashMap;

use crate::frame_register::{FrameRegisters as Registers, Value, is_call};

/// What is certain at a call: distances from the frame address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FrameState {
    /// The stack pointer.
    pub(crate) stack: Option<i64>,
    /// The register that compilers use as frame pointer.
    pub(crate) frame: Option<i64>,
    /// The first argument.
    pub(crate) argument: Option<i64>,
    /// The first argument, relative to the first argument of the function itself.
    pub(crate) forwarded: Option<i64>,
}

/// The calls of one function, by return address.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    spots: FxHashMap<u64, FrameState>,
    /// What is certain at its first call, and nearly everywhere.
    body: FrameState,
}

impl Layout {
    /// Analyses the code of a function with these ranges; it begins at `start`.
    pub(crate) fn read(code: &[(u64, &[u8])], parts: &[Range<u64>], start: u64) -> Layout {
        let Some(mut flow) = Flow::decode(code, parts) else { return Layout::default() };
        flow.enter(start);
        flow.enter_unseen();
        flow.finish()
    }

    /// What is certain at the call with this return address.
    pub(crate) fn at(&self, returns_to: u64) -> Option<FrameState> {
        self.spots.get(&returns_to).copied()
    }

    /// What is certain where nothing else is known.
    pub(crate) fn body(&self) -> FrameState {
        self.body
    }
}

/// The instructions of a function with these ranges.
pub(crate) fn instructions(
    code: &[(u64, &[u8])],
    parts: &[Range<u64>],
) -> Option<Vec<Instruction>> {
    let mut list = Vec::new();
    for part in parts {
        let bytes = code.iter().find_map(|(start, bytes)| {
            let from = usize::try_from(part.start.checked_sub(*start)?).ok()?;
            let to = usize::try_from(part.end.checked_sub(*start)?).ok()?;
            bytes.get(from..to)
        })?;
        list.extend(&mut Decoder::with_ip(64, bytes, part.start, DecoderOptions::NONE));
    }
    Some(list)
}

struct Flow {
    code: Vec<Instruction>,
    /// By address: the index in `code`.
    index: FxHashMap<u64, usize>,
    /// By instruction: the registers before it, if it was reached.
    before: Vec<Option<Registers>>,
    has_table: bool,
    facts: InstructionInfoFactory,
}

impl Flow {
    fn decode(code: &[(u64, &[u8])], parts: &[Range<u64>]) -> Option<Flow> {
        let list = instructions(code, parts)?;
        let index = list.iter().enumerate().map(|(at, it)| (it.ip(), at)).collect();
        let before = vec![None; list.len()];
        let has_table = list.iter().any(|it| it.flow_control() == FlowControl::IndirectBranch);
        Some(Flow { code: list, index, before, has_table, facts: InstructionInfoFactory::new() })
    }

    fn enter(&mut self, start: u64) {
        let registers = Registers::at_entry();
        if let Some(at) = self.index.get(&start).copied() {
            self.follow(at, registers);
        }
    }

    /// Handles code that no control flow reaches.
    fn enter_unseen(&mut self) {
        let Some(frame) = self.first_call().map(|it| it.frame()) else { return };
        for at in 0..self.code.len() {
            if self.before[at].is_none() && !is_padding(&self.code[at]) {
                self.follow(at, frame);
            }
        }
    }

    fn first_call(&self) -> Option<Registers> {
        let mut calls = self.code.iter().zip(&self.before).filter(|(it, _)| is_call(it));
        calls.find_map(|(_, before)| *before)
    }

    fn follow(&mut self, at: usize, registers: Registers) {
        let mut work = vec![(at, registers)];
        while let Some((at, registers)) = work.pop() {
            let changed = match &mut self.before[at] {
                Some(before) => before.meet(&registers),
                before => before.replace(registers).is_none(),
            };
            let (true, Some(before)) = (changed, self.before[at]) else { continue };
            let instruction = self.code[at];
            let after = self.after(&instruction, before);
            let next = self.successors(&instruction);
            work.extend(next.into_iter().flatten().map(|it| (it, after)));
        }
    }

    fn successors(&self, instruction: &Instruction) -> [Option<usize>; 2] {
        let next = || self.index.get(&instruction.next_ip()).copied();
        let target = || self.index.get(&instruction.near_branch_target()).copied();
        match instruction.flow_control() {
            FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall => [next(), None],
            FlowControl::ConditionalBranch => [next(), target()],
            FlowControl::UnconditionalBranch => [target(), None],
            _ => [None, None],
        }
    }

    /// The registers after an instruction.
    fn after(&mut self, instruction: &Instruction, before: Registers) -> Registers {
        if self.has_table && is_call(instruction) {
            return before.frame();
        }
        before.after(instruction, &mut self.facts)
    }

    fn finish(self) -> Layout {
        let body = self.first_call().map(|it| frame_state(&it)).unwrap_or_default();
        let calls = self.code.iter().zip(&self.before).filter(|(it, _)| is_call(it));
        let spots = calls
            .filter_map(|(call, before)| Some((call.next_ip(), frame_state(before.as_ref()?))));
        Layout {
            spots: spots.collect(),
            body: FrameState { argument: None, forwarded: None, ..body },
        }
    }
}

fn frame_state(registers: &Registers) -> FrameState {
    let forwarded = match registers.get(Register::RDI) {
        Some(Value::Argument(it)) => Some(it),
        _ => None,
    };
    FrameState {
        stack: registers.distance(Register::RSP),
        frame: registers.distance(Register::RBP),
        argument: registers.distance(Register::RDI),
        forwarded,
    }
}

fn is_padding(instruction: &Instruction) -> bool {
    matches!(instruction.mnemonic(), Mnemonic::Nop | Mnemonic::Int3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(bytes: &[u8]) -> Layout {
        let part = 0x1000..0x1000 + bytes.len() as u64;
        Layout::read(&[(0x1000, bytes)], &[part], 0x1000)
    }

    /// push rbp; mov rbp, rsp; sub rsp, 32; lea rax, [rbp-20]; mov rdi, rax; call
    const UNOPTIMISED: &[u8] = &[
        0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20, 0x48, 0x8d, 0x45, 0xec, 0x48, 0x89, 0xc7,
        0xe8, 0, 0, 0, 0,
    ];

    #[test]
    fn a_frame_pointer() {
        let frame_state =
            FrameState { stack: Some(-48), frame: Some(-16), argument: Some(-36), forwarded: None };
        assert_eq!(layout(UNOPTIMISED).at(0x1014), Some(frame_state));
    }

    /// test eax, eax; je +7; lea rdi, [rsp+8]; jmp +5; lea rdi, [rsp+16]; call
    #[test]
    fn values_that_differ_between_paths_are_unknown() {
        let bytes = [
            0x85, 0xc0, 0x74, 0x07, 0x48, 0x8d, 0x7c, 0x24, 0x08, 0xeb, 0x05, 0x48, 0x8d, 0x7c,
            0x24, 0x10, 0xe8, 0, 0, 0, 0,
        ];
        assert_eq!(
            layout(&bytes).at(0x1015),
            Some(FrameState { stack: Some(-8), ..FrameState::default() })
        );
    }

    /// and rsp, -64; lea rdi, [rsp+8]; call
    #[test]
    fn an_aligned_stack_has_an_unknown_position() {
        let bytes = [0x48, 0x83, 0xe4, 0xc0, 0x48, 0x8d, 0x7c, 0x24, 0x08, 0xe8, 0, 0, 0, 0];
        assert_eq!(layout(&bytes).at(0x100e), Some(FrameState::default()));
    }

    /// push rbx; mov rbx, rdi; call; lea rdi, [rbx+4]; call
    #[test]
    fn an_argument_is_forwarded() {
        let bytes =
            [0x53, 0x48, 0x89, 0xfb, 0xe8, 0, 0, 0, 0, 0x48, 0x8d, 0x7b, 0x04, 0xe8, 0, 0, 0, 0];
        let frame_state =
            FrameState { stack: Some(-16), forwarded: Some(4), ..FrameState::default() };
        assert_eq!(layout(&bytes).at(0x1012), Some(frame_state));
    }

    /// sub rsp, 24; call; ret; lea rdi, [rsp]; call
    #[test]
    fn unreachable_code_has_the_frame() {
        let bytes = [
            0x48, 0x83, 0xec, 0x18, 0xe8, 0, 0, 0, 0, 0xc3, 0x48, 0x8d, 0x3c, 0x24, 0xe8, 0, 0, 0,
            0,
        ];
        let frame_state =
            FrameState { stack: Some(-32), argument: Some(-32), ..FrameState::default() };
        assert_eq!(layout(&bytes).at(0x1013), Some(frame_state));
    }
}
