//! Measures the cost of recording: the same programs native, under Norn in each mode, and under
//! other tools.
//!
//! All modes of a workload take turns (A B C A B C ...), so that a load peak of the machine does
//! not hit one of them alone, and the fastest time of each counts.

mod bar;
mod collect;
mod column;
mod control;
mod report;
mod rust;
mod workload;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;

use crate::{
    norn::{Info, Norn},
    process::{End, Usage, measure},
    workspace,
};
use column::Column;
use workload::{Size, Subject, Workload};

/// Time limit of a run.
const LIMIT: Duration = Duration::from_mins(5);

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(crate) struct Options {
    /// Small inputs and few repetitions: a smoke test, not a measurement
    #[arg(long)]
    quick: bool,
    /// Measure the cost of controlled scheduling instead of recording
    #[arg(long)]
    control: bool,
    /// Measure the cost of collecting patterns instead of recording; writes a table of docs/localize.md
    #[arg(long, conflicts_with = "control")]
    collect: bool,
    /// Measure programs in Rust; writes a table of docs/rust.md
    #[arg(long, conflicts_with_all = ["control", "collect"])]
    rust: bool,
    /// Measure this build of norn, instead of building one
    #[arg(long, value_name = "FILE")]
    norn: Option<PathBuf>,
    /// Only this workload
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Number of runs of each workload; the fastest counts
    #[arg(long, value_name = "N")]
    repeat: Option<u32>,
}

/// One workload with its results in every mode.
#[derive(Debug)]
struct Row {
    workload: &'static str,
    /// The command with the input of most tools, and with that of valgrind's tools.
    commands: [String; 2],
    cells: BTreeMap<Column, Cell>,
}

/// The result of one workload in one mode.
#[derive(Clone, Debug)]
enum Cell {
    Measured { usage: Usage, trace: Option<Info> },
    Failed(String),
}

/// Writes the section of a document from the results and the number of runs of each.
type Section = fn(&[Row], u32) -> String;

pub(crate) fn run(options: &Options) -> Result<()> {
    let norn = Norn::given(options.norn.as_deref())?;
    let bench = Bench::new(&norn, options)?;
    if options.control {
        let text = control::document(&bench, options.quick)?;
        println!("{text}");
        return if options.quick {
            Ok(())
        } else {
            workspace::write_document("overhead-control.md", &text)
        };
    }
    let all: &[Workload] = if options.rust { &Workload::RUST } else { &Workload::ALL };
    let chosen: Vec<_> = all.iter().filter(|it| wanted(it, options)).collect();
    ensure!(!chosen.is_empty(), "no such workload\nhint: one of {}", names(all));
    let columns: &[Column] = match () {
        () if options.collect => &collect::COLUMNS,
        () if options.rust => &rust::COLUMNS,
        () => &Column::ALL,
    };
    let mut rows = Vec::new();
    for workload in chosen {
        rows.push(bench.row(workload, options.quick, columns)?);
    }
    let section = match () {
        () if options.collect => {
            Some((collect::DOCUMENT, collect::BEGIN, collect::section as Section))
        }
        () if options.rust => Some((rust::DOCUMENT, rust::BEGIN, rust::section as Section)),
        () => None,
    };
    if let Some((document, begin, section)) = section {
        let text = section(&rows, bench.repeat);
        println!("{text}");
        let is_full = !options.quick && options.only.is_none();
        return if is_full { workspace::replace_section(document, begin, &text) } else { Ok(()) };
    }
    let text = report::document(&rows, &bench.missing, bench.repeat);
    println!("{text}");
    if options.quick || options.only.is_some() {
        println!("docs/overhead.md is written by a full run only");
        return Ok(());
    }
    workspace::write_document("overhead.md", &text)
}

fn wanted(workload: &Workload, options: &Options) -> bool {
    options.only.as_ref().is_none_or(|it| it == workload.name)
}

fn names(workloads: &[Workload]) -> String {
    workloads.iter().map(|it| it.name).collect::<Vec<_>>().join(", ")
}

