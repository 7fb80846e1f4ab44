//! `norn sites`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use norn_model::PotentialFailureKind;

use super::Format;

#[derive(Args, Debug)]
#[command(
    after_help = "The program is not run: its machine code is searched for places where it can visibly \
                  fail, and followed backwards to the reads of shared memory that decide whether it does. \
                  A read's distance is the number of dependences on the way. Results are kept in the \
                  user's cache folder.\n\n\
                  Examples:\n  norn sites ./prog\n  norn sites --kind assertion --kind loop ./prog\n  \
                  norn sites --function log_error --distance 6 ./prog\n  \
                  norn sites --format json ./prog > sites.json"
)]
pub(crate) struct Sites {
    /// The program, or a shared library; built by `norn cc`
    #[arg(value_name = "PROGRAM")]
    pub(crate) program: PathBuf,
    /// Only failure sites of this kind; may be repeated
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) kind: Vec<KindArg>,
    /// Maximum number of dependence steps from a failure site to a read
    #[arg(long, value_name = "STEPS", default_value_t = norn_sites::DISTANCE)]
    pub(crate) distance: u32,
    /// Also a function of the program that reports errors; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) function: Vec<String>,
    /// Also a function of the program that prints or writes; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) output_function: Vec<String>,
    /// Neither use nor keep results of earlier searches
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// A kind of failure site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindArg {
    /// A failed assertion, an abort, an exception, a panic
    Assertion,
    /// An error message, or an exit with a status that is not zero
    ErrorMessage,
    /// Something printed or written
    Output,
    /// A loop that ends only if a read sees another value
    Loop,
    /// An access through a pointer or index, a division, a `free`
    Access,
    /// A `free` that a read decides whether to call
    Free,
}

impl From<KindArg> for PotentialFailureKind {
    fn from(kind: KindArg) -> PotentialFailureKind {
        match kind {
            KindArg::Assertion => PotentialFailureKind::Assertion,
            KindArg::ErrorMessage => PotentialFailureKind::ErrorMessage,
            KindArg::Output => PotentialFailureKind::Output,
            KindArg::Loop => PotentialFailureKind::Loop,
            KindArg::Access => PotentialFailureKind::Access,
            KindArg::Free => PotentialFailureKind::Free,
        }
    }
}
