//! A hunt that several processes share: the program that is executed, and who executes it.

use std::time::Duration;

use crate::{
    Location, Mode, Store, StoreError, database::transact, lease::milliseconds, schema,
    value::Columns,
};

impl Store {
    /// Opens a store, and begins a hunt with these settings, as JSON, or goes on with it. If it has another
    /// one, that stays as it is.
    pub fn begin_hunt(location: &Location, settings: &str) -> Result<Store, StoreError> {
        let sql = "INSERT INTO hunt (id, settings, ended) VALUES (1, $1, 0) \
                   ON CONFLICT (id) DO UPDATE SET ended = 0 WHERE hunt.settings = excluded.settings";
        Store::with_row(location, sql, &[settings.into()])
    }

    /// Opens a store, which must have a hunt.
    pub fn open_hunt(location: &Location) -> Result<Store, StoreError> {
        let database = location.connect(false).map_err(|error| match error {
            StoreError::Empty(place) => StoreError::NoHunt(place),
            error => error,
        })?;
        let mut store = Store { database };
        store.hunt_settings()?;
        Ok(store)
    }

    /// The settings of the hunt.
    pub fn hunt_settings(&mut self) -> Result<String, StoreError> {
        let dialect = self.database.dialect();
        let row = transact(&mut *self.database, Mode::Read, |it| {
            if !schema::has_hunts(it, dialect)? {
                return Ok(None);
            }
            Ok(it.query("SELECT settings FROM hunt", &[])?.into_iter().next())
        })?;
        match row {
            Some(row) => Columns::new(row).text(),
            None => Err(StoreError::NoHunt(self.database.place().to_owned())),
        }
    }

    /// Ends the hunt: executions that nobody has made are not wanted any more.
    pub fn end_hunt(&mut self) -> Result<(), StoreError> {
        transact(&mut *self.database, Mode::Write, |it| {
            it.execute("UPDATE hunt SET ended = 1", &[])?;
            it.execute("DELETE FROM execution WHERE result IS NULL", &[])
        })?;
        Ok(())
    }

    /// Notes that a worker is there, and how many executions it makes at a time.
    pub fn attend(&mut self, worker: &str, jobs: usize, time: Duration) -> Result<(), StoreError> {
        let clock = self.database.dialect().clock;
        let sql = format!(
            "INSERT INTO hunt_worker (name, jobs, alive_until) VALUES ($1, $2, {clock} + $3) \
             ON CONFLICT (name) DO UPDATE SET alive_until = excluded.alive_until"
        );
        let values = [worker.into(), (jobs as u64).into(), milliseconds(time)];
        transact(&mut *self.database, Mode::Write, |it| it.execute(&sql, &values))?;
        Ok(())
    }

    /// Notes that a worker has gone, and leaves its executions to others.
    pub fn leave(&mut self, worker: &str) -> Result<(), StoreError> {
        transact(&mut *self.database, Mode::Write, |it| {
            it.execute("DELETE FROM hunt_worker WHERE name = $1", &[worker.into()])?;
            let sql = "UPDATE execution SET worker = NULL, leased_until = NULL \
                       WHERE result IS NULL AND worker = $1";
            it.execute(sql, &[worker.into()])
        })?;
        Ok(())
    }

    /// Number of executions that all workers make at a time.
    pub fn hunt_jobs(&mut self) -> Result<u64, StoreError> {
        let clock = self.database.dialect().clock;
        let sql = format!(
            "SELECT CAST(COALESCE(SUM(jobs), 0) AS BIGINT) FROM hunt_worker WHERE alive_until > {clock}"
        );
        transact(&mut *self.database, Mode::Read, |it| schema::count(it, &sql))
    }

    /// The names of workers, dead or alive, and of processes that have leased executions.
    pub fn hunt_workers(&mut self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT name FROM hunt_worker UNION \
                   SELECT worker FROM execution WHERE result IS NULL AND worker IS NOT NULL \
                   ORDER BY 1";
        let rows = transact(&mut *self.database, Mode::Read, |it| it.query(sql, &[]))?;
        rows.into_iter().map(|it| Columns::new(it).text()).collect()
    }
}
