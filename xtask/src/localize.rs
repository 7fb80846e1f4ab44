//! Measures how `norn localize` ranks the true causes of flaky programs.

use std::{fs, process::Command};

use anyhow::{Context as _, Result};
use norn_e2e::{localize::FlakySubject, subject::GCC};
use serde_json::Value;

use crate::{norn::Norn, table::Table, workspace};

/// The document, and the lines around its table.
const DOCUMENT: &str = "docs/localize.md";
const BEGIN: &str = "<!-- written by cargo xtask localize -->\n";
const END: &str = "<!-- end -->\n";

/// The rank of the bug in the paper's table 4, by the names of our programs.
const PAPER: [(&str, u32); 14] = [
    ("account", 2),
    ("airlines_tickets", 1),
    ("array_list", 1),
    ("bubble_sort", 1),
    ("buf_writer", 1),
    ("cache", 1),
    ("hash_set", 1),
    ("lottery", 1),
    ("merge_sort", 1),
    ("ray_tracer", 2),
    ("shop", 2),
    ("string_buffer", 1),
    ("tree_set", 2),
    ("vector", 1),
];

/// Writes the table of the document.
pub(crate) fn run() -> Result<()> {
    let norn = Norn::build()?;
    let folder = workspace::target().join("localize");
    fs::create_dir_all(&folder)?;
    let head =
        ["program", "failing runs", "patterns", "highest score", "rank", "rank in the paper"];
    let mut table = Table::new(head);
    for subject in FlakySubject::all() {
        let name = subject.subject.base_name();
        let program = folder.join(name);
        workspace::succeed(&mut subject.subject.compile(Command::new(&norn.path), &program, GCC))?;
        let mut command = Command::new(&norn.path);
        command.args(["localize", "-n", "100", "--no-early-stop", "--top", "50"]);
        let output = command.args(["--format", "json", "--"]).arg(program).output()?;
        let report: Value = serde_json::from_slice(&output.stdout)
            .with_context(|| format!("{command:?} printed no JSON"))?;
        table.row(row(&subject, &report["localization"]));
    }
    println!("{table}");
    write(&table)
}

/// A row: the ranking of the most frequent failure.
fn row(subject: &FlakySubject, localization: &Value) -> Vec<String> {
    let name = subject.subject.base_name();
    let cluster = &localization["clusters"][0];
    let score = cluster["ranking"][0]["score"].as_f64();
    let rank = cluster["ranking"].is_array().then(|| subject.rank(cluster)).flatten();
    let paper = PAPER.iter().find(|it| it.0 == name);
    vec![
        name.to_owned(),
        localization["failed"].to_string(),
        localization["patterns"].to_string(),
        score.map_or_else(|| "–".to_owned(), |it| format!("{it:.2}")),
        rank.map_or_else(|| "–".to_owned(), |it| it.to_string()),
        paper.map_or_else(|| "–".to_owned(), |it| it.1.to_string()),
    ]
}

fn write(table: &Table) -> Result<()> {
    let path = workspace::root().join(DOCUMENT);
    let text = fs::read_to_string(&path)?;
    let (before, rest) =
        text.split_once(BEGIN).context("the document has no place for the table")?;
    let (_, after) = rest.split_once(END).context("the place for the table has no end")?;
    fs::write(&path, format!("{before}{BEGIN}\n{table}\n{END}{after}"))?;
    println!("wrote {}", path.display());
    Ok(())
}
