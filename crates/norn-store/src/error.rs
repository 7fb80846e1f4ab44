//! Why a store cannot be used.

use std::error::Error;

use thiserror::Error;

use crate::VERSION;

/// Why a store cannot be used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// There is no campaign in it.
    #[error("`{0}` has no campaign\nhint: `norn localize --store` begins one")]
    Empty(String),
    /// There is no hunt in it.
    #[error("`{0}` has no hunt\nhint: `norn hunt --store STORE -- PROGRAM` begins one")]
    NoHunt(String),
    /// It is the database of something else.
    #[error("`{0}` is not a campaign of norn")]
    Foreign(String),
    /// A new store was to be written, but there is one.
    #[error("`{0}` exists already")]
    Exists(String),
    /// It was written by a newer version.
    #[error(
        "the store has schema version {0}, and this norn reads version {VERSION}\nhint: use a newer norn"
    )]
    Newer(u64),
    /// Two campaigns cannot be merged.
    #[error(
        "the campaigns have different settings, so that their runs cannot be compared\nhint: `norn campaign show` prints them"
    )]
    Different,
    /// A row has a content that no campaign writes.
    #[error("the store is damaged: {0}")]
    Content(&'static str),
    /// The address of a PostgreSQL server cannot be understood.
    #[error("not an address of a PostgreSQL database: {0}\nhint: postgres://USER@HOST/DATABASE")]
    Address(String),
    /// The PostgreSQL server cannot be reached.
    #[error(
        "cannot connect to PostgreSQL at {place}: {source}\nhint: is the server running, and may this user connect? A campaign on one machine needs no server: --store FILE"
    )]
    Connect {
        /// The host or socket, and the name of the database.
        place: String,
        /// The error.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The database reported an error.
    #[error("{place}: {source}")]
    Database {
        /// The file or server.
        place: String,
        /// The error.
        source: Box<dyn Error + Send + Sync>,
    },
}
