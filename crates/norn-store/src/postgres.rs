//! PostgreSQL: a campaign that many machines share.
//!
//! A server may be restarted while workers run for hours. So a transaction that fails because the
//! connection was lost is repeated with a new connection. All transactions of a campaign may be
//! repeated: a result that was committed before its confirmation was lost is found to be there.

use std::{
    error::Error,
    fmt, thread,
    time::{Duration, Instant},
};

use ::postgres::{
    Client, Config, NoTls,
    config::Host,
    error::SqlState,
    types::{FromSql, IsNull, ToSql, Type, private::BytesMut, to_sql_checked},
};

use crate::{Database, Dialect, Mode, StoreError, Transaction, Value};

/// How long a server may be away.
const AWAY: Duration = Duration::from_mins(2);
/// The time between two attempts to reach it.
const PAUSE: Duration = Duration::from_millis(200);
/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(20);

const DIALECT: Dialect = Dialect {
    clock: "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)",
    skip_locked: "FOR UPDATE SKIP LOCKED",
    lock: "FOR UPDATE",
    // The number has no meaning, but must always be the same.
    exclusive: "SELECT CAST(pg_advisory_xact_lock(7165204911) AS TEXT)",
    has_schema: "SELECT COUNT(*) FROM pg_class WHERE oid = to_regclass('norn_schema')",
    // Several applications may share a database.
    foreign: "SELECT CAST(0 AS BIGINT)",
};

/// A PostgreSQL database.
pub(crate) struct Postgres {
    place: String,
    config: Config,
    client: Option<Client>,
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Postgres").field(&self.place).finish()
    }
}

impl Postgres {
    /// Connects to a server.
    pub(crate) fn open(address: &str) -> Result<Postgres, StoreError> {
        let mut config: Config = address.parse().map_err(|it| StoreError::Address(message(&it)))?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        config.application_name("norn");
        let place = place(&config);
        match config.connect(NoTls) {
            Ok(client) => Ok(Postgres { place, config, client: Some(client) }),
            Err(error) => Err(StoreError::Connect { place, source: message(&error).into() }),
        }
    }

    fn attempt(
        &mut self,
        mode: Mode,
        work: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let failed = |it| error(&self.place, it);
        let client = match self.client.take() {
            Some(client) if !client.is_closed() => client,
            _ => self.config.connect(NoTls).map_err(failed)?,
        };
        let client = self.client.insert(client);
        let begun = client.build_transaction().read_only(mode == Mode::Read).start();
        let mut statements = Statements { place: &self.place, transaction: begun.map_err(failed)? };
        work(&mut statements)?;
        statements.transaction.commit().map_err(failed)
    }
}

impl Database for Postgres {
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
        let deadline = Instant::now() + AWAY;
        loop {
            match self.attempt(mode, work) {
                Err(error) if is_temporary(&error) && Instant::now() < deadline => {
                    self.client = self.client.take().filter(|it| !it.is_closed());
                    thread::sleep(PAUSE);
                }
                result => return result,
            }
        }
    }
}

struct Statements<'a> {
    place: &'a str,
    transaction: ::postgres::Transaction<'a>,
}

impl Transaction for Statements<'_> {
    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, StoreError> {
        let changed = self.transaction.execute(sql, &parameters(values));
        changed.map_err(|it| error(self.place, it))
    }

    fn query(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Vec<Value>>, StoreError> {
        let rows = self.transaction.query(sql, &parameters(values));
        let read = |row: &::postgres::Row| (0..row.len()).map(|it| row.try_get(it)).collect();
        rows.and_then(|it| it.iter().map(read).collect()).map_err(|it| error(self.place, it))
    }

    fn script(&mut self, sql: &str) -> Result<(), StoreError> {
        self.transaction.batch_execute(sql).map_err(|it| error(self.place, it))
    }
}

fn parameters(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|it| it as &(dyn ToSql + Sync)).collect()
}

impl ToSql for Value {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Int(number) => number.to_sql(ty, out),
            Value::Text(text) => text.to_sql(ty, out),
            Value::Bytes(bytes) => bytes.to_sql(ty, out),
        }
    }

    fn accepts(ty: &Type) -> bool {
        <i64 as ToSql>::accepts(ty) || <&str as ToSql>::accepts(ty) || *ty == Type::BYTEA
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Value {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Value, Box<dyn Error + Sync + Send>> {
        if <i64 as FromSql<'_>>::accepts(ty) {
            i64::from_sql(ty, raw).map(Value::Int)
        } else if *ty == Type::BYTEA {
            Ok(Value::Bytes(raw.to_owned()))
        } else {
            String::from_sql(ty, raw).map(Value::Text)
        }
    }

    fn from_sql_null(_: &Type) -> Result<Value, Box<dyn Error + Sync + Send>> {
        Ok(Value::Null)
    }

    fn accepts(ty: &Type) -> bool {
        <i64 as FromSql<'_>>::accepts(ty)
            || <String as FromSql<'_>>::accepts(ty)
            || *ty == Type::BYTEA
    }
}

/// Whether the work may succeed later: the connection was lost, the server is starting or ending, or
/// the transaction met another one.
fn is_temporary(error: &StoreError) -> bool {
    let StoreError::Database { source, .. } = error else { return false };
    let Some(error) = source.downcast_ref::<::postgres::Error>() else { return false };
    let io = error.source().is_some_and(<dyn Error>::is::<std::io::Error>);
    let temporary = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
    ];
    io || error.is_closed() || error.code().is_some_and(|it| temporary.contains(it))
}

fn error(place: &str, error: ::postgres::Error) -> StoreError {
    StoreError::Database { place: place.to_owned(), source: error.into() }
}

/// An error with its cause, which the library leaves out.
fn message(error: &::postgres::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

/// The hosts and the name of the database. The address itself may contain a password.
fn place(config: &Config) -> String {
    let host = |it: &Host| match it {
        Host::Tcp(name) => name.clone(),
        Host::Unix(path) => path.display().to_string(),
    };
    let hosts: Vec<_> = config.get_hosts().iter().map(host).collect();
    format!("{} (database {})", hosts.join(", "), config.get_dbname().unwrap_or("of the user"))
}
