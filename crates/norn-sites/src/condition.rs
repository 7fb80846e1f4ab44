//! The conditions of failure sites: which values of reads lead there.
//!
//! A block is executed if one of the branches on which it depends takes the way to it, and that branch is
//! executed itself. A loop keeps running if the branch that leaves it does not take that way. An access
//! through a null pointer and a division by zero fail.

use iced_x86::{FlowControl, Instruction, Mnemonic};
use norn_model::{Comparison, Condition, Expression, PotentialFailureKind as Kind};
use rustc_hash::FxHashMap;

use crate::{
    control_dependence::Branches,
    dependence::{Analysed, Context},
    dominators::Dominators,
    expression::{Symbolic, bits},
    linear::Values,
    location::{Location, RESULT},
    seed::Seed,
};

/// How many branches around a failure site are part of its condition. Those further out decide whether
/// the program comes near it at all, not whether it fails.
const MAX_DEPTH: u32 = 3;

/// The condition of a place in a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlaceCondition {
    /// It is reached whenever the function is called.
    Entry,
    /// It is reached, or fails, under this condition.
    When(Condition),
}

/// Determines conditions in one function.
pub(crate) struct Conditions<'a, 'f, 'r> {
    analysed: &'a Analysed<'a>,
    control: &'a [Branches],
    dominators: Dominators,
    symbolic: Symbolic<'a, 'f, 'r>,
}

impl<'a, 'f, 'r> Conditions<'a, 'f, 'r> {
    pub(crate) fn new(
        context: &'a Context<'a>,
        analysed: &'a Analysed<'a>,
        control: &'a [Branches],
        reads: &'a FxHashMap<u32, u64>,
        values: &'a mut Values<'f, 'r>,
    ) -> Self {
        let blocks = analysed.cfg.blocks.iter();
        // The last node has no edges: a graph has at least its root.
        let edges = blocks.map(|it| it.successors.to_vec()).chain([Vec::new()]);
        let dominators = Dominators::new(&edges.collect::<Vec<_>>(), 0);
        let symbolic = Symbolic::new(context, values, reads);
        Conditions { analysed, control, dominators, symbolic }
    }

    /// The condition of a failure site.
    pub(crate) fn of(&mut self, seed: &Seed) -> PlaceCondition {
        self.symbolic.restart();
        match seed.kind {
            Kind::Assertion | Kind::ErrorMessage | Kind::Free => self.reached(seed.instruction),
            Kind::Loop => PlaceCondition::When(self.kept(seed)),
            Kind::Access => PlaceCondition::When(self.zero(seed)),
            Kind::Output | Kind::Invariant => PlaceCondition::When(Condition::Unknown),
        }
    }

    /// The condition under which an instruction is executed.
    pub(crate) fn reached(&mut self, at: u32) -> PlaceCondition {
        let block = self.analysed.cfg.block_of[at as usize];
        if self.control[block as usize].is_empty() {
            return PlaceCondition::Entry;
        }
        PlaceCondition::When(self.block(block, &mut Vec::new()))
    }

    fn block(&mut self, block: u32, path: &mut Vec<u32>) -> Condition {
        // A branch that comes after the block decides about the next round of a loop, in which the reads may
        // see something else.
        let is_earlier = |it: &&(u32, u32)| !self.dominators.dominates(block, it.0);
        let branches: Branches =
            self.control[block as usize].iter().filter(is_earlier).copied().collect();
        if branches.is_empty() || path.contains(&block) || path.len() >= MAX_DEPTH as usize {
            return Condition::Known(true);
        }
        path.push(block);
        let ways = branches.iter().map(|(branch, successor)| {
            let taken = self.taken(*branch, *successor);
            let around = self.block(*branch, path);
            if around == Condition::Known(true) {
                taken
            } else {
                Condition::All(vec![taken, around])
            }
        });
        let mut ways: Vec<_> = ways.collect();
        path.pop();
        if ways.len() == 1 { ways.swap_remove(0) } else { Condition::Any(ways) }
    }

    /// The condition under which the branch at the end of a block leads to a successor.
    fn taken(&mut self, block: u32, successor: u32) -> Condition {
        let at = self.analysed.cfg.block(block).last();
        let code = self.analysed.function.instruction(at);
        if !code.is_jcc_short_or_near() {
            return Condition::Unknown;
        }
        let target = self.analysed.function.at(code.near_branch_target());
        let jumps = target.map(|it| self.analysed.cfg.block_of[it as usize]) == Some(successor);
        let holds = self.symbolic.holds(at);
        if jumps { holds } else { holds.negated() }
    }

    /// The condition under which a branch stays in its loop.
    fn kept(&mut self, seed: &Seed) -> Condition {
        let block = self.analysed.cfg.block_of[seed.instruction as usize];
        let inside = |it: &&u32| seed.within.as_ref().is_some_and(|within| within.contains(it));
        let successors = self.analysed.cfg.block(block).successors.clone();
        match successors.iter().find(inside) {
            Some(successor) => self.taken(block, *successor),
            None => Condition::Unknown,
        }
    }

    /// The condition under which a pointer or a divisor is zero.
    fn zero(&mut self, seed: &Seed) -> Condition {
        let at = seed.instruction;
        let code = self.analysed.function.instruction(at);
        let effect = &self.analysed.effects[at as usize];
        let zero = Expression::Constant(0);
        if matches!(code.mnemonic(), Mnemonic::Div | Mnemonic::Idiv) {
            let (divisor, bits) = (self.symbolic.operand(at, 0), bits(code, 0));
            return Condition::Compare(Comparison::Equal, bits, divisor, zero);
        }
        match Location::of(code.memory_base()).filter(|it| effect.addresses[..] == [*it]) {
            Some(pointer) => {
                let value = self.symbolic.before(at, pointer);
                Condition::Compare(Comparison::Equal, 64, value, zero)
            }
            None => Condition::Unknown,
        }
    }

    /// The value that the function returns.
    pub(crate) fn result(&mut self) -> Expression {
        self.symbolic.restart();
        let code = &self.analysed.function.code;
        let is_return = |it: &Instruction| it.flow_control() == FlowControl::Return;
        let mut returns = (0..).zip(code).filter(|it| is_return(it.1)).map(|it| it.0);
        match (returns.next(), returns.next()) {
            (Some(at), None) => self.symbolic.before(at, RESULT),
            _ => Expression::Unknown,
        }
    }
}
