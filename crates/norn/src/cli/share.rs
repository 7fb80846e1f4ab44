//! Options of hunts that several processes share.

use std::num::NonZeroU64;

use clap::Args;

/// The store of a shared hunt, and the part of this process in it.
#[derive(Args, Debug)]
#[command(next_help_heading = "Store")]
pub(crate) struct Sharing {
    /// Keep all executions in this SQLite file, or in a PostgreSQL database (postgres://…), where workers
    /// make them, too. What is there already is not executed again
    #[arg(long, value_name = "FILE|URL")]
    pub(crate) store: Option<String>,
    /// Only execute what a hunt with the same store asks for, until that ends; the program may be left out
    #[arg(long, requires = "store")]
    pub(crate) worker: bool,
    /// Number of seconds after which others make the executions of a process that is not heard of
    #[arg(long, default_value = "60", value_name = "SECONDS", requires = "store")]
    pub(crate) lease: NonZeroU64,
}
