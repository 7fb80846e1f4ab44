//! The memory model of controlled runs.

use clap::ValueEnum;
use norn_trace::MemoryModel;

/// A memory model, by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum MemoryArg {
    /// The newest one: threads read and write one memory, one after the other
    #[default]
    Sc,
    /// Also older ones, as far as C++20 allows: shows bugs of processors with weaker ordering
    C11,
}

impl MemoryArg {
    pub(crate) fn model(self) -> MemoryModel {
        match self {
            MemoryArg::Sc => MemoryModel::Sequential,
            MemoryArg::C11 => MemoryModel::C11,
        }
    }
}
