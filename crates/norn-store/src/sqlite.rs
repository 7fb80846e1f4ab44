//! SQLite: a campaign in one file, or in memory.
//!
//! The file is in WAL mode with full synchronization: a committed result survives the death of any
//! process and of the machine. Processes on one machine can share the file.

use std::{fmt, path::Path, time::Duration};

use rusqlite::{
    Connection, OpenFlags, Row, TransactionBehavior, params_from_iter,
    types::{ToSql, ToSqlOutput, ValueRef},
};

use crate::{Database, Dialect, Mode, StoreError, Transaction, Value};

/// How long a transaction waits for those of other processes. They take milliseconds.
const BUSY: Duration = Duration::from_mins(1);

const DIALECT: Dialect = Dialect {
    clock: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
    // A transaction that writes excludes all others.
    skip_locked: "",
    lock: "",
    exclusive: "SELECT 1",
    has_schema: "SELECT COUNT(*) FROM sqlite_master WHERE name = 'norn_schema'",
    foreign: "SELECT COUNT(*) FROM sqlite_master",
};

/// A SQLite database.
pub(crate) struct Sqlite {
    place: String,
    connection: Connection,
}

impl fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sqlite").field(&self.place).finish()
    }
}

impl Sqlite {
    /// A file, which is created if that is wanted.
    pub(crate) fn open(path: &Path, create: bool) -> Result<Sqlite, StoreError> {
        let place = path.display().to_string();
        if !create && !path.exists() {
            return Err(StoreError::Empty(place));
        }
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        flags.set(OpenFlags::SQLITE_OPEN_CREATE, create);
        let connection = Connection::open_with_flags(path, flags).map_err(|it| error(&place, it));
        Sqlite::new(place.clone(), connection?).map_err(|it| error(&place, it))
    }

    /// A database that ends with the process.
    pub(crate) fn in_memory() -> Result<Sqlite, StoreError> {
        let place = "memory";
        let database = Connection::open_in_memory().and_then(|it| Sqlite::new(place.into(), it));
        database.map_err(|it| error(place, it))
    }

    fn new(place: String, connection: Connection) -> rusqlite::Result<Sqlite> {
        connection.busy_timeout(BUSY)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        Ok(Sqlite { place, connection })
    }
}

impl Database for Sqlite {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn transaction(
        &mut self,
        mode: Mode,
        work: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        // A transaction that becomes a writing one later could fail where waiting helps.
        let behavior = match mode {
            Mode::Read => TransactionBehavior::Deferred,
            Mode::Write => TransactionBehavior::Immediate,
        };
        let place = self.place.as_str();
        let begun = self.connection.transaction_with_behavior(behavior);
        let mut statements =
            Statements { place, transaction: begun.map_err(|it| error(place, it))? };
        work(&mut statements)?;
        statements.transaction.commit().map_err(|it| error(place, it))
    }
}

struct Statements<'a> {
    place: &'a str,
    transaction: rusqlite::Transaction<'a>,
}

impl Transaction for Statements<'_> {
    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, StoreError> {
        let statement = self.transaction.prepare_cached(sql);
        let changed = statement.and_then(|mut it| it.execute(params_from_iter(values)));
        changed.map(|it| it as u64).map_err(|it| error(self.place, it))
    }

    fn query(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Vec<Value>>, StoreError> {
        let query = || {
            let mut statement = self.transaction.prepare_cached(sql)?;
            let columns = statement.column_count();
            let rows = statement.query_map(params_from_iter(values), |row| read(row, columns))?;
            rows.collect::<Result<Vec<_>, _>>()
        };
        query().map_err(|it| error(self.place, it))
    }

    fn script(&mut self, sql: &str) -> Result<(), StoreError> {
        self.transaction.execute_batch(sql).map_err(|it| error(self.place, it))
    }
}

fn read(row: &Row<'_>, columns: usize) -> rusqlite::Result<Vec<Value>> {
    let value = |column| {
        Ok(match row.get_ref(column)? {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => Value::Int(number),
            ValueRef::Blob(bytes) => Value::Bytes(bytes.to_owned()),
            other => Value::Text(other.as_str()?.to_owned()),
        })
    };
    (0..columns).map(value).collect()
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Value::Null => rusqlite::types::Null.into(),
            Value::Int(number) => (*number).into(),
            Value::Text(text) => text.as_str().into(),
            Value::Bytes(bytes) => bytes.as_slice().into(),
        })
    }
}

fn error(place: &str, error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => StoreError::Foreign(place.to_owned()),
        _ => StoreError::Database { place: place.to_owned(), source: error.into() },
    }
}
