//! Measures how recording, prediction and hunts grow with the length of a run.
//!
//! The programs are generated: their argument is the approximate number of events. Each phase is a
//! process of its own, so that its peak of memory is known.

mod program;
mod report;

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use crate::{
    norn::Norn,
    process::{Measured, measure},
    workspace,
};
use program::Program;

/// Time limit of a phase.
const LIMIT: Duration = Duration::from_mins(20);

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Approximate number of events of the shortest run
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    from: u64,
    /// Approximate number of events of the longest run; each is ten times as long as the one before
    #[arg(long, value_name = "N", default_value_t = 100_000_000)]
    to: u64,
    /// Only this program
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Maximum number of executions of a hunt; 0 leaves hunts out
    #[arg(long, value_name = "N", default_value_t = 20)]
    budget: u32,
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
    program: &'static str,
    events: u64,
    phases: Vec<(Phase, Measured)>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let norn = Norn::build()?;
    let folder = workspace::target().join("scale");
    fs::create_dir_all(&folder).context("cannot make a folder")?;
    let wanted = |it: &&Program| options.only.as_ref().is_none_or(|only| only == it.name);
    let programs: Vec<_> = Program::ALL.iter().filter(wanted).collect();
    let names = || Program::ALL.iter().map(|it| it.name).collect::<Vec<_>>().join(", ");
    ensure!(!programs.is_empty(), "no such program\nhint: one of {}", names());
    let mut all = Vec::new();
    for program in programs {
        let binary = program.build(&norn, &folder)?;
        for length in lengths(options) {
            eprintln!("{} with {length} events", program.name);
            let bench = Bench { norn: &norn, folder: &folder, binary: &binary, length };
            all.push(bench.measurement(program.name, options.budget)?);
        }
    }
    let text = report::document(options, &all);
    println!("{text}");
    if options.dry { Ok(()) } else { workspace::write_document("scale.md", &text) }
}

/// From the shortest to the longest run by powers of ten, and the longest itself.
fn lengths(options: &Options) -> Vec<u64> {
    let powers = std::iter::successors(Some(options.from), |it| it.checked_mul(10));
    let shorter = powers.take_while(|it| *it < options.to);
    shorter.chain([options.to]).collect()
}

/// One program with one length.
struct Bench<'a> {
    norn: &'a Norn,
    folder: &'a Path,
    binary: &'a Path,
    length: u64,
}

impl Bench<'_> {
    fn measurement(&self, program: &'static str, budget: u32) -> Result<Measurement> {
        let trace = self.folder.join("trace");
        let mut record =
            self.norn.record(&trace, &[], Command::new(self.binary).arg(self.argument()))?;
        let mut phases = vec![(Phase::Record, measure(quiet(&mut record), LIMIT)?)];
        let events = self.norn.info(&trace)?.events;
        let mut predict = Command::new(&self.norn.path);
        predict.arg("predict").arg(&trace).env("RAYON_NUM_THREADS", "1");
        phases.push((Phase::Predict, measure(quiet(&mut predict), LIMIT)?));
        fs::remove_dir_all(&trace).context("cannot remove a trace")?;
        if budget > 0 {
            let output = self.folder.join("hunt");
            let mut hunt = Command::new(&self.norn.path);
            hunt.args(["hunt", "--budget", &budget.to_string(), "-o"]).arg(&output).arg("--");
            hunt.arg(self.binary).arg(self.argument());
            phases.push((Phase::Hunt, measure(quiet(&mut hunt), LIMIT)?));
            remove(&output)?;
        }
        Ok(Measurement { program, events, phases })
    }

    fn argument(&self) -> String {
        self.length.to_string()
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
    use super::*;

    #[test]
    fn lengths_end_with_the_longest() {
        let options = |from, to| Options { from, to, only: None, budget: 0, dry: true };
        assert_eq!(lengths(&options(100, 10_000)), [100, 1000, 10_000]);
        assert_eq!(lengths(&options(100, 5000)), [100, 1000, 5000]);
    }
}
