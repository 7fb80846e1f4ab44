//! Arguments of the commands about properties.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::force::Forcing;

#[derive(Args, Debug)]
#[command(
    after_help = "Exit status: 0 no property is violated, 1 a property is violated, 2 a property file is wrong.\n\n\
                  Examples:\n  norn check auth.norn -- ./prog args\n  norn check auth.norn prog.c\n  \
                  norn check data-race --property lists.norn -- ./prog\n\n\
                  docs/properties.md describes the language; `norn property list` lists the built-in properties."
)]
pub(crate) struct Check {
    /// A property file, or the name of a built-in property
    #[arg(value_name = "PROPERTIES")]
    pub(crate) properties: String,
    /// Check these properties as well
    #[arg(long = "property", value_name = "PROPERTIES")]
    pub(crate) more: Vec<String>,
    #[command(flatten)]
    pub(crate) forcing: Forcing,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Property {
    /// Report errors and warnings in property files, with their locations
    Lint {
        /// The files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// List the built-in properties
    List,
    /// Print a built-in property
    Show {
        /// Its name
        #[arg(value_name = "NAME")]
        name: String,
    },
}
