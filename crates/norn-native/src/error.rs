//! Errors that only native programs have.

use std::{error::Error, path::PathBuf};

use norn_frontend::FrontEndError;

/// The path of a module does not fit into the tables of the runtime.
#[derive(Debug, thiserror::Error)]
#[error("the path of the module `{}` is too long", .0.display())]
pub(crate) struct LongPath(pub(crate) PathBuf);

pub(crate) fn other(error: impl Error + Send + Sync + 'static) -> FrontEndError {
    FrontEndError::Other(Box::new(error))
}
