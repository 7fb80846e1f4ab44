//! The tables of a campaign.

use crate::{Dialect, StoreError, Transaction, value::Columns};

/// The version of the schema.
pub const VERSION: u64 = 1;

const SCHEMA: &str = include_str!("schema.sql");

/// Whether the tables exist, in a version that can be read.
pub(crate) fn exists(
    transaction: &mut dyn Transaction,
    dialect: &Dialect,
) -> Result<bool, StoreError> {
    if count(transaction, dialect.has_schema)? == 0 {
        return Ok(false);
    }
    match first(transaction, "SELECT version FROM norn_schema")?.unsigned()? {
        VERSION => Ok(true),
        version => Err(StoreError::Newer(version)),
    }
}

/// Creates the tables.
pub(crate) fn create(transaction: &mut dyn Transaction) -> Result<(), StoreError> {
    transaction.script(SCHEMA)
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
