//! Failure sites of a program and the shared reads that decide them, from its machine code alone.
//!
//! The search follows ConSeq (Zhang et al., ASPLOS 2011): it starts at the places where a program can
//! visibly fail and follows dependences backwards to the reads of shared memory that decide whether it
//! does. Each [function](function) has a [control-flow graph](cfg), [control
//! dependences](control_dependence) and [reaching definitions](reaching); together they are its
//! [dependences](dependence), which [slices](slice) follow from the [failure sites](seed).
//!
//! All addresses are module-relative, and each stands *behind* its instruction, like the return address
//! of a call: the sites of traces are return addresses of hooks.

mod cache;
mod callee;
mod cfg;
mod condition;
mod control_dependence;
mod dependence;
mod dominators;
mod effect;
mod expression;
mod frame;
mod function;
mod hook;
mod jump_table;
mod linear;
mod link;
mod location;
mod loops;
mod option;
mod program;
mod reaching;
mod seed;
mod slice;

use std::collections::BTreeMap;

use norn_binary::Module;
use norn_model::{Condition, CriticalRead, PotentialFailure, PotentialFailureKind};
use rayon::prelude::*;

pub use cache::Cache;
use link::condition_of;
pub use option::{DISTANCE, KINDS, Options};
use program::Program;
use slice::Slicer;

/// The failure sites of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailureSites {
    /// The failure sites that depend on shared reads, by ascending address.
    pub sites: Vec<PotentialFailure>,
    /// When they fail, as far as that is known, by their addresses and kinds.
    pub conditions: Conditions,
}

/// The conditions of failure sites.
pub type Conditions = BTreeMap<(u64, PotentialFailureKind), Condition>;

impl FailureSites {
    /// Searches the code of a module.
    pub fn find(module: &Module, options: &Options) -> FailureSites {
        module.with_code(|view| {
            let program = Program::analyse(view, options);
            let functions = 0..u32::try_from(program.functions.len()).unwrap_or(u32::MAX);
            let found = functions.into_par_iter().flat_map_iter(|it| found(&program, it, options));
            merged(found.collect())
        })
    }
}

fn found(
    program: &Program,
    function: u32,
    options: &Options,
) -> Vec<(PotentialFailure, Condition)> {
    let dependences = &program.functions[function as usize];
    let wanted = dependences.seeds.iter().enumerate();
    let wanted = wanted.filter(|(_, it)| options.kinds.contains(&it.kind));
    let sites = wanted.map(|(index, seed)| {
        let site = PotentialFailure {
            kind: seed.kind,
            pc: dependences.behind[seed.instruction as usize],
            reads: Slicer::reads(program, function, seed, options.distance),
        };
        (site, index)
    });
    let decided = sites.filter(|(it, _)| !it.reads.is_empty());
    decided.map(|(site, index)| (site, condition_of(program, function, index))).collect()
}

/// Unites what was found for the same instruction, as for the common exit of nested loops.
fn merged(all: Vec<(PotentialFailure, Condition)>) -> FailureSites {
    let mut reads: BTreeMap<(u64, PotentialFailureKind), Vec<CriticalRead>> = BTreeMap::new();
    let mut conditions = Conditions::new();
    for (site, condition) in all {
        let key = (site.pc, site.kind);
        reads.entry(key).or_default().extend(site.reads);
        let known = conditions.entry(key).or_insert_with(|| condition.clone());
        if *known != condition {
            *known = Condition::Unknown;
        }
    }
    conditions.retain(|_, it| it.mentions_reads());
    let unite = |((pc, kind), mut reads): (_, Vec<CriticalRead>)| {
        reads.sort_by_key(|it| (it.pc, it.distance));
        reads.dedup_by_key(|it| it.pc);
        reads.sort_by_key(|it| (it.distance, it.pc));
        PotentialFailure { kind, pc, reads }
    };
    FailureSites { sites: reads.into_iter().map(unite).collect(), conditions }
}
