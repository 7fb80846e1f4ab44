//! The dependences of one function: a program dependence graph, with what leads out of the function.
//!
//! Ferrante, Ottenstein and Warren (1987) and, for calls, Horwitz, Reps and Binkley (1990).

use std::collections::BTreeMap;

use iced_x86::{FlowControl, Instruction};
use norn_binary::CodeView;
use norn_model::Expression;
use rustc_hash::FxHashMap;

use crate::{
    callee::Callees,
    cfg::{Cfg, Tables},
    condition::{Conditions, PlaceCondition},
    control_dependence::{Branches, control_dependence},
    effect::{Effect, Effects, Form},
    frame::frames,
    function::Function,
    hook::{announced_reads, is_call},
    jump_table::jump_tables,
    linear::Values,
    location::{ARGUMENTS, RESULT},
    reaching::{Definition, Definitions, Reaching},
    seed::{Seed, seeds},
};

/// How often control flow is followed into tables that were found by following it.
const MAX_ROUNDS: usize = 4;

/// The dependences of one function, by instruction.
#[derive(Debug, Default)]
pub(crate) struct Dependences {
    /// The address behind each instruction.
    pub(crate) behind: Vec<u64>,
    /// Where the values come from that it computes with.
    pub(crate) values: Vec<Definitions>,
    /// Where the address comes from at which it accesses memory.
    pub(crate) addresses: Vec<Definitions>,
    /// Whether it only moves a value.
    pub(crate) copies: Vec<bool>,
    /// By block: the branches that decide whether it is executed.
    pub(crate) control: Vec<Branches>,
    /// By block: whether control flow from the entry of the function leads there.
    pub(crate) reachable: Vec<bool>,
    /// Its block.
    pub(crate) block_of: Vec<u32>,
    /// By block: its last instruction.
    pub(crate) last: Vec<u32>,
    /// The sites of the reads that are recorded for it.
    pub(crate) reads: FxHashMap<u32, u64>,
    /// Calls of other functions.
    pub(crate) calls: BTreeMap<u32, CallDependence>,
    /// Where the results of the function come from.
    pub(crate) returned: Definitions,
    /// The failure sites of the function.
    pub(crate) seeds: Vec<Seed>,
    /// By failure site: when it fails.
    pub(crate) conditions: Vec<PlaceCondition>,
    /// Calls of functions that do not return: when they are made.
    pub(crate) last_calls: BTreeMap<u32, PlaceCondition>,
    /// The value that the function returns.
    pub(crate) result: Option<Expression>,
}

/// A call.
#[derive(Debug, Default)]
pub(crate) struct CallDependence {
    /// The address of the called function, if it is known.
    pub(crate) target: Option<u64>,
    /// Where its arguments come from.
    pub(crate) arguments: [Definitions; 6],
}

/// What is known of the module when its functions are analysed one by one.
pub(crate) struct Context<'a> {
    pub(crate) view: &'a CodeView<'a>,
    pub(crate) callees: &'a Callees,
    /// The addresses of functions by their names.
    pub(crate) names: &'a FxHashMap<&'a str, u64>,
    /// Whether a call returns.
    pub(crate) returns: &'a (dyn Fn(&Instruction) -> bool + Sync),
    /// The address of `main`.
    pub(crate) main: Option<u64>,
}

/// The code of a function with all that the search for dependences needs.
pub(crate) struct Analysed<'f> {
    pub(crate) function: &'f Function,
    pub(crate) cfg: &'f Cfg,
    pub(crate) effects: &'f [Effect],
}

/// Determines the dependences of a function.
pub(crate) fn dependences(context: &Context<'_>, function: &Function) -> Dependences {
    let mut tables = Tables::default();
    for _ in 0..MAX_ROUNDS {
        let cfg = Cfg::build(function, &tables, context.returns);
        let frames = frames(function, &cfg);
        let mut kinds = Effects::default();
        let effects: Vec<_> =
            function.code.iter().zip(&frames).map(|(code, frame)| kinds.of(code, frame)).collect();
        let mut reaching = Reaching::new(&cfg, &effects);
        let mut values = Values::new(context.view, function, &frames, &mut reaching);
        let found = jump_tables(&mut values);
        if found == tables {
            let analysed = Analysed { function, cfg: &cfg, effects: &effects };
            return build(context, &analysed, &mut values);
        }
        tables = found;
    }
    Dependences::default()
}

