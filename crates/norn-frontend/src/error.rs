//! Why a subject cannot be run.

use std::error::Error;

use norn_model::excerpt;
use thiserror::Error;

/// Why a subject cannot be run.
#[derive(Debug, Error)]
pub enum FrontEndError {
    /// The program does not exist.
    #[error(
        "cannot find the program `{}`\nhint: a program in this folder is written `./program`",
        excerpt(.0)
    )]
    NoProgram(String),
    /// The schedule has a thread name that no thread can have.
    #[error(
        "segment {segment}: `{}` is no name of a thread\nhint: the first is T0, its second child T0.2, that one's first T0.2.1, its signal handlers T0!",
        excerpt(name)
    )]
    Name {
        /// The number of the segment, from 1.
        segment: usize,
        /// The name.
        name: String,
    },
    /// The program has no event at a point of the schedule.
    #[error("segment {segment}: there is no place for `{}`{hint}", excerpt(point))]
    NoPlace {
        /// The number of the segment, from 1.
        segment: usize,
        /// The point.
        point: String,
        /// Similar points that exist.
        hint: String,
    },
    /// A point of the schedule names an unknown module.
    #[error("segment {segment}: `{}` is in a module that the clip does not list", excerpt(point))]
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
