//! `norn check` and `norn property`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{count::Counting, force::Forcing, search::EngineArg};

#[derive(Args, Debug)]
#[command(
    after_help = "Exit status: 0 no property is violated, 1 a property is violated, 2 usage \
                  error or error in a property file, 3 the program was not built with norn, or \
                  nothing is violated but the events that a property needs never occurred.\n\n\
                  Examples:\n  norn check auth.norn -- ./prog args\n  norn check auth.norn prog.c\n  \
                  norn check data-race --property lists.norn -- ./prog\n  \
                  norn check --time 5m auth.norn -- ./prog\n\n\
                  docs/properties.md describes the language; `norn property list` lists the built-in properties."
)]
pub(crate) struct Check {
    /// Property file, or the name of a built-in property
    #[arg(value_name = "PROPERTIES")]
    pub(crate) properties: String,
    /// More properties: a file, or the name of a built-in property (can be repeated)
    #[arg(long = "property", value_name = "PROPERTIES")]
    pub(crate) more: Vec<String>,
    /// Number of runs under random schedules, to see what happens without a prediction
    #[arg(long, default_value_t = 0, value_name = "NUMBER", help_heading = "Search")]
    pub(crate) explore: usize,
    /// Schedule engine
    #[arg(long, value_enum, default_value_t, help_heading = "Search")]
    pub(crate) engine: EngineArg,
    #[command(flatten)]
    pub(crate) counting: Counting,
    #[command(flatten)]
    pub(crate) forcing: Forcing,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Property {
    /// Report errors and warnings in property files, with their locations
    Lint {
        /// Property files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// List the built-in properties
    List,
    /// Print a built-in property
    Show {
        /// Name of the property
        #[arg(value_name = "NAME")]
        name: String,
    },
}
