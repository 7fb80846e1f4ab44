//! Reads runs, failures and patterns from a store.

use std::collections::BTreeMap;

use crate::{
    FailureRow, Mode, Outcome, PatternRow, Store, StoreError, StoredRun, Value, database::transact,
    value::Columns,
};

impl Store {
    /// The planned runs with seeds from this one on, made or not, in the order of their seeds; at most
    /// `limit` of them.
    pub fn runs(&mut self, from: u64, limit: u64) -> Result<Vec<StoredRun>, StoreError> {
        let sql = "SELECT seed, outcome, strategy, expected, failure, ordered, sampled, error \
                   FROM run WHERE seed >= $1 ORDER BY seed LIMIT $2";
        let patterns = "SELECT seed, pattern FROM run_pattern WHERE seed >= $1 AND seed <= $2 \
                        ORDER BY seed, position";
        let (rows, patterns) = transact(&mut *self.database, Mode::Read, |it| {
            let rows = it.query(sql, &[from.into(), limit.into()])?;
            let last = rows.last().and_then(|it| it.first()).cloned().unwrap_or(Value::Int(0));
            // A run that ends between the queries has more patterns than a run without an outcome.
            Ok((rows, it.query(patterns, &[from.into(), last])?))
        })?;
        let mut by_seed: BTreeMap<u64, Vec<i64>> = BTreeMap::new();
        for row in patterns {
            let mut row = Columns::new(row);
            by_seed.entry(row.unsigned()?).or_default().push(row.int()?);
        }
        let run = |row| stored_run(&mut Columns::new(row), &mut by_seed);
        rows.into_iter().map(run).collect()
    }

    /// All failures, in the order of the first runs with them.
    pub fn failures(&mut self) -> Result<Vec<FailureRow>, StoreError> {
        let sql = "SELECT id, kind, title, site, seed, clip FROM failure ORDER BY seed, id";
        let rows = transact(&mut *self.database, Mode::Read, |it| it.query(sql, &[]))?;
        rows.into_iter().map(|it| failure(&mut Columns::new(it))).collect()
    }

    /// The patterns with these numbers.
    pub fn patterns(&mut self, ids: &[i64]) -> Result<Vec<PatternRow>, StoreError> {
        let mut found = Vec::new();
        for ids in ids.chunks(500) {
            // They are numbers, so they need not be parameters.
            let list = ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let sql = format!(
                "SELECT id, shape, title, sites, accesses, seed, failing FROM pattern \
                 WHERE id IN ({list}) ORDER BY id"
            );
            found.extend(transact(&mut *self.database, Mode::Read, |it| it.query(&sql, &[]))?);
        }
        found.into_iter().map(|it| pattern(&mut Columns::new(it))).collect()
    }
}

fn stored_run(
    row: &mut Columns,
    patterns: &mut BTreeMap<u64, Vec<i64>>,
) -> Result<StoredRun, StoreError> {
    let seed = row.unsigned()?;
    let outcome = row.optional_text()?;
    let known = |name: String| {
        Outcome::from_name(&name).ok_or(StoreError::Content("an outcome has an unknown name"))
    };
    Ok(StoredRun {
        seed,
        outcome: outcome.map(known).transpose()?,
        strategy: row.optional_text()?.unwrap_or_default(),
        expected: row.optional_int()?.and_then(|it| it.try_into().ok()).unwrap_or_default(),
        failure: row.optional_int()?,
        ordered: row.optional_int()? == Some(1),
        sampled: row.optional_int()? == Some(1),
        error: row.optional_text()?,
        patterns: patterns.remove(&seed).unwrap_or_default(),
    })
}

fn failure(row: &mut Columns) -> Result<FailureRow, StoreError> {
    Ok(FailureRow {
        id: row.int()?,
        kind: row.text()?,
        title: row.text()?,
        site: row.text()?,
        seed: row.unsigned()?,
        clip: row.optional_text()?,
    })
}

fn pattern(row: &mut Columns) -> Result<PatternRow, StoreError> {
    Ok(PatternRow {
        id: row.int()?,
        shape: row.text()?,
        title: row.text()?,
        sites: row.text()?,
        accesses: row.text()?,
        seed: row.unsigned()?,
        failing: row.int()? != 0,
    })
}
