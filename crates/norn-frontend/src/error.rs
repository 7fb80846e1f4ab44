//! Why a subject cannot be run.

use std::error::Error;

use thiserror::Error;

/// Why a subject cannot be run.
#[derive(Debug, Error)]
pub enum FrontEndError {
    /// The program does not exist.
    #[error("cannot find the program `{0}`\nhint: a program in this folder is written `./program`")]
    NoProgram(String),
    /// The schedule has a thread name that no thread can have.
    #[error(
        "segment {segment}: `{name}` is no name of a thread\nhint: the first is T0, its second child T0.2, that one's first T0.2.1"
    )]
    Name {
        /// The number of the segment, from 1.
        segment: usize,
        /// The name.
        name: String,
    },
    /// The program has no event at a point of the schedule.
    #[error("segment {segment}: there is no place for `{point}`{hint}")]
    NoPlace {
        /// The number of the segment, from 1.
        segment: usize,
        /// The point.
        point: String,
        /// Similar points that exist.
        hint: String,
    },
    /// A point of the schedule names an unknown module.
    #[error("segment {segment}: `{point}` is in a module that the clip does not list")]
    NoModule {
        /// The number of the segment, from 1.
        segment: usize,
        /// The point.
        point: String,
    },
    /// An error that only this front end has.
    #[error(transparent)]
    Other(Box<dyn Error + Send + Sync>),
}
