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
mod control_dependence;
mod dependence;
mod dominators;
mod effect;
mod frame;
mod function;
mod hook;
mod jump_table;
mod linear;
mod location;
mod loops;
mod option;
mod program;
mod reaching;
mod seed;
mod slice;

use std::collections::BTreeMap;

use norn_binary::Module;
use norn_model::{CriticalRead, PotentialFailure, PotentialFailureKind};
use rayon::prelude::*;

pub use cache::Cache;
pub use option::{DISTANCE, KINDS, Options};
use program::Program;
use slice::Slicer;

/// The failure sites of a module that depend on shared reads, by ascending address.
pub fn failure_sites(module: &Module, options: &Options) -> Vec<PotentialFailure> {
    module.with_code(|view| {
        let program = Program::analyse(view, options);
        let functions = 0..u32::try_from(program.functions.len()).unwrap_or(u32::MAX);
        let sites = functions.into_par_iter().flat_map_iter(|it| sites_of(&program, it, options));
        merged(sites.collect())
    })
}

fn sites_of(program: &Program, function: u32, options: &Options) -> Vec<PotentialFailure> {
    let dependences = &program.functions[function as usize];
    let wanted = dependences.seeds.iter().filter(|it| options.kinds.contains(&it.kind));
    let sites = wanted.map(|seed| PotentialFailure {
        kind: seed.kind,
        pc: dependences.behind[seed.instruction as usize],
        reads: Slicer::reads(program, function, seed, options.distance),
    });
    sites.filter(|it| !it.reads.is_empty()).collect()
}

/// Unites what was found for the same instruction, as for the common exit of nested loops.
fn merged(sites: Vec<PotentialFailure>) -> Vec<PotentialFailure> {
    let mut by_place: BTreeMap<(u64, PotentialFailureKind), Vec<CriticalRead>> = BTreeMap::new();
    for site in sites {
        by_place.entry((site.pc, site.kind)).or_default().extend(site.reads);
    }
    let unite = |((pc, kind), mut reads): (_, Vec<CriticalRead>)| {
        reads.sort_by_key(|it| (it.pc, it.distance));
        reads.dedup_by_key(|it| it.pc);
        reads.sort_by_key(|it| (it.distance, it.pc));
        PotentialFailure { kind, pc, reads }
    };
    by_place.into_iter().map(unite).collect()
}
