//! The tables of campaigns and hunts.

use crate::{Dialect, StoreError, Transaction, value::Columns};

/// The version of the schema.
pub const VERSION: u64 = 2;
/// The version without hunts. Its campaigns are the same.
const WITHOUT_HUNTS: u64 = 1;

const CAMPAIGN: &str = include_str!("schema.sql");
const HUNT: &str = include_str!("hunt.sql");

/// Whether the tables of campaigns exist, in a version that can be read.
pub(crate) fn exists(
    transaction: &mut dyn Transaction,
    dialect: &Dialect,
) -> Result<bool, StoreError> {
    Ok(version(transaction, dialect)?.is_some())
}

/// Whether the tables of hunts exist.
pub(crate) fn has_hunts(
    transaction: &mut dyn Transaction,
    dialect: &Dialect,
) -> Result<bool, StoreError> {
    Ok(version(transaction, dialect)? == Some(VERSION))
}

/// Creates the tables that are missing. `place` is for messages.
pub(crate) fn create(
    transaction: &mut dyn Transaction,
    dialect: &Dialect,
    place: &str,
) -> Result<(), StoreError> {
    match version(transaction, dialect)? {
        Some(VERSION) => return Ok(()),
        Some(_) => {}
        None if count(transaction, dialect.foreign)? > 0 => {
            return Err(StoreError::Foreign(place.to_owned()));
        }
        None => transaction.script(CAMPAIGN)?,
    }
    transaction.script(HUNT)?;
    transaction.execute("DELETE FROM norn_schema", &[])?;
    transaction.execute("INSERT INTO norn_schema (version) VALUES ($1)", &[VERSION.into()])?;
    Ok(())
}

/// The version of the tables, if they exist.
fn version(
    transaction: &mut dyn Transaction,
    dialect: &Dialect,
) -> Result<Option<u64>, StoreError> {
    if count(transaction, dialect.has_schema)? == 0 {
        return Ok(None);
    }
    match first(transaction, "SELECT version FROM norn_schema")?.unsigned()? {
        version @ (WITHOUT_HUNTS | VERSION) => Ok(Some(version)),
        version => Err(StoreError::Newer(version)),
    }
}

/// The result of a query that counts rows.
pub(crate) fn count(transaction: &mut dyn Transaction, sql: &str) -> Result<u64, StoreError> {
    first(transaction, sql)?.unsigned()
}

/// The first row of a query that always has one.
fn first(transaction: &mut dyn Transaction, sql: &str) -> Result<Columns, StoreError> {
    let row = transaction.query(sql, &[])?.into_iter().next();
    row.map(Columns::new).ok_or(StoreError::Content("a row is missing"))
}
