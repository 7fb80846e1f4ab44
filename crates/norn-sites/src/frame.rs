//! The positions of registers in the frame, before each instruction of a function.

use iced_x86::{FlowControl, InstructionInfoFactory};
use norn_binary::FrameRegisters;

use crate::{cfg::Cfg, function::Function};

/// The registers before each instruction.
pub(crate) fn frames(function: &Function, cfg: &Cfg) -> Vec<FrameRegisters> {
    let mut states = States {
        function,
        cfg,
        entry: vec![None; cfg.blocks.len()],
        facts: InstructionInfoFactory::new(),
    };
    if !cfg.blocks.is_empty() {
        states.follow(0, FrameRegisters::at_entry());
    }
    let before = states.before();
    // Exception handlers have no edges to them, but the frame of the body.
    let body = body(function, &before);
    for block in 0..cfg.len() {
        if states.entry[block as usize].is_none() {
            states.follow(block, body);
        }
    }
    states.before().into_iter().map(Option::unwrap_or_default).collect()
}

/// The stack and frame pointer at the first call.
fn body(function: &Function, before: &[Option<FrameRegisters>]) -> FrameRegisters {
    let mut calls = function.code.iter().zip(before).filter(|(it, _)| {
        matches!(it.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
    });
    calls.find_map(|(_, it)| *it).map(|it| it.frame()).unwrap_or_default()
}

struct States<'f> {
    function: &'f Function,
    cfg: &'f Cfg,
    /// By block: the registers at its begin, if it was reached.
    entry: Vec<Option<FrameRegisters>>,
    facts: InstructionInfoFactory,
}

impl States<'_> {
    fn follow(&mut self, block: u32, registers: FrameRegisters) {
        let mut work = vec![(block, registers)];
        while let Some((block, registers)) = work.pop() {
            let changed = match &mut self.entry[block as usize] {
                Some(entry) => entry.meet(&registers),
                entry => entry.replace(registers).is_none(),
            };
            let (true, Some(mut state)) = (changed, self.entry[block as usize]) else { continue };
            let block = self.cfg.block(block);
            for at in block.first..block.end {
                state = state.after(self.function.instruction(at), &mut self.facts);
            }
            work.extend(block.successors.iter().map(|it| (*it, state)));
        }
    }

    fn before(&mut self) -> Vec<Option<FrameRegisters>> {
        let mut all = vec![None; self.function.code.len()];
        for (block, entry) in self.cfg.blocks.iter().zip(&self.entry) {
            let Some(mut state) = *entry else { continue };
            for at in block.first..block.end {
                all[at as usize] = Some(state);
                state = state.after(self.function.instruction(at), &mut self.facts);
            }
        }
        all
    }
}
