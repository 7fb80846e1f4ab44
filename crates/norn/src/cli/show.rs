//! `norn show`.

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  norn show run.norn/clips/1.json\n  \
                        norn show --step run.norn/clips/1.json\n\n\
                        Keys of --step: n, space or an arrow down or to the right go forward; p or an arrow \
                        up or to the left go back; q ends. What the threads did and which values they saw is \
                        in the report in the folder of the clips; without one, only the schedule is shown.")]
pub(crate) struct Show {
    /// Clip to show
    #[arg(value_name = "CLIP")]
    pub(crate) clip: PathBuf,
    /// Walk through it with keys
    #[arg(long)]
    pub(crate) step: bool,
}
