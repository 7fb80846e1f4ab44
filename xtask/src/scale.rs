//! Measures how recording, prediction and hunts grow with the length of a run.
//!
//! The programs are generated: their argument is the approximate number of events. Real programs can be
//! given by their command lines, and are measured once. Each phase is a process of its own, so that its
//! peak of memory is known.

mod program;
mod real;
mod report;

use std::{
    fs::{self, File},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde_json::Value;

use crate::{
    norn::Norn,
    process::{Measured, measure},
    workspace,
};
use program::Program;
use real::RealProgram;

/// Time limit of a phase.
const LIMIT: Duration = Duration::from_mins(20);

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Approximate number of events of the shortest run
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    from: u64,
    /// Approximate number of events of the longest run; each is ten times as long as the one before.
    /// The longest that is measured for the document is 500000000, which takes some 2 GB of disk
    #[arg(long, value_name = "N", default_value_t = 100_000_000)]
    to: u64,
    /// Only this program
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Maximum number of executions of a hunt; 0 leaves hunts out
    #[arg(long, value_name = "N", default_value_t = 20)]
    budget: u32,
    /// Approximate number of events of the longest run that is hunted: a hunt repeats it `--budget` times
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    hunt_to: u64,
    /// Also measure this program, which was built with `norn cc` (can be repeated)
    #[arg(long, value_name = "NAME=COMMAND", value_parser = RealProgram::parse)]
    program: Vec<RealProgram>,
    /// Maximum number of executions of a hunt of such a program
    #[arg(long, value_name = "N", default_value_t = 100)]
    program_budget: u32,
    /// Print the table, and do not write docs/scale.md
    #[arg(long)]
    dry: bool,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Record,
    Predict,
    Hunt,
}

impl Phase {
    const ALL: [Phase; 3] = [Phase::Record, Phase::Predict, Phase::Hunt];

    fn name(self) -> &'static str {
        match self {
            Phase::Record => "record",
            Phase::Predict => "predict",
            Phase::Hunt => "hunt",
        }
    }
}

/// The results for one program and one length.
#[derive(Debug)]
struct Measurement {
    program: String,
    events: u64,
    phases: Vec<(Phase, Measured)>,
    /// What the hunt reported, if there was one and it ended.
    hunt: Option<HuntSummary>,
}

impl Measurement {
    fn phase(&self, phase: Phase) -> Option<&Measured> {
        self.phases.iter().find(|(it, _)| *it == phase).map(|it| &it.1)
    }
}

/// The summary of a hunt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct HuntSummary {
    /// Number of executions, with replays.
    executions: u64,
    candidates: u64,
    confirmed: u64,
    harmful: u64,
}

impl HuntSummary {
    fn read(json: &Value) -> Option<HuntSummary> {
        let count = |name: &str| json["summary"][name].as_u64();
        Some(HuntSummary {
            executions: count("executions")? + count("replays")?,
            candidates: count("candidates")?,
            confirmed: count("confirmed")?,
            harmful: count("harmful")?,
        })
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let norn = Norn::build()?;
    let folder = workspace::target().join("scale");
    fs::create_dir_all(&folder).context("cannot make a folder")?;
    let wanted = |it: &&Program| options.only.as_ref().is_none_or(|only| only == it.name);
    let programs: Vec<_> = Program::ALL.iter().filter(wanted).collect();
    let names = || Program::ALL.iter().map(|it| it.name).collect::<Vec<_>>().join(", ");
    ensure!(!programs.is_empty(), "no such program\nhint: one of {}", names());
    let bench = Bench { norn: &norn, folder: &folder };
    let (mut generated, mut real) = (Vec::new(), Vec::new());
    for program in programs {
        let binary = program.build(&norn, &folder)?;
        for length in lengths(options) {
            eprintln!("{} with {length} events", program.name);
            let mut subject = Command::new(&binary);
            subject.arg(length.to_string());
            let budget = if length <= options.hunt_to { options.budget } else { 0 };
            generated.push(bench.measurement(program.name, &subject, budget)?);
        }
    }
    for program in &options.program {
        eprintln!("{}", program.name);
        let budget = options.program_budget;
        real.push(bench.measurement(&program.name, &program.command(), budget)?);
    }
    let text = report::document(options, &generated, &real);
    println!("{text}");
    if options.dry { Ok(()) } else { workspace::write_document("scale.md", &text) }
}

/// From the shortest to the longest run by powers of ten, and the longest itself.
fn lengths(options: &Options) -> Vec<u64> {
    let powers = std::iter::successors(Some(options.from), |it| it.checked_mul(10));
    let shorter = powers.take_while(|it| *it < options.to);
    shorter.chain([options.to]).collect()
}

/// Where programs are measured.
struct Bench<'a> {
    norn: &'a Norn,
    folder: &'a Path,
}

