//! Measures the reliability of forced schedules: programs with known bugs run many times, with a
//! schedule that makes them fail and with one that does not, and their fixed twins with all
//! strategies; with several compilers, on an idle and on a loaded machine.

mod journal;
mod report;
mod subject;

use std::{
    fs::{self, File},
    path::PathBuf,
    process::Command,
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    load::Load,
    norn::Norn,
    process::{End, Running},
    workspace,
};
use journal::{Journal, Key};

use norn_e2e::subject::Subject;

/// Number of parallel runs: more than processors, so that the load does not get most of them.
const JOBS: &str = "8";
/// Time limit of a run, in seconds.
const RUN_LIMIT: &str = "20";
/// Time limit of all runs of one kind.
const LIMIT: Duration = Duration::from_hours(1);

/// The scheduling strategies of a twin's runs, in equal parts.
const STRATEGIES: [&str; 4] = ["random", "pos", "pct", "round-robin"];

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Runs of each schedule, and of each twin
    #[arg(long, default_value_t = 1000, value_name = "N")]
    runs: u64,
    /// Only this subject; the document is not written then
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Only without load; the document is not written then
    #[arg(long)]
    idle: bool,
    /// The command to measure; by default it is built in release mode
    #[arg(long, value_name = "FILE")]
    norn: Option<PathBuf>,
    /// Go on with an interrupted campaign of the same build of norn
    #[arg(long)]
    resume: bool,
}

/// One subject built by one compiler.
#[derive(Debug)]
struct Row {
    subject: String,
    build: String,
    /// Results without load and with load.
    cells: Vec<Cell>,
}

/// The results of a subject.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Cell {
    /// Number of runs with the failing schedule that were equal and failed as announced.
    fails: u64,
    /// Number of runs with the passing schedule that were equal and did not fail.
    passes: u64,
    /// Number of failures of the twin; 0 is expected.
    twin: u64,
    /// Descriptions of unexpected results.
    notes: Vec<String>,
}

impl Cell {
    fn is_right(&self, runs: u64) -> bool {
        (self.fails, self.passes, self.twin) == (runs, runs, 0) && self.notes.is_empty()
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let norn = Norn::given(options.norn.as_deref())?;
    let pairs = subject::pairs(options.only.as_deref())?;
    let mut journal = Journal::open(&norn, options.resume)?;
    let mut rows = Vec::new();
    for build in subject::builds() {
        for pair in &pairs {
            let programs = subject::compile(pair, &norn, build)?;
            let subject = &pair[0];
            let campaign = Campaign { norn: &norn, runs: options.runs, subject, programs };
            let names = (subject.base_name().to_owned(), build.to_string());
            let mut cells = Vec::new();
            for loaded in [false, true].into_iter().filter(|loaded| !(*loaded && options.idle)) {
                let when = if loaded { "loaded" } else { "idle" }.to_owned();
                let (subject, build) = names.clone();
                let key = Key { subject, build, when, runs: options.runs };
                cells.push(if let Some(cell) = journal.take(&key) {
                    cell
                } else {
                    let _load = loaded.then(Load::start).transpose()?;
                    let cell = campaign.cell(&key.when)?;
                    journal.put(key, cell)?
                });
            }
            let (subject, build) = names;
            rows.push(Row { subject, build, cells });
        }
    }
    let text = report::document(&rows, options.runs);
    println!("{text}");
    if options.only.is_none() && !options.idle {
        workspace::write_document("schedules-campaign.md", &text)?;
    }
    let right = rows.iter().all(|row| row.cells.iter().all(|it| it.is_right(options.runs)));
    ensure!(right, "not all runs were as announced");
    Ok(())
}

/// Many runs of one subject.
struct Campaign<'a> {
    norn: &'a Norn,
    runs: u64,
    subject: &'a Subject,
    /// The subject and its twin.
    programs: [PathBuf; 2],
}

