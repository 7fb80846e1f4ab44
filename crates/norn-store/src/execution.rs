//! Executions of a hunt: one process asks for them, and any process makes them.
//!
//! An execution follows from its plan, and has one result, whoever delivers it first. So asking for the same
//! plan again, also after an interruption, costs no execution.

use std::{collections::BTreeSet, fmt::Write as _, time::Duration};

use crate::{
    Mode, Store, StoreError, Transaction, Value, database::transact, lease::milliseconds, schema,
    value::Columns,
};

/// Maximum number of bytes of a part of a file: a row must fit into memory a few times.
const PART: usize = 8 << 20;

/// A file of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutionFile {
    /// Its name.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// An execution that has been made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// How it ended, as JSON.
    pub result: String,
    /// Its files, in the order of their names.
    pub files: Vec<ExecutionFile>,
}

/// What is known about an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Requested {
    /// Nobody has asked for it.
    No,
    /// It is wanted, and has not been made.
    Open,
    /// It has been made.
    Made(Execution),
}

/// What a worker of a hunt is to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExecutionLease {
    /// Make this execution.
    Make {
        /// Its number.
        id: String,
        /// Its plan, as JSON.
        plan: String,
    },
    /// Wait: nothing is wanted at the moment.
    Wait,
    /// Nothing: the hunt has ended.
    Done,
}

impl Store {
    /// Asks for an execution, unless somebody has.
    pub fn want(&mut self, id: &str, position: u64, plan: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO execution (id, position, plan) VALUES ($1, $2, $3) \
                   ON CONFLICT (id) DO NOTHING";
        let values = [id.into(), position.into(), plan.into()];
        transact(&mut *self.database, Mode::Write, |it| it.execute(sql, &values))?;
        Ok(())
    }

    /// The position after all executions that were ever wanted.
    pub fn next_position(&mut self) -> Result<u64, StoreError> {
        let sql = "SELECT COALESCE(MAX(position) + 1, 0) FROM execution";
        transact(&mut *self.database, Mode::Read, |it| schema::count(it, sql))
    }

    /// An execution.
    pub fn execution(&mut self, id: &str) -> Result<Requested, StoreError> {
        let result = "SELECT result FROM execution WHERE id = $1";
        let files =
            "SELECT name, bytes FROM execution_file WHERE execution = $1 ORDER BY name, part";
        let (rows, parts) = transact(&mut *self.database, Mode::Read, |it| {
            let rows = it.query(result, &[id.into()])?;
            let parts = it.query(files, &[id.into()])?;
            Ok((rows, parts))
        })?;
        let Some(row) = rows.into_iter().next() else { return Ok(Requested::No) };
        // An execution that is put in between the queries has files, but no result.
        let Some(result) = Columns::new(row).optional_text()? else { return Ok(Requested::Open) };
        let mut files: Vec<ExecutionFile> = Vec::new();
        for part in parts {
            let mut part = Columns::new(part);
            let (name, bytes) = (part.text()?, part.bytes()?);
            match files.last_mut() {
                Some(last) if last.name == name => last.bytes.extend(bytes),
                _ => files.push(ExecutionFile { name, bytes }),
            }
        }
        Ok(Requested::Made(Execution { result, files }))
    }

    /// Leases an execution, if it is neither made nor leased.
    pub fn lease_this(
        &mut self,
        id: &str,
        worker: &str,
        time: Duration,
    ) -> Result<bool, StoreError> {
        let clock = self.database.dialect().clock;
        let sql = format!(
            "UPDATE execution SET worker = $1, leased_until = {clock} + $2 WHERE id = $3 \
             AND result IS NULL AND (leased_until IS NULL OR leased_until <= {clock})"
        );
        let values = [worker.into(), milliseconds(time), id.into()];
        let changed = transact(&mut *self.database, Mode::Write, |it| it.execute(&sql, &values))?;
        Ok(changed > 0)
    }

