//! `norn completions` and `norn man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
                        norn completions bash > ~/.local/share/bash-completion/completions/norn\n  \
                        norn completions zsh > ~/.zfunc/_norn\n  \
                        norn completions fish > ~/.config/fish/completions/norn.fish")]
pub(crate) struct Completions {
    /// Shell to write the script for
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  norn man | man -l -\n  norn man ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Folder for one page per command; if not given, norn(1) goes to standard output
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
}