impl Campaign<'_> {
    fn cell(&self, when: &str) -> Result<Cell> {
        let mut cell = Cell::default();
        cell.fails = self.replay("fail", |it| self.is_announced(it), &mut cell.notes)?;
        cell.passes = self.replay("pass", |it| it == "none", &mut cell.notes)?;
        cell.twin = self.twin(&mut cell.notes)?;
        let Cell { fails, passes, twin, .. } = &cell;
        let (runs, program) = (self.runs, self.programs[0].display());
        eprintln!("{program}, {when}: {fails}/{runs} fail, {passes}/{runs} pass, twin {twin}");
        Ok(cell)
    }

    fn is_announced(&self, consequence: &Value) -> bool {
        self.subject.announced.as_ref().is_some_and(|it| it.is_consequence(consequence))
    }

    /// Number of runs of a schedule that were equal and as expected.
    fn replay(
        &self,
        which: &str,
        expected: impl Fn(&Value) -> bool,
        notes: &mut Vec<String>,
    ) -> Result<u64> {
        let mut command = Command::new(&self.norn.path);
        command.args(["replay", "--format", "json", "-j", JOBS, "--timeout", RUN_LIMIT]);
        command.args(["--times", &self.runs.to_string()]).arg(self.subject.clip(which));
        let json = result(command.arg("--").arg(&self.programs[0]))?;
        let kinds = json["batch"]["kinds"].as_array().map_or(&[][..], Vec::as_slice);
        let count = |kind: &Value| kind["count"].as_u64().unwrap_or(0);
        let followed = |kind: &Value| kind["verdict"]["followed"].is_u64();
        let right = |kind: &&Value| followed(kind) && expected(&kind["consequence"]);
        let usual = kinds.iter().filter(right).max_by_key(|it| count(it));
        for kind in kinds.iter().filter(|it| usual.is_none_or(|usual| usual != *it)) {
            let (verdict, consequence) = (&kind["verdict"], &kind["consequence"]);
            let (differs, parting) = (&kind["differs"], &kind["parting"]);
            let (away, cut) = (&kind["away"], &kind["stopped"]);
            let times = count(kind);
            notes.push(format!(
                "{which}: {times} × {verdict}, {consequence}; {differs}: {parting}; \
                 threads away in {away}, cut short {cut}"
            ));
        }
        Ok(usual.map_or(0, count))
    }

    /// Number of failed runs of the twin.
    fn twin(&self, notes: &mut Vec<String>) -> Result<u64> {
        let mut failed = 0;
        for (strategy, part) in STRATEGIES.into_iter().zip(0..) {
            let times = (self.runs + part) / STRATEGIES.len() as u64;
            if times == 0 {
                continue;
            }
            let mut command = Command::new(&self.norn.path);
            command.args(["run", "--format", "json", "-j", JOBS, "--timeout", RUN_LIMIT]);
            command.args(["--strategy", strategy, "--times", &times.to_string()]);
            let json = result(command.arg("--").arg(&self.programs[1]))?;
            failed += json["batch"]["failed"].as_u64().unwrap_or(times);
            for kind in json["batch"]["kinds"].as_array().into_iter().flatten() {
                let (count, what, seed) = (&kind["count"], &kind["consequence"], &kind["seed"]);
                if what != "none" {
                    notes.push(format!("twin: {count} × {what} by {strategy}, seed {seed}"));
                }
            }
        }
        Ok(failed)
    }
}

/// The JSON output of a command. Its status only tells whether something failed.
fn result(command: &mut Command) -> Result<Value> {
    let folder = workspace::target().join("schedules");
    let [result, errors] = ["result.json", "errors"].map(|it| folder.join(it));
    command.stdout(File::create(&result)?).stderr(File::create(&errors)?);
    let end = Running::start(command)?.wait(LIMIT)?.end;
    let stderr = fs::read_to_string(&errors)?;
    ensure!(matches!(end, End::Exited(0 | 1)), "{command:?} ended with {end}\n{stderr}");
    let text = fs::read(&result)?;
    serde_json::from_slice(&text).with_context(|| format!("{command:?} printed no JSON\n{stderr}"))
}
