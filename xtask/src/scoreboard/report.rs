//! The document.

use std::thread;

use norn_e2e::hunt::Found;
use serde_json::Value;

use super::Row;
use crate::{table::Table, unit};

const HEAD: &str = "# What hunts find

Written by `cargo xtask scoreboard`. Each subject has a bug that its head announces, and a fixed twin
in which nothing harmful may be found. Each is built once and hunted once, from one recorded run, with
the options that `norn hunt` has by default.

- *race*, *atomicity*, *atomic-set*, *deadlock*, *order*: candidates of these classes.
- *confirmed*, *harmful*: those that the program did, and those of them that are harmful. *seen*:
  failures in other runs, each kind once.
- *first*, *all*: executions up to the first harmful one, and in all, the recorded run included.
- *found*: *confirmed*, if a finding of the announced class, on the announced variable and with the
  announced consequence was confirmed; *on the way*, if the program failed as announced when it was
  forced towards such a finding; *explored*, if only runs without a prediction failed as announced.
  The subjects of `control` announce only a consequence.

";

pub(super) fn document(rows: &[Row]) -> String {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let (subjects, twins) = (table(rows, false), table(rows, true));
    let totals = totals(rows);
    format!(
        "{HEAD}- processors: {processors}\n\n## Subjects\n\n{subjects}\n## Twins\n\n{twins}\n{totals}\n"
    )
}

fn table(rows: &[Row], twins: bool) -> Table {
    let mut table = Table::new([
        "subject",
        "consequence",
        "found",
        "first",
        "all",
        "events",
        "race",
        "atomicity",
        "atomic-set",
        "deadlock",
        "order",
        "confirmed",
        "harmful",
        "seen",
        "time",
    ]);
    for row in rows.iter().filter(|it| it.announced.is_none() == twins) {
        table.row(cells(row));
    }
    table
}

fn cells(row: &Row) -> Vec<String> {
    let hunt = &row.hunt;
    let count = |field: &str, word: &str| {
        hunt.findings().iter().filter(|it| it[field] == word).count().to_string()
    };
    let number = |it: &Value| it.as_u64().map_or("?".to_owned(), unit::count);
    vec![
        row.subject.clone(),
        row.announced.as_ref().map_or("–", |it| &it.consequence).to_owned(),
        row.outcome().to_owned(),
        hunt.first().map_or("–".to_owned(), |it| it.to_string()),
        number(&hunt.json["summary"]["executions"]),
        number(&hunt.json["run"]["events"]),
        count("class", "race"),
        count("class", "atomicity"),
        count("class", "atomic-set"),
        count("class", "deadlock"),
        count("class", "order"),
        count("status", "confirmed"),
        hunt.harmful().count().to_string(),
        hunt.observed().len().to_string(),
        format!("{:.1} s", row.time.as_secs_f64()),
    ]
}

fn totals(rows: &[Row]) -> String {
    let bugs: Vec<_> = rows.iter().filter_map(|it| Some((it, it.announced.as_ref()?))).collect();
    let count = |how: Found| bugs.iter().filter(|(row, it)| row.hunt.found(it) == how).count();
    let (confirmed, on_the_way, explored) =
        (count(Found::Confirmed), count(Found::OnTheWay), count(Found::Explored));
    let twins: Vec<_> = rows.iter().filter(|it| it.announced.is_none()).collect();
    let clean = twins.iter().filter(|it| it.hunt.is_clean()).count();
    format!(
        "Announced bugs found: {}/{} ({confirmed} confirmed, {on_the_way} on the way, {explored} \
         explored). Twins clean: {clean}/{}.",
        confirmed + on_the_way + explored,
        bugs.len(),
        twins.len()
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use norn_e2e::{hunt::Hunt, subject::Announced};
    use serde_json::json;

    use super::*;

    fn row(announced: bool, json: Value) -> Row {
        let announced = announced.then(|| Announced::read("// Finds: race on x; hang").unwrap());
        Row {
            subject: "x".to_owned(),
            announced,
            hunt: Hunt { json, code: None },
            time: Duration::ZERO,
        }
    }

    #[test]
    fn findings_are_counted() {
        let finding = json!({ "class": "race", "harmful": true, "executions": 3,
            "accesses": [{ "variable": { "name": "x" } }], "consequence": "deadlock" });
        let seen = json!([{ "consequence": "deadlock", "executions": 9, "finding": null }]);
        let rows = [
            row(true, json!({ "findings": [finding], "summary": { "executions": 7 } })),
            row(true, json!({ "findings": [], "observed": seen })),
            row(true, json!({})),
            row(false, json!({})),
            row(false, json!({ "observed": seen })),
        ];
        assert_eq!(
            totals(&rows),
            "Announced bugs found: 2/3 (1 confirmed, 0 on the way, 1 explored). Twins clean: 1/2."
        );
        assert_eq!(cells(&rows[0])[2..5], ["confirmed", "3", "7"]);
        assert_eq!(rows[4].outcome(), "**not clean**");
    }
}
