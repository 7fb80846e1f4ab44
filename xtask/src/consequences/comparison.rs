//! Executions up to the first harmful finding, with and without regard to visible failures.

use std::{fs, process::Command};

use anyhow::Result;
use norn_e2e::subject::{GCC, HUNTED, Subject};

use super::{cell, first, hunt};
use crate::{norn::Norn, table::Table, workspace};

/// The results of a subject.
struct Row {
    subject: String,
    without: Option<u64>,
    with: Option<u64>,
}

pub(super) fn run(norn: &Norn, folder: Option<&str>) -> Result<()> {
    let programs = workspace::target().join("consequences");
    fs::create_dir_all(&programs)?;
    let folders = HUNTED.iter().filter(|it| folder.is_none_or(|folder| **it == folder));
    let mut rows = Vec::new();
    for subject in folders.flat_map(|it| Subject::all(it)) {
        let Some(announced) = &subject.announced else { continue };
        let program = programs.join(subject.name.replace('/', "_"));
        workspace::succeed(&mut subject.compile(Command::new(&norn.path), &program, GCC))?;
        let measure =
            |options: &[&str]| anyhow::Ok(first(&hunt(norn, &program, options)?, announced));
        let without = measure(&["--stop-at-first", "--distance", "0"])?;
        let with = measure(&["--stop-at-first"])?;
        eprintln!("{}: {} {}", subject.name, cell(without), cell(with));
        rows.push(Row { subject: subject.name, without, with });
    }
    println!("{}", document(&rows));
    Ok(())
}

/// The subjects whose numbers differ, and the sums over those that are found in both.
fn document(rows: &[Row]) -> String {
    let mut table = Table::new(["subject", "without", "with"]);
    for row in rows.iter().filter(|it| it.with != it.without) {
        table.row([row.subject.clone(), cell(row.without), cell(row.with)]);
    }
    let both: Vec<_> = rows.iter().filter_map(|it| Some((it.without?, it.with?))).collect();
    let (without, with) = both.iter().fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    let later = both.iter().filter(|it| it.1 > it.0 + 1).count();
    format!(
        "{table}\n{} subjects, {} of them found in both. Sum of executions up to the first: {without} without, \
         {with} with. Later by more than one: {later}.",
        rows.len(),
        both.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_differences_are_listed() {
        let row = |subject: &str, without, with| Row { subject: subject.to_owned(), without, with };
        let text = document(&[
            row("same", Some(2), Some(2)),
            row("later", Some(2), Some(4)),
            row("found", None, Some(3)),
        ]);
        assert!(text.contains("| found ") && !text.contains("| same "), "{text}");
        let sums = "3 subjects, 2 of them found in both. Sum of executions up to the first: 4 without, 6 with. \
                    Later by more than one: 1.";
        assert!(text.ends_with(sums), "{text}");
    }
}
