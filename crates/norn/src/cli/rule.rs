//! Rules, on the command line.

use std::{ffi::OsString, num::NonZeroUsize, path::PathBuf};

use clap::{Args, Subcommand};

use super::{Format, Limits};

#[derive(Args, Debug)]
#[command(
    after_help = "Exit status: 0 no rule is broken, 1 a rule is broken, 2 a rule is wrong.\n\n\
                  Examples:\n  norn check auth.norn -- ./prog args\n  norn check auth.norn prog.c\n  \
                  norn check data-race --also lists.norn -- ./prog\n\n\
                  docs/properties.md says how rules are written; `norn property list` has some."
)]
pub(crate) struct Check {
    /// A file with rules, or the name of a rule that comes with norn
    #[arg(value_name = "RULES")]
    pub(crate) rules: String,
    /// Check these rules, too
    #[arg(long, value_name = "RULES")]
    pub(crate) also: Vec<String>,
    /// Folder for the recorded run and the clips [default: run.norn]
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
    /// Run the program so often at most
    #[arg(long, default_value = "200", value_name = "NUMBER")]
    pub(crate) budget: NonZeroUsize,
    /// So many runs side by side [default: one for each processor]
    #[arg(short, long, value_name = "NUMBER")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Run the program so often for events with the same places before giving them up
    #[arg(long, default_value_t = 3, value_name = "NUMBER")]
    pub(crate) instances: usize,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) limits: Limits,
    /// The program and its arguments; or a C or C++ file, which is compiled first
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Property {
    /// Say what is wrong with files of rules, and where
    Lint {
        /// The files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// List the rules that come with norn
    List,
    /// Print a rule that comes with norn
    Show {
        /// Its name
        #[arg(value_name = "NAME")]
        name: String,
    },
}
