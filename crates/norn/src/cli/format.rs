//! Output formats.

use clap::ValueEnum;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text to read
    #[default]
    Text,
    /// JSON for programs
    Json,
}
