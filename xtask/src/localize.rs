//! Measures how `norn localize` ranks the true causes of flaky programs.

mod box_plot;
mod windows;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result};
use clap::Args;
use norn_e2e::{localize::FlakySubject, subject::GCC};
use serde_json::Value;

use crate::{norn::Norn, table::Table, toolchain::Toolchain, workspace};

/// The document, and the lines around its table.
const DOCUMENT: &str = "docs/localize.md";
const BEGIN: &str = "<!-- written by cargo xtask localize -->\n";

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

/// The program that hardly ever fails, the number of its native runs, and of its controlled ones.
const RARE: &str = "session";
const NATIVE_RUNS: u32 = 10_000;
const CONTROLLED_RUNS: &str = "200";
const RARE_BEGIN: &str = "<!-- written by cargo xtask localize: a rare failure -->\n";

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Measure this build of norn, instead of building one
    #[arg(long, value_name = "FILE")]
    norn: Option<PathBuf>,
    /// Study instead how large windows have to be, at 4 to 64 threads
    #[arg(long)]
    windows: bool,
    /// With --windows: number of runs of each program for each number of threads
    #[arg(long, value_name = "NUMBER", default_value_t = 20, requires = "windows")]
    runs: u32,
}

/// Writes the tables of the document.
pub(crate) fn run(options: &Options) -> Result<()> {
    let norn = Norn::given(options.norn.as_deref())?;
    let folder = workspace::target().join("localize");
    fs::create_dir_all(&folder)?;
    if options.windows {
        return windows::run(&norn, &folder, options.runs);
    }
    let head =
        ["program", "failing runs", "patterns", "highest score", "rank", "rank in the paper"];
    let mut table = Table::new(head);
    for subject in FlakySubject::all() {
        let name = subject.subject.base_name();
        let program = folder.join(name);
        workspace::succeed(&mut subject.subject.compile(Command::new(&norn.path), &program, GCC))?;
        let localization = localize(&norn, &program, "100")?;
        table.row(row(&subject, &localization));
        if name == RARE {
            rare(&norn, &subject, &folder)?;
        }
    }
    println!("{table}");
    workspace::replace_section(DOCUMENT, BEGIN, &format!("\n{table}\n"))
}

/// Makes runs, and returns the ranking.
fn localize(norn: &Norn, program: &Path, runs: &str) -> Result<Value> {
    let mut command = Command::new(&norn.path);
    command.args(["localize", "-n", runs, "--no-early-stop", "--top", "50"]);
    let output = command.args(["--format", "json", "--"]).arg(program).output()?;
    let mut report: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("{command:?} printed no JSON"))?;
    Ok(report["localization"].take())
}

/// Counts how often the rare failure happens in native runs, and localizes it in controlled ones.
fn rare(norn: &Norn, subject: &FlakySubject, folder: &Path) -> Result<()> {
    let native = folder.join("native");
    Toolchain::native().compile(&subject.subject.source, &native)?;
    let mut failed = 0;
    for _ in 0..NATIVE_RUNS {
        let status = Command::new(&native).stderr(Stdio::null()).status()?;
        failed += u32::from(!status.success());
    }
    let localization = localize(norn, &folder.join(RARE), CONTROLLED_RUNS)?;
    let cluster = &localization["clusters"][0];
    let rank = cluster["ranking"].is_array().then(|| subject.rank(cluster)).flatten();
    let rank = rank.map_or_else(|| "not found".to_owned(), |it| format!("rank {it}"));
    let experiment = &cluster["ranking"][0]["experiment"]["confirmed"];
    let text = format!(
        "\n`{RARE}` failed in {failed} of {NATIVE_RUNS} native runs, and in {} of {CONTROLLED_RUNS} controlled \
         runs. The true pattern: {rank}; cause confirmed: {experiment}.\n\n",
        localization["failed"]
    );
    println!("{text}");
    workspace::replace_section(DOCUMENT, RARE_BEGIN, &text)
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
