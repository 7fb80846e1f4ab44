//! Rules, on the command line.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::force::Forcing;

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
    #[command(flatten)]
    pub(crate) forcing: Forcing,
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
