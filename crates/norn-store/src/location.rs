//! Where a campaign is stored.

use std::path::PathBuf;

use crate::{Database, StoreError, postgres::Postgres, sqlite::Sqlite};

/// Where a campaign is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// In this process.
    Memory,
    /// In a file of SQLite.
    File(PathBuf),
    /// In a PostgreSQL database with this address.
    Server(String),
}

impl Location {
    /// A file, unless it is the address of a PostgreSQL database.
    pub fn new(text: &str) -> Location {
        let is_address = ["postgres://", "postgresql://"].iter().any(|it| text.starts_with(it));
        if is_address { Location::Server(text.to_owned()) } else { Location::File(text.into()) }
    }

    pub(crate) fn connect(&self, create: bool) -> Result<Box<dyn Database>, StoreError> {
        Ok(match self {
            Location::Memory => Box::new(Sqlite::in_memory()?),
            Location::File(path) => Box::new(Sqlite::open(path, create)?),
            Location::Server(address) => Box::new(Postgres::open(address)?),
        })
    }
}