impl Bench<'_> {
    fn measurement(&self, program: &str, subject: &Command, budget: u32) -> Result<Measurement> {
        let trace = self.folder.join("trace");
        let mut record = self.norn.record(&trace, &[], subject)?;
        let mut phases = vec![(Phase::Record, measure(quiet(&mut record), LIMIT)?)];
        let events = self.norn.info(&trace)?.events;
        let mut predict = Command::new(&self.norn.path);
        predict.arg("predict").arg(&trace).env("RAYON_NUM_THREADS", "1");
        phases.push((Phase::Predict, measure(quiet(&mut predict), LIMIT)?));
        fs::remove_dir_all(&trace).context("cannot remove a trace")?;
        let mut hunt = None;
        if budget > 0 {
            let (measured, summary) = self.hunt(subject, budget)?;
            phases.push((Phase::Hunt, measured));
            hunt = summary;
        }
        Ok(Measurement { program: program.to_owned(), events, phases, hunt })
    }

    fn hunt(&self, subject: &Command, budget: u32) -> Result<(Measured, Option<HuntSummary>)> {
        let (output, report) = (self.folder.join("hunt"), self.folder.join("hunt.json"));
        remove(&output)?;
        let mut hunt = Command::new(&self.norn.path);
        hunt.args(["hunt", "--format", "json", "--budget", &budget.to_string(), "-o"]);
        hunt.arg(&output).arg("--").arg(subject.get_program()).args(subject.get_args());
        quiet(&mut hunt).stdout(File::create(&report).context("cannot write a report")?);
        let measured = measure(&mut hunt, LIMIT)?;
        remove(&output)?;
        let text = fs::read_to_string(&report).context("cannot read a report")?;
        let summary = serde_json::from_str(&text).ok().and_then(|it| HuntSummary::read(&it));
        Ok((measured, summary))
    }
}

/// A command without output.
fn quiet(command: &mut Command) -> &mut Command {
    command.stdout(Stdio::null()).stderr(Stdio::null())
}

fn remove(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).context("cannot remove the results of a hunt")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lengths_end_with_the_longest() {
        let (only, program) = (None, Vec::new());
        let options = |from, to| Options {
            from,
            to,
            only: only.clone(),
            budget: 0,
            hunt_to: 0,
            program: program.clone(),
            program_budget: 0,
            dry: true,
        };
        assert_eq!(lengths(&options(100, 10_000)), [100, 1000, 10_000]);
        assert_eq!(lengths(&options(100, 5000)), [100, 1000, 5000]);
    }

    #[test]
    fn replays_are_executions() {
        let summary = json!({ "executions": 20, "replays": 2, "candidates": 9, "confirmed": 3,
                              "harmful": 1 });
        let read = HuntSummary::read(&json!({ "summary": summary })).unwrap();
        assert_eq!((read.executions, read.candidates), (22, 9));
        assert_eq!((read.confirmed, read.harmful), (3, 1));
        assert_eq!(HuntSummary::read(&json!({})), None);
    }
}
