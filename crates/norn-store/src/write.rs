//! Puts the result of a run into a store.

use crate::{
    FailureRow, Mode, PatternRow, RunResult, Store, StoreError, Transaction, Value, batch,
    database::transact, value::Columns,
};

impl Store {
    /// Puts in the result of a run. If there is one, nothing changes: the same seed gives the same
    /// run. Returns whether this is the one that counts.
    pub fn finish(&mut self, seed: u64, result: &RunResult) -> Result<bool, StoreError> {
        let lock = self.database.dialect().lock;
        let open = format!("SELECT outcome FROM run WHERE seed = $1 {lock}");
        transact(&mut *self.database, Mode::Write, |it| {
            let row = it.query(&open, &[seed.into()])?.into_iter().next();
            match row.map(|it| Columns::new(it).optional_text()).transpose()? {
                Some(None) => {}
                Some(Some(_)) | None => return Ok(false),
            }
            write(it, seed, result)?;
            Ok(true)
        })
    }

    /// Puts in a run that nobody had planned, at once with its result, so that no worker leases it. If it is
    /// there, nothing changes.
    pub fn add_run(&mut self, seed: u64, result: &RunResult) -> Result<(), StoreError> {
        let sql = "INSERT INTO run (seed) VALUES ($1) ON CONFLICT (seed) DO NOTHING";
        transact(&mut *self.database, Mode::Write, |it| {
            let is_new = it.execute(sql, &[seed.into()])? > 0;
            if is_new { write(it, seed, result) } else { Ok(()) }
        })
    }
}

/// Writes a result. Rows that several workers may write at the same time are written in the order of
/// their numbers, so that no two transactions wait for each other.
fn write(
    transaction: &mut dyn Transaction,
    seed: u64,
    result: &RunResult,
) -> Result<(), StoreError> {
    if let Some(failure) = &result.failure {
        let end = "ON CONFLICT (id) DO UPDATE SET title = excluded.title, seed = excluded.seed, \
                   clip = excluded.clip WHERE excluded.seed < failure.seed";
        let into = "failure (id, kind, title, site, seed, clip)";
        batch::insert(transaction, into, &[failure_values(failure)], end)?;
    }
    let mut described: Vec<_> = result.described.iter().collect();
    described.sort_by_key(|it| it.id);
    described.dedup_by_key(|it| it.id);
    let rows: Vec<_> = described.into_iter().map(pattern_values).collect();
    // The first failing run is the best example, then the first run.
    let end = "ON CONFLICT (id) DO UPDATE SET title = excluded.title, accesses = excluded.accesses, \
               seed = excluded.seed, failing = excluded.failing \
               WHERE excluded.failing > pattern.failing \
               OR (excluded.failing = pattern.failing AND excluded.seed < pattern.seed)";
    let into = "pattern (id, shape, title, sites, accesses, seed, failing)";
    batch::insert(transaction, into, &rows, end)?;
    let patterns = result.patterns.iter().zip(0_u64..);
    let rows: Vec<_> =
        patterns.map(|(id, position)| vec![seed.into(), (*id).into(), position.into()]).collect();
    batch::insert(transaction, "run_pattern (seed, pattern, position)", &rows, "")?;
    let sql = "UPDATE run SET outcome = $1, strategy = $2, expected = $3, failure = $4, \
               ordered = $5, sampled = $6, error = $7, leased_until = NULL WHERE seed = $8";
    let values = [
        result.outcome.name().into(),
        result.strategy.as_str().into(),
        result.expected.into(),
        result.failure.as_ref().map(|it| it.id).into(),
        result.ordered.into(),
        result.sampled.into(),
        result.error.as_deref().into(),
        seed.into(),
    ];
    transaction.execute(sql, &values)?;
    Ok(())
}

fn failure_values(row: &FailureRow) -> Vec<Value> {
    vec![
        row.id.into(),
        row.kind.as_str().into(),
        row.title.as_str().into(),
        row.site.as_str().into(),
        row.seed.into(),
        row.clip.as_deref().into(),
    ]
}

fn pattern_values(row: &PatternRow) -> Vec<Value> {
    vec![
        row.id.into(),
        row.shape.as_str().into(),
        row.title.as_str().into(),
        row.sites.as_str().into(),
        row.accesses.as_str().into(),
        row.seed.into(),
        row.failing.into(),
    ]
}
