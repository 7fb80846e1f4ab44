//! Leases: a worker makes a run that no other one makes, until its lease expires.
//!
//! A worker that dies leaves leases behind. Its runs are made by others when the leases have expired;
//! a worker that lives renews those of the runs that it makes. It may have others that it does not know of: a
//! lease whose confirmation was lost with the connection. They expire, too.

use std::time::Duration;

use crate::{Mode, Store, StoreError, Value, database::transact, schema, value::Columns};

/// What a worker is to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lease {
    /// Make the run with this seed.
    Run(u64),
    /// Wait: other workers are making all runs that are left.
    Wait,
    /// Nothing: all runs have been made, or the ranking has settled.
    Done,
}

impl Store {
    /// Leases the run with the lowest seed that is neither made nor leased.
    pub fn lease(&mut self, worker: &str, time: Duration) -> Result<Lease, StoreError> {
        let dialect = self.database.dialect();
        let sql = format!(
            "UPDATE run SET worker = $1, leased_until = {clock} + $2 WHERE seed = (\
             SELECT seed FROM run WHERE outcome IS NULL \
             AND (leased_until IS NULL OR leased_until <= {clock}) \
             ORDER BY seed LIMIT 1 {skip}) RETURNING seed",
            clock = dialect.clock,
            skip = dialect.skip_locked,
        );
        let values = [worker.into(), milliseconds(time)];
        transact(&mut *self.database, Mode::Write, |it| {
            let settled = "SELECT COUNT(*) FROM campaign WHERE settled IS NOT NULL";
            if schema::count(it, settled)? > 0 {
                return Ok(Lease::Done);
            }
            if let Some(row) = it.query(&sql, &values)?.into_iter().next() {
                return Ok(Lease::Run(Columns::new(row).unsigned()?));
            }
            let open = schema::count(it, "SELECT COUNT(*) FROM run WHERE outcome IS NULL")?;
            Ok(if open == 0 { Lease::Done } else { Lease::Wait })
        })
    }

    /// Extends a worker's leases of these seeds.
    pub fn renew(&mut self, worker: &str, seeds: &[u64], time: Duration) -> Result<(), StoreError> {
        if seeds.is_empty() {
            return Ok(());
        }
        let clock = self.database.dialect().clock;
        let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
        let sql = format!(
            "UPDATE run SET leased_until = {clock} + $1 \
             WHERE outcome IS NULL AND worker = $2 AND seed IN ({})",
            seeds.join(", ")
        );
        let values = [milliseconds(time), worker.into()];
        transact(&mut *self.database, Mode::Write, |it| it.execute(&sql, &values))?;
        Ok(())
    }

    /// Ends all leases of a worker.
    pub fn release(&mut self, worker: &str) -> Result<(), StoreError> {
        let sql = "UPDATE run SET worker = NULL, leased_until = NULL \
                   WHERE outcome IS NULL AND worker = $1";
        transact(&mut *self.database, Mode::Write, |it| it.execute(sql, &[worker.into()]))?;
        Ok(())
    }

    /// The workers that have leases, expired or not.
    pub fn workers(&mut self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT DISTINCT worker FROM run WHERE outcome IS NULL AND worker IS NOT NULL \
                   ORDER BY worker";
        let rows = transact(&mut *self.database, Mode::Read, |it| it.query(sql, &[]))?;
        rows.into_iter().map(|it| Columns::new(it).text()).collect()
    }
}

pub(crate) fn milliseconds(time: Duration) -> Value {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX >> 8).into()
}
