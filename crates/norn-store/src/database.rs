//! What a database has to provide for campaigns.

use std::fmt::Debug;

use crate::{StoreError, Value};

/// A database that can hold a campaign.
///
/// Statements have parameters `$1`, `$2`, … in the order of their first use, which SQLite and
/// PostgreSQL both understand.
pub trait Database: Debug + Send {
    /// How its SQL differs from that of others.
    fn dialect(&self) -> &'static Dialect;

    /// The file or server, for messages.
    fn place(&self) -> &str;

    /// Does work in a transaction: all of it, or nothing if it returns an error. The work may be
    /// repeated if the database was busy or away for a while.
    fn transaction(
        &mut self,
        mode: Mode,
        work: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;
}

/// Whether a transaction changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It only reads, and does not wait for writers.
    Read,
    /// It may write.
    Write,
}

/// The statements of a transaction.
pub trait Transaction {
    /// Executes a statement. Returns the number of changed rows.
    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, StoreError>;

    /// Executes a query. Returns its rows.
    fn query(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Vec<Value>>, StoreError>;

    /// Executes several statements without parameters.
    fn script(&mut self, sql: &str) -> Result<(), StoreError>;
}

/// How the SQL of a database differs from that of others.
#[derive(Debug)]
pub struct Dialect {
    /// The time in milliseconds since 1970.
    pub clock: &'static str,
    /// Locks the selected row, or takes the next one if another transaction has locked it.
    pub skip_locked: &'static str,
    /// Locks the selected row.
    pub lock: &'static str,
    /// A query that prevents others from creating the tables at the same time.
    pub exclusive: &'static str,
    /// Counts tables with the name `norn_schema`.
    pub has_schema: &'static str,
    /// Counts the tables of others, where a database should not have any.
    pub foreign: &'static str,
}

/// Does work in a transaction, and returns its result.
pub(crate) fn transact<T>(
    database: &mut dyn Database,
    mode: Mode,
    mut work: impl FnMut(&mut dyn Transaction) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut result = None;
    database.transaction(mode, &mut |transaction| {
        result = Some(work(transaction)?);
        Ok(())
    })?;
    result.ok_or(StoreError::Content("a transaction did nothing"))
}
