//! `norn learn`.

use std::{ffi::OsString, num::NonZeroUsize, path::PathBuf};

use clap::Args;

use super::Limits;

#[derive(Args, Debug)]
#[command(
    after_help = "What held at the reads of shared variables in all passing runs is written as text, one \
                  invariant in each line, the best supported first. Delete what holds only by chance, \
                  and add what you know.\n\n\
                  Exit status: 0 invariants were written, 2 usage error or error of norn, 3 the program was \
                  not built with norn, or no run passed.\n\n\
                  Examples:\n  norn learn -n 50 -o prog.inv -- ./prog args\n  \
                  norn hunt --invariants prog.inv -- ./prog args"
)]
pub(crate) struct Learn {
    /// Number of runs, under varied schedules
    #[arg(short = 'n', long, value_name = "NUMBER", default_value = "50")]
    pub(crate) runs: NonZeroUsize,
    /// The file for the invariants [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) limits: Limits,
    /// Program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub(crate) command: Vec<OsString>,
}
