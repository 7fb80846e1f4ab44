//! The control-flow graph of a function: its basic blocks and the edges between them.

use iced_x86::{FlowControl, Instruction, Mnemonic};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::function::Function;

/// The indices of blocks.
pub(crate) type Blocks = SmallVec<[u32; 2]>;

/// By instruction: the addresses to which an indirect jump leads.
pub(crate) type Tables = FxHashMap<u32, Vec<u64>>;

/// Instructions that are executed one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    /// Its first instruction.
    pub(crate) first: u32,
    /// The instruction behind its last one.
    pub(crate) end: u32,
    /// The blocks that may follow.
    pub(crate) successors: Blocks,
    /// The blocks that it may follow.
    pub(crate) predecessors: Blocks,
}

impl Block {
    /// Its last instruction.
    pub(crate) fn last(&self) -> u32 {
        self.end.saturating_sub(1)
    }
}

/// The control-flow graph of a function. The first block is the entry, unless there is no code.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cfg {
    /// By ascending index of their instructions.
    pub(crate) blocks: Vec<Block>,
    /// By instruction: its block.
    pub(crate) block_of: Vec<u32>,
}

impl Cfg {
    /// Builds the graph. `returns` decides whether a call returns.
    pub(crate) fn build(
        function: &Function,
        tables: &Tables,
        returns: &dyn Fn(&Instruction) -> bool,
    ) -> Cfg {
        let edges = |at: u32| successors(function, at, tables, returns);
        let mut leads = vec![false; function.code.len()];
        for at in 0..function.len() {
            if let Some(targets) = edges(at) {
                for target in targets {
                    leads[target as usize] = true;
                }
                if let Some(next) = leads.get_mut(at as usize + 1) {
                    *next = true;
                }
            }
        }
        let mut cfg = Cfg::default();
        for (at, leads) in (0..).zip(&leads) {
            if *leads || at == 0 {
                cfg.blocks.push(Block { first: at, end: at, ..Block::default() });
            }
            cfg.block_of.push(cfg.len() - 1);
            cfg.blocks.last_mut().into_iter().for_each(|it| it.end = at + 1);
        }
        cfg.connect(&edges);
        cfg
    }

    /// The number of blocks.
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.blocks.len()).unwrap_or(u32::MAX)
    }

    /// The block with an index.
    pub(crate) fn block(&self, block: u32) -> &Block {
        &self.blocks[block as usize]
    }

    /// The block of an instruction.
    pub(crate) fn around(&self, instruction: u32) -> &Block {
        self.block(self.block_of[instruction as usize])
    }

    /// By block: whether control flow from the entry leads there. Exception handlers are not seen.
    pub(crate) fn reachable(&self) -> Vec<bool> {
        let mut reached = vec![false; self.blocks.len()];
        let mut left: Vec<u32> = (0..self.len().min(1)).collect();
        while let Some(block) = left.pop() {
            if !std::mem::replace(&mut reached[block as usize], true) {
                left.extend(&self.block(block).successors);
            }
        }
        reached
    }

    fn connect(&mut self, edges: &dyn Fn(u32) -> Option<Vec<u32>>) {
        for from in 0..self.len() {
            let end = self.block(from).end;
            let next = || (end as usize) < self.block_of.len();
            let targets =
                edges(end - 1).unwrap_or_else(|| next().then_some(end).into_iter().collect());
            let mut to: Blocks = targets.iter().map(|it| self.block_of[*it as usize]).collect();
            to.sort_unstable();
            to.dedup();
            for block in &to {
                self.blocks[*block as usize].predecessors.push(from);
            }
            self.blocks[from as usize].successors = to;
        }
    }
}

/// The instructions to which an instruction leads, if it ends a block.
fn successors(
    function: &Function,
    at: u32,
    tables: &Tables,
    returns: &dyn Fn(&Instruction) -> bool,
) -> Option<Vec<u32>> {
    let code = function.instruction(at);
    let next = || function.at(code.next_ip());
    let target = || function.at(code.near_branch_target());
    match code.flow_control() {
        FlowControl::Call if code.mnemonic() == Mnemonic::Syscall => None,
        FlowControl::Call | FlowControl::IndirectCall => (!returns(code)).then(Vec::new),
        FlowControl::ConditionalBranch => Some([next(), target()].into_iter().flatten().collect()),
        FlowControl::UnconditionalBranch => Some(target().into_iter().collect()),
        FlowControl::IndirectBranch => {
            let targets = tables.get(&at).into_iter().flatten();
            Some(targets.filter_map(|it| function.at(*it)).collect())
        }
        FlowControl::Return | FlowControl::Exception => Some(Vec::new()),
        FlowControl::Next | FlowControl::XbeginXabortXend | FlowControl::Interrupt => None,
    }
}
