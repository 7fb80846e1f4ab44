//! Reaching definitions: which instructions may have written what an instruction uses.
//!
//! They are searched backwards from each use instead of for all definitions at once: slices ask for few
//! locations of few instructions. What a search finds at the begin of a block is kept.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::{
    cfg::Cfg,
    effect::{Effect, Form},
    location::Location,
};

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Definition {
    /// An instruction of the function.
    Instruction(u32),
    /// The function got it from its caller.
    Entry(Location),
}

/// Some definitions, ascending.
pub(crate) type Definitions = SmallVec<[Definition; 2]>;

/// Maximum number of blocks that one search visits. Only generated code has more between a definition and
/// its use.
const MAX_BLOCKS: usize = 2_000;

/// The definitions of one function.
pub(crate) struct Reaching<'f> {
    cfg: &'f Cfg,
    effects: &'f [Effect],
    at_begin: FxHashMap<(u32, Location), Definitions>,
}

impl<'f> Reaching<'f> {
    pub(crate) fn new(cfg: &'f Cfg, effects: &'f [Effect]) -> Self {
        Reaching { cfg, effects, at_begin: FxHashMap::default() }
    }

    /// The definitions of a location that reach an instruction. What a call leaves behind in a register
    /// that it need not preserve is no definition, unless it is a result.
    pub(crate) fn before(&mut self, instruction: u32, location: Location) -> Definitions {
        let block = self.cfg.block_of[instruction as usize];
        let mut found = Definitions::new();
        let first = self.cfg.block(block).first;
        if !self.scan(first..instruction, location, &mut found) {
            for definition in self.at_begin_of(block, location) {
                push(definition, &mut found);
            }
        }
        found.sort_unstable();
        found
    }

    fn at_begin_of(&mut self, block: u32, location: Location) -> Definitions {
        if let Some(known) = self.at_begin.get(&(block, location)) {
            return known.clone();
        }
        let found = self.search(block, location);
        self.at_begin.insert((block, location), found.clone());
        found
    }

    fn search(&self, block: u32, location: Location) -> Definitions {
        let mut found = Definitions::new();
        let mut seen = FxHashSet::default();
        let mut left = vec![block];
        while let Some(block) = left.pop() {
            if block == 0 {
                push(Definition::Entry(location), &mut found);
            }
            for from in &self.cfg.block(block).predecessors {
                let before = self.cfg.block(*from);
                if seen.len() < MAX_BLOCKS
                    && seen.insert(*from)
                    && !self.scan(before.first..before.end, location, &mut found)
                {
                    left.push(*from);
                }
            }
        }
        found
    }

    /// Searches instructions backwards; returns whether the location is certainly written there.
    fn scan(
        &self,
        range: std::ops::Range<u32>,
        location: Location,
        found: &mut Definitions,
    ) -> bool {
        for at in range.rev() {
            let effect = &self.effects[at as usize];
            if effect.form == Form::Call && location.is_lost_in_calls() {
                if location.is_result() {
                    push(Definition::Instruction(at), found);
                }
                return true;
            }
            for written in &effect.written {
                if written.overlaps(location) {
                    push(Definition::Instruction(at), found);
                    if written.covers(location) {
                        return true;
                    }
                }
            }
        }
        false
    }
}

fn push(definition: Definition, found: &mut Definitions) {
    if !found.contains(&definition) {
        found.push(definition);
    }
}
