//! `norn record`.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, ValueEnum};
use norn_model::Order;

use super::limit::size;

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  norn record -- ./prog\n  \
                        norn record -o run.norn --order global -- ./server --port 7000")]
pub(crate) struct Record {
    /// Folder for the trace
    #[arg(short, long, default_value = "run.norn", value_name = "FOLDER")]
    pub(crate) output: PathBuf,
    /// `local`: each thread in order, and all synchronisation. `global`: one total order, slower
    #[arg(long, value_enum, default_value_t)]
    pub(crate) order: OrderArg,
    /// Do not keep the values that were read and written
    #[arg(long)]
    pub(crate) no_values: bool,
    /// Stop recording, not the program, when the trace has this size (K, M, G)
    #[arg(long, default_value = "8G", value_name = "SIZE", value_parser = size)]
    pub(crate) max_size: u64,
    #[command(flatten)]
    pub(crate) functions: Functions,
    /// The program and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    pub(crate) command: Vec<OsString>,
}

/// Which functions' calls are recorded.
#[derive(Args, Debug)]
pub(crate) struct Functions {
    /// Record calls of the functions of this name, with arguments and result; * stands for any text
    #[arg(long = "function", value_name = "NAME")]
    pub(crate) names: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum OrderArg {
    #[default]
    Local,
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
