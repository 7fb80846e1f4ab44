//! `norn build`, `norn cc`, `norn c++` and `norn rustc`.

use std::ffi::OsString;

use clap::Args;

#[derive(Args, Debug)]
#[command(
    after_help = "Compilers on the PATH are replaced by `norn cc` and `norn c++`, whatever name the build \
                  uses: gcc, clang++, gcc-12 … A compiler that the build calls by its full path is not \
                  replaced. Files that are already compiled are not compiled again: clean first. The \
                  exit status is the build's.\n\n\
                  Examples:\n  norn build make -j4\n  norn build ./configure && norn build make\n  \
                  norn build sh -c 'cmake -B out && cmake --build out'"
)]
pub(crate) struct Build {
    /// Build command and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// `main` handles these commands before clap parses anything, because every argument belongs to the
/// compiler. They are declared here for `norn --help`.
#[derive(Args, Debug)]
pub(crate) struct Compiler {
    /// Arguments of the compiler
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}
