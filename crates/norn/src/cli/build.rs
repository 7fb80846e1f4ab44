//! `norn build`, `norn cc` and `norn c++`.

use std::ffi::OsString;

use clap::Args;

#[derive(Args, Debug)]
#[command(
    after_help = "The compilers that are on the PATH go through `norn cc` and `norn c++`, whatever the\n\
                  build calls them: gcc, clang++, gcc-12 …; only one that is named by its path does\n\
                  not. What was compiled before is not compiled again: clean first. The exit status\n\
                  is the build's.\n\n\
                  Examples:\n  norn build make -j4\n  norn build ./configure && norn build make\n  \
                  norn build sh -c 'cmake -B out && cmake --build out'"
)]
pub(crate) struct Build {
    /// The command that builds, and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<OsString>,
}

/// Taken over before these arguments are read; here for `norn --help`.
#[derive(Args, Debug)]
pub(crate) struct Compiler {
    /// The compiler's arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}
