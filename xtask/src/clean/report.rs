//! The document.

use std::thread;

use super::{Cell, Row, builds};
use crate::table::Table;

const HEAD: &str = "# False alarms

Written by `cargo xtask clean`. The programs are correct: the fixed twins of subjects in which threads meet in
other ways than by locks. Each is built by several compilers, and hunted many times with the options that
`norn hunt` has by default, on an idle machine and while two busy processes for each processor run.

- *builds*: of those below, how many compilers accept the program.
- *alarms*: hunts that reported something harmful, or did not exit with status 0.
- *varying*: builds whose hunts, idle and busy together, did not all print the same report, byte for byte.

";

pub(super) fn document(rows: &[Row]) -> String {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let builds: Vec<_> = builds().map(|it| it.to_string()).collect();
    let mut table = Table::new([
        "program",
        "builds",
        "hunts",
        "alarms",
        "hunts, busy",
        "alarms, busy",
        "varying",
    ]);
    for Row { program, builds, idle, busy, varying } in rows {
        let cells = [idle, busy].into_iter().flat_map(cells);
        let head = [program.clone(), builds.to_string()].into_iter();
        table.row(head.chain(cells).chain([varying.to_string()]));
    }
    let facts = format!("- processors: {processors}\n- builds: {}\n", builds.join(", "));
    format!("{HEAD}{facts}\n{table}\n{}\n", totals(rows))
}

fn cells(cell: &Cell) -> [String; 2] {
    [cell.hunts, cell.alarms.len()].map(|it| it.to_string())
}

fn totals(rows: &[Row]) -> String {
    let cells = || rows.iter().flat_map(|it| [&it.idle, &it.busy]);
    let hunts: usize = cells().map(|it| it.hunts).sum();
    let varying: usize = rows.iter().map(|it| it.varying).sum();
    let alarms: Vec<_> = cells().flat_map(|it| &it.alarms).map(|it| format!("- {it}")).collect();
    let list = if alarms.is_empty() { String::new() } else { format!("\n\n{}", alarms.join("\n")) };
    format!(
        "{hunts} hunts in {} programs: {} false alarms; {varying} builds with reports that vary.{list}",
        rows.len(),
        alarms.len()
    )
}
