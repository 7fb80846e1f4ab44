//! What is searched for, and how far back.

use std::collections::BTreeSet;

use norn_model::{FunctionPattern, PotentialFailureKind};

/// The default number of dependence steps: that of the ConSeq paper.
pub const DISTANCE: u32 = 4;

/// All kinds of failure sites.
pub const KINDS: [PotentialFailureKind; 6] = [
    PotentialFailureKind::Assertion,
    PotentialFailureKind::ErrorMessage,
    PotentialFailureKind::Output,
    PotentialFailureKind::Loop,
    PotentialFailureKind::Access,
    PotentialFailureKind::Free,
];

/// Which failure sites are searched for.
#[derive(Clone, Debug)]
pub struct Options {
    /// The kinds of failure sites.
    pub kinds: BTreeSet<PotentialFailureKind>,
    /// The maximum number of dependence steps from a failure site to a read.
    pub distance: u32,
    /// Functions of the program that report errors.
    pub error_functions: Vec<FunctionPattern>,
    /// Functions of the program that print or write.
    pub output_functions: Vec<FunctionPattern>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            kinds: KINDS.into_iter().collect(),
            distance: DISTANCE,
            error_functions: Vec::new(),
            output_functions: Vec::new(),
        }
    }
}