fn build(
    context: &Context<'_>,
    analysed: &Analysed<'_>,
    values: &mut Values<'_, '_>,
) -> Dependences {
    let Analysed { function, cfg, effects } = *analysed;
    let hook = |code: &Instruction| context.callees.get(context.view.callee(code)).hook;
    let mut all = Dependences {
        behind: function.code.iter().map(Instruction::next_ip).collect(),
        copies: effects.iter().map(|it| it.form == Form::Copy).collect(),
        control: control_dependence(cfg),
        reachable: cfg.reachable(),
        block_of: cfg.block_of.clone(),
        last: cfg.blocks.iter().map(crate::cfg::Block::last).collect(),
        reads: announced_reads(cfg, effects, values, &hook),
        ..Dependences::default()
    };
    for (at, effect) in (0..).zip(effects) {
        let mut union = |locations: &[crate::location::Location]| {
            let mut found = Definitions::new();
            for location in locations {
                found.extend(values.reaching.before(at, *location));
            }
            found.sort_unstable();
            found.dedup();
            found
        };
        all.values.push(union(&effect.values));
        all.addresses.push(union(&effect.addresses));
        if let Some(call) = call(context, function, at, values) {
            all.calls.insert(at, call);
        }
        all.returned.extend(returned(function, at, values));
    }
    all.returned.sort_unstable();
    all.returned.dedup();
    record_library_reads(context, function, &mut all);
    all.seeds = seeds(context, analysed, values);
    find_conditions(context, analysed, values, &mut all);
    all
}

fn find_conditions(
    context: &Context<'_>,
    analysed: &Analysed<'_>,
    values: &mut Values<'_, '_>,
    all: &mut Dependences,
) {
    let mut conditions = Conditions::new(context, analysed, &all.control, &all.reads, values);
    all.conditions = all.seeds.iter().map(|it| conditions.of(it)).collect();
    let ends = |at: &&u32| !(context.returns)(analysed.function.instruction(**at));
    let last = all.calls.keys().filter(ends).map(|at| (*at, conditions.reached(*at)));
    all.last_calls = last.collect();
    all.result = Some(conditions.result());
}

/// A call of a function that is no hook, or a jump to one at the end of this function.
fn call(
    context: &Context<'_>,
    function: &Function,
    at: u32,
    values: &mut Values<'_, '_>,
) -> Option<CallDependence> {
    let code = function.instruction(at);
    let leaves = leaves(function, code);
    if !is_call(code) && !leaves || context.callees.get(context.view.callee(code)).hook.is_some() {
        return None;
    }
    let target = destination(context.view, context.names, code);
    let arguments = ARGUMENTS.map(|it| values.reaching.before(at, it));
    Some(CallDependence { target, arguments })
}

/// The function of this module to which an instruction leads, also through a stub that would let another
/// module replace it.
pub(crate) fn destination(
    view: &CodeView<'_>,
    names: &FxHashMap<&str, u64>,
    code: &Instruction,
) -> Option<u64> {
    let named = || names.get(view.callee(code)?).copied();
    match code.flow_control() {
        FlowControl::Call | FlowControl::UnconditionalBranch => {
            named().or_else(|| Some(code.near_branch_target()))
        }
        _ => named(),
    }
}

/// Whether an instruction jumps to another function.
pub(crate) fn leaves(function: &Function, code: &Instruction) -> bool {
    code.flow_control() == FlowControl::UnconditionalBranch
        && function.at(code.near_branch_target()).is_none()
}

/// Where the result comes from that the function returns at an instruction.
fn returned(function: &Function, at: u32, values: &mut Values<'_, '_>) -> Definitions {
    let code = function.instruction(at);
    if code.flow_control() == FlowControl::Return {
        return values.reaching.before(at, RESULT);
    }
    let call = leaves(function, code).then_some(Definition::Instruction(at));
    call.into_iter().collect()
}

/// Calls of functions like `strlen`, which are recorded as reads.
fn record_library_reads(context: &Context<'_>, function: &Function, all: &mut Dependences) {
    for at in all.calls.keys().copied().collect::<Vec<_>>() {
        let code = function.instruction(at);
        if is_call(code) && context.callees.get(context.view.callee(code)).reads {
            all.reads.insert(at, code.next_ip());
        }
    }
}