    /// Leases the first execution that is neither made nor leased, and is not to be left to others.
    pub fn lease_execution(
        &mut self,
        worker: &str,
        others: &BTreeSet<String>,
        time: Duration,
    ) -> Result<ExecutionLease, StoreError> {
        let dialect = self.database.dialect();
        let mut values = vec![worker.into(), milliseconds(time)];
        let mut except = String::new();
        for id in others {
            values.push(id.as_str().into());
            let _ = write!(except, " AND id <> ${}", values.len());
        }
        let sql = format!(
            "UPDATE execution SET worker = $1, leased_until = {clock} + $2 WHERE id = (\
             SELECT id FROM execution WHERE result IS NULL \
             AND (leased_until IS NULL OR leased_until <= {clock}){except} \
             ORDER BY position, id LIMIT 1 {skip}) RETURNING id, plan",
            clock = dialect.clock,
            skip = dialect.skip_locked,
        );
        transact(&mut *self.database, Mode::Write, |it| {
            if schema::count(it, "SELECT COUNT(*) FROM hunt WHERE ended = 1")? > 0 {
                return Ok(ExecutionLease::Done);
            }
            let Some(row) = it.query(&sql, &values)?.into_iter().next() else {
                return Ok(ExecutionLease::Wait);
            };
            let mut row = Columns::new(row);
            Ok(ExecutionLease::Make { id: row.text()?, plan: row.text()? })
        })
    }

    /// Extends a worker's lease of an execution.
    pub fn renew_execution(
        &mut self,
        id: &str,
        worker: &str,
        time: Duration,
    ) -> Result<(), StoreError> {
        let clock = self.database.dialect().clock;
        let sql = format!(
            "UPDATE execution SET leased_until = {clock} + $1 \
             WHERE result IS NULL AND worker = $2 AND id = $3"
        );
        let values = [milliseconds(time), worker.into(), id.into()];
        transact(&mut *self.database, Mode::Write, |it| it.execute(&sql, &values))?;
        Ok(())
    }

    /// Ends a worker's lease of an execution that it has not made.
    pub fn give_back(&mut self, id: &str, worker: &str) -> Result<(), StoreError> {
        let sql = "UPDATE execution SET worker = NULL, leased_until = NULL \
                   WHERE result IS NULL AND id = $1 AND worker = $2";
        let values = [id.into(), worker.into()];
        transact(&mut *self.database, Mode::Write, |it| it.execute(sql, &values))?;
        Ok(())
    }

    /// Puts in an execution that has been made. If it is there, nothing changes: the same plan gives the
    /// same execution. Returns whether this is the one that counts.
    pub fn put_execution(
        &mut self,
        id: &str,
        worker: &str,
        execution: &Execution,
    ) -> Result<bool, StoreError> {
        let lock = self.database.dialect().lock;
        let open = format!("SELECT id FROM execution WHERE id = $1 AND result IS NULL {lock}");
        let sql =
            "UPDATE execution SET result = $1, worker = $2, leased_until = NULL WHERE id = $3";
        transact(&mut *self.database, Mode::Write, |it| {
            if it.query(&open, &[id.into()])?.is_empty() {
                return Ok(false);
            }
            for file in &execution.files {
                put_file(it, id, file)?;
            }
            it.execute(sql, &[execution.result.as_str().into(), worker.into(), id.into()])?;
            Ok(true)
        })
    }
}

fn put_file(
    transaction: &mut dyn Transaction,
    id: &str,
    file: &ExecutionFile,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO execution_file (execution, name, part, bytes) VALUES ($1, $2, $3, $4)";
    // An empty file has one part, too.
    let parts = file.bytes.chunks(PART).chain(file.bytes.is_empty().then_some(&[][..]));
    for (number, part) in (0_u64..).zip(parts) {
        let name = file.name.as_str().into();
        let bytes = Value::Bytes(part.to_owned());
        transaction.execute(sql, &[id.into(), name, number.into(), bytes])?;
    }
    Ok(())
}
