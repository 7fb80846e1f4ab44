//! `norn record`.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, ValueEnum};
use norn_localize::WINDOW;
use norn_model::Order;

use super::{limit::size, localize::window};

#[derive(Args, Debug)]
#[command(
    after_help = "The exit status is the program's own; 3 if it was not built with norn.\n\n\
                        Examples:\n  norn record -- ./prog\n  \
                        norn record -o run.norn --order global -- ./server --port 7000"
)]
pub(crate) struct Record {
    /// Folder for the trace
    #[arg(short, long, default_value = "run.norn", value_name = "FOLDER")]
    pub(crate) output: PathBuf,
    /// Order to record
    #[arg(long, value_enum, default_value_t)]
    pub(crate) order: OrderArg,
    /// Do not record the values of reads and writes
    #[arg(long)]
    pub(crate) no_values: bool,
    /// Record no accesses, but collect interleaving patterns while the program runs, for `norn localize
    /// --from`
    #[arg(long, conflicts_with_all = ["order", "no_values", "function"])]
    pub(crate) collect: bool,
    /// With --collect: observe all accesses, also at sites that are executed very often
    #[arg(long, requires = "collect")]
    pub(crate) observe_all: bool,
    /// With --collect: number of accesses to each variable among which patterns are looked for
    #[arg(long, default_value_t = WINDOW, value_name = "NUMBER", value_parser = window)]
    pub(crate) window: usize,
    /// Stop recording when the trace has this size (K, M, G); the program runs on
    #[arg(long, default_value = "8G", value_name = "SIZE", value_parser = size)]
    pub(crate) max_size: u64,
    #[command(flatten)]
    pub(crate) functions: Functions,
    /// Program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub(crate) command: Vec<OsString>,
}

/// Functions whose calls are recorded.
#[derive(Args, Debug)]
pub(crate) struct Functions {
    /// Record calls of the functions with this name, with arguments and result; * matches any text (can
    /// be repeated)
    #[arg(id = "function", long = "function", value_name = "NAME")]
    pub(crate) names: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum OrderArg {
    /// Order of events in each thread, and of all synchronisation
    #[default]
    Local,
    /// One total order of all events (slower)
    Global,
}

impl From<OrderArg> for Order {
    fn from(order: OrderArg) -> Self {
        match order {
            OrderArg::Local => Order::Local,
            OrderArg::Global => Order::Global,
        }
    }
}
