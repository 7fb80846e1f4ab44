//! Inserts many rows with one statement: a row at a time would take a round trip to the server each.

use crate::{StoreError, Transaction, Value};

/// Number of rows of a statement: far below the limits of both databases for parameters.
const ROWS: usize = 500;

/// Executes `INSERT INTO` for rows of the same length, in their order. `end` follows the values.
pub(crate) fn insert(
    transaction: &mut dyn Transaction,
    into: &str,
    rows: &[Vec<Value>],
    end: &str,
) -> Result<(), StoreError> {
    for rows in rows.chunks(ROWS) {
        let values: Vec<_> = rows.iter().flatten().cloned().collect();
        transaction
            .execute(&format!("INSERT INTO {into} VALUES {} {end}", places(rows)), &values)?;
    }
    Ok(())
}

/// The parameters of rows: `($1, $2), ($3, $4)`.
fn places(rows: &[Vec<Value>]) -> String {
    let mut next = 0;
    let mut row = |columns: usize| {
        let numbers = next + 1..=next + columns;
        next += columns;
        format!("({})", numbers.map(|it| format!("${it}")).collect::<Vec<_>>().join(", "))
    };
    rows.iter().map(|it| row(it.len())).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered_through() {
        let row = vec![Value::Null, Value::Int(1)];
        assert_eq!(places(&[row.clone(), row]), "($1, $2), ($3, $4)");
    }
}
