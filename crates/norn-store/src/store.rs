//! A campaign in a database.

use crate::{
    CampaignRow, Database, Location, Mode, Progress, StoreError, Value, batch, database::transact,
    schema, value::Columns,
};

/// Runs from this seed on were not made by seed: they were predicted, and their numbers follow.
pub const PREDICTED: u64 = 1 << 62;

/// A campaign in a database.
#[derive(Debug)]
pub struct Store {
    pub(crate) database: Box<dyn Database>,
}

impl Store {
    /// Opens a store, which must have a campaign.
    pub fn open(location: &Location) -> Result<Store, StoreError> {
        let mut store = Store { database: location.connect(false)? };
        match store.find()? {
            Some(_) => Ok(store),
            None => Err(StoreError::Empty(store.database.place().to_owned())),
        }
    }

    /// Opens a store, and begins a campaign unless it has one: of several workers that try, one does.
    pub fn begin(location: &Location, campaign: &CampaignRow) -> Result<Store, StoreError> {
        let sql = "INSERT INTO campaign (id, settings, stop_early, settled) \
                   VALUES (1, $1, $2, $3) ON CONFLICT (id) DO NOTHING";
        let CampaignRow { settings, stop_early, settled } = campaign;
        let row = [settings.as_str().into(), (*stop_early).into(), (*settled).into()];
        Store::with_row(location, sql, &row)
    }

    /// Opens a store with all tables, and inserts a row.
    pub(crate) fn with_row(
        location: &Location,
        sql: &str,
        values: &[Value],
    ) -> Result<Store, StoreError> {
        let mut store = Store { database: location.connect(true)? };
        let (dialect, place) = (store.database.dialect(), store.database.place().to_owned());
        transact(&mut *store.database, Mode::Write, |it| {
            it.query(dialect.exclusive, &[])?;
            schema::create(it, dialect, &place)?;
            it.execute(sql, values)
        })?;
        Ok(store)
    }

    /// Whether there is a campaign at a location. Creates nothing.
    pub fn exists(location: &Location) -> Result<bool, StoreError> {
        match location {
            Location::Memory => Ok(false),
            Location::File(path) if !path.exists() => Ok(false),
            _ => Ok(Store { database: location.connect(false)? }.find()?.is_some()),
        }
    }

    /// The campaign.
    pub fn campaign(&mut self) -> Result<CampaignRow, StoreError> {
        self.find()?.ok_or_else(|| StoreError::Empty(self.database.place().to_owned()))
    }

    fn find(&mut self) -> Result<Option<CampaignRow>, StoreError> {
        let dialect = self.database.dialect();
        let row = transact(&mut *self.database, Mode::Read, |it| {
            if !schema::exists(it, dialect)? {
                return Ok(None);
            }
            let rows = it.query("SELECT settings, stop_early, settled FROM campaign", &[])?;
            Ok(rows.into_iter().next())
        })?;
        let Some(row) = row else { return Ok(None) };
        let mut row = Columns::new(row);
        Ok(Some(CampaignRow {
            settings: row.text()?,
            stop_early: row.int()? != 0,
            settled: row.optional_int()?.and_then(|it| it.try_into().ok()),
        }))
    }

    /// Plans the runs with these seeds, unless they are planned.
    pub fn plan(&mut self, seeds: impl IntoIterator<Item = u64>) -> Result<(), StoreError> {
        let rows: Vec<_> = seeds.into_iter().map(|it| vec![Value::from(it)]).collect();
        transact(&mut *self.database, Mode::Write, |it| {
            batch::insert(it, "run (seed)", &rows, "ON CONFLICT (seed) DO NOTHING")
        })
    }

    /// Plans this many runs more, with the seeds that follow, and goes on until all are made.
    pub fn extend(&mut self, runs: u64) -> Result<(), StoreError> {
        let dialect = self.database.dialect();
        transact(&mut *self.database, Mode::Write, |it| {
            it.query(dialect.exclusive, &[])?;
            let next =
                format!("SELECT COALESCE(MAX(seed) + 1, 0) FROM run WHERE seed < {PREDICTED}");
            let next = schema::count(it, &next)?;
            let rows: Vec<_> = (next..next + runs).map(|it| vec![Value::from(it)]).collect();
            batch::insert(it, "run (seed)", &rows, "")?;
            it.execute("UPDATE campaign SET stop_early = 0, settled = NULL", &[])
        })?;
        Ok(())
    }

    /// Ends the campaign: the ranking has settled, and runs after this one do not count.
    pub fn settle(&mut self, seed: u64) -> Result<(), StoreError> {
        let sql = "UPDATE campaign SET settled = $1 WHERE stop_early = 1 AND settled IS NULL";
        transact(&mut *self.database, Mode::Write, |it| it.execute(sql, &[seed.into()]))?;
        Ok(())
    }

    /// How far the campaign is.
    pub fn progress(&mut self) -> Result<Progress, StoreError> {
        let clock = self.database.dialect().clock;
        let leased =
            format!("SELECT COUNT(*) FROM run WHERE outcome IS NULL AND leased_until > {clock}");
        transact(&mut *self.database, Mode::Read, |it| {
            let planned = schema::count(it, "SELECT COUNT(*) FROM run")?;
            let made = schema::count(it, "SELECT COUNT(*) FROM run WHERE outcome IS NOT NULL")?;
            Ok(Progress { planned, made, leased: schema::count(it, &leased)? })
        })
    }
}
