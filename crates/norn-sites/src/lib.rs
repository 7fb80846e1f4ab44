//! Failure sites of a program and the shared reads that decide them, from its machine code alone.
//!
//! The search follows ConSeq (Zhang et al., ASPLOS 2011): it starts at the places where a program can
//! visibly fail and follows dependences backwards to the reads of shared memory that decide whether it
//! does.
//!
//! All addresses are module-relative, and each stands *behind* its instruction, like the return address
//! of a call: the sites of traces are return addresses of hooks.

mod option;

use norn_binary::Module;
use norn_model::PotentialFailure;

pub use option::{DISTANCE, KINDS, Options};

/// The failure sites of a module that depend on shared reads, by ascending address.
pub fn failure_sites(_module: &Module, _options: &Options) -> Vec<PotentialFailure> {
    Vec::new()
}