/// The state that all workloads share.
struct Bench<'a> {
    norn: &'a Norn,
    folder: PathBuf,
    repeat: u32,
    /// Columns that cannot be measured here, with a hint.
    missing: BTreeMap<Column, &'static str>,
}

impl Bench<'_> {
    fn new<'a>(norn: &'a Norn, options: &Options) -> Result<Bench<'a>> {
        let folder = workspace::target().join("overhead");
        fs::create_dir_all(&folder)?;
        // rustc brings its own runtime of the sanitizer.
        let missing = if options.rust { BTreeMap::new() } else { column::missing(&folder) };
        for (column, remedy) in &missing {
            println!("no column `{}`: {remedy}", column.title());
        }
        let repeat = options.repeat.unwrap_or(if options.quick { 2 } else { 5 });
        Ok(Bench { norn, folder, repeat, missing })
    }

    fn row(&self, workload: &Workload, quick: bool, columns: &[Column]) -> Result<Row> {
        eprintln!("building {}", workload.name);
        let skipped: BTreeSet<_> = self.missing.keys().copied().collect();
        let subject = workload.prepare(self.norn, &self.folder, quick, &skipped)?;
        let mut row = Row {
            workload: workload.name,
            commands: [Size::Full, Size::Small].map(|it| subject.shown(it)),
            cells: BTreeMap::new(),
        };
        for turn in 0..self.repeat {
            eprintln!("running {}, {} of {}", workload.name, turn + 1, self.repeat);
            for &column in columns {
                if !skipped.contains(&column) && turn < column.turns(self.repeat) {
                    self.turn(&mut row, column, &subject);
                }
            }
        }
        Ok(row)
    }

    /// Runs once and keeps the better result. A failed mode is not tried again.
    fn turn(&self, row: &mut Row, column: Column, subject: &Subject) {
        let before = row.cells.get(&column);
        let after = match before {
            Some(Cell::Failed(_)) => return,
            Some(Cell::Measured { usage, trace }) => {
                self.once(column, subject, trace.clone()).map(|new| new.or_faster(*usage))
            }
            None => self.once(column, subject, None),
        };
        let cell = after.unwrap_or_else(|error| Cell::Failed(format!("{error:#}")));
        if let Cell::Failed(why) = &cell {
            eprintln!("{} failed: {why}", column.title());
        }
        row.cells.insert(column, cell);
    }

    fn once(&self, column: Column, subject: &Subject, known: Option<Info>) -> Result<Cell> {
        let trace = self.folder.join("trace.norn");
        let answer = self.folder.join("answer");
        let mut command = column.command(self.norn, &trace, subject)?;
        let usage = run_to(&mut command, &answer)?;
        subject.check(&answer, column)?;
        let records = column.records();
        let trace_info = match known {
            None if column.records_events() => Some(self.norn.info(&trace)?),
            known => known,
        };
        if records {
            fs::remove_dir_all(&trace).context("cannot remove the trace")?;
        }
        Ok(Cell::Measured { usage, trace: trace_info })
    }
}

impl Cell {
    fn or_faster(self, other: Usage) -> Cell {
        match self {
            Cell::Measured { usage, trace } if other.wall < usage.wall => {
                Cell::Measured { usage: other, trace }
            }
            cell => cell,
        }
    }
}

/// Runs a command, which must succeed, with its output in a file.
fn run_to(command: &mut Command, answer: &Path) -> Result<Usage> {
    let errors = answer.with_extension("errors");
    command.stdin(Stdio::null()).stdout(File::create(answer)?).stderr(File::create(&errors)?);
    let measured = measure(command, LIMIT)?;
    match measured.end {
        End::Exited(0) => Ok(measured.usage),
        End::TimedOut(_) => bail!("{}", measured.end),
        end => bail!("{end}: {}", last_line(&errors)?),
    }
}

fn last_line(path: &Path) -> Result<String> {
    let text = String::from_utf8_lossy(&fs::read(path)?).into_owned();
    Ok(text.lines().next_back().unwrap_or_default().to_owned())
}
