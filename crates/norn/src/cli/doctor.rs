//! `norn doctor`.

use clap::Args;

use super::Format;

#[derive(Args, Debug)]
#[command(after_help = "Exit status: 0 norn can be used (there may be warnings), 3 it cannot.\n\n\
                  Examples:\n  norn doctor\n  norn doctor --format json")]
pub(crate) struct Doctor {
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}
