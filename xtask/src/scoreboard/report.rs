//! The document.

use std::thread;

use norn_e2e::{hunt::Found, subject::VALIDATION};
use serde_json::Value;

use super::Row;
use crate::{statistics::geometric_mean, table::Table, unit};

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

/// The sets of the validation programs, with what they are for.
const VALIDATION_TEXTS: [(&str, &str); 2] = [
    (VALIDATION[0], "constants of the search were chosen with these programs"),
    (VALIDATION[1], "nothing was chosen with these programs; they only measure"),
];

pub(super) fn document(rows: &[Row]) -> String {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let usual = |it: &&Row| !VALIDATION.contains(&it.folder.as_str());
    let hunted: Vec<&Row> = rows.iter().filter(usual).collect();
    let mut parts = vec![format!("{HEAD}- processors: {processors}\n")];
    if !hunted.is_empty() {
        parts.push(section("##", &hunted));
    }
    for (folder, purpose) in VALIDATION_TEXTS {
        let set: Vec<&Row> = rows.iter().filter(|it| it.folder == folder).collect();
        if !set.is_empty() {
            parts.push(format!("\n## {folder}\n\nPrograms for validation: {purpose}.\n"));
            parts.push(section("###", &set));
        }
    }
    parts.concat()
}

/// The tables of a set of subjects and of their twins, and the totals.
fn section(level: &str, rows: &[&Row]) -> String {
    let (bugs, twins, totals) = (table(rows, false), table(rows, true), totals(rows));
    format!("\n{level} Subjects\n\n{bugs}\n{level} Twins\n\n{twins}\n{totals}\n")
}

fn table(rows: &[&Row], twins: bool) -> Table {
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

fn totals(rows: &[&Row]) -> String {
    let bugs: Vec<_> = rows.iter().filter_map(|it| Some((it, it.announced.as_ref()?))).collect();
    let count = |how: Found| bugs.iter().filter(|(row, it)| row.hunt.found(it) == how).count();
    let (confirmed, on_the_way, explored) =
        (count(Found::Confirmed), count(Found::OnTheWay), count(Found::Explored));
    let twins: Vec<_> = rows.iter().filter(|it| it.announced.is_none()).collect();
    let clean = twins.iter().filter(|it| it.hunt.is_clean()).count();
    let found = bugs.iter().filter(|(row, it)| row.hunt.found(it) != Found::No);
    let first = found.filter_map(|(row, _)| u32::try_from(row.hunt.first()?).ok());
    let first: Vec<_> = first.map(f64::from).collect();
    let count = u32::try_from(first.len()).map_or(f64::INFINITY, f64::from);
    let (mean, usual) = (geometric_mean(&first), first.iter().sum::<f64>() / count);
    format!(
        "Announced bugs found: {}/{} ({confirmed} confirmed, {on_the_way} on the way, {explored} \
         explored). Executions to the first harmful one, geometric mean: {} (arithmetic mean: \
         {}). Twins clean: {clean}/{}.",
        confirmed + on_the_way + explored,
        bugs.len(),
        mean.map_or("–".to_owned(), |it| format!("{it:.2}")),
        mean.map_or("–".to_owned(), |_| format!("{usual:.2}")),
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
            folder: "hunt".to_owned(),
            announced,
            hunt: Hunt { json, code: None },
            time: Duration::ZERO,
        }
    }

    #[test]
    fn validation_sets_are_reported_apart() {
        let set = |folder: &str| Row { folder: folder.to_owned(), ..row(true, json!({})) };
        let text = document(&[set("hunt"), set(VALIDATION[1]), set(VALIDATION[1])]);
        let totals: Vec<_> = text.lines().filter(|it| it.starts_with("Announced")).collect();
        assert!(totals[0].contains("found: 0/1 ") && totals[1].contains("found: 0/2 "), "{text}");
        assert!(
            text.contains("\n## validation/final\n") && !text.contains(VALIDATION[0]),
            "{text}"
        );
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
            totals(&rows.iter().collect::<Vec<_>>()),
            "Announced bugs found: 2/3 (1 confirmed, 0 on the way, 1 explored). Executions to the first \
             harmful one, geometric mean: 5.20 (arithmetic mean: 6.00). Twins clean: 1/2."
        );
        assert_eq!(cells(&rows[0])[2..5], ["confirmed", "3", "7"]);
        assert_eq!(rows[4].outcome(), "**not clean**");
    }
}
