//! Kills hunts at random moments: whatever they are doing, they must end in time with a complete report, and
//! leave neither files nor processes behind.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use norn_e2e::interrupt::{Interrupted, LONG, Moment, interrupt};

use crate::{norn::Norn, workspace};

/// Programs of `subjects/` that are hunted, besides one with a long trace.
const SUBJECTS: [&str; 4] =
    ["hunt/account.c", "hunt/hash_set.cc", "deadlock/bank.c", "order/callback.c"];
/// Maximum time from the signal to the end of the hunt.
const LIMIT: Duration = Duration::from_secs(2);
/// Hunts are interrupted within this time, even if they take longer.
const LONGEST: Duration = Duration::from_mins(1);

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// The command to kill; by default it is built in release mode
    #[arg(long, value_name = "FILE")]
    norn: Option<PathBuf>,
    /// Number of hunts to kill
    #[arg(long, default_value_t = 100, value_name = "N")]
    times: u32,
    /// Seed of the moments
    #[arg(long, default_value_t = 1, value_name = "SEED")]
    seed: u64,
}

/// A program to hunt.
struct Subject {
    name: String,
    program: PathBuf,
    /// How long a hunt takes that is not interrupted.
    time: Duration,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let norn = Norn::given(options.norn.as_deref())?;
    let folder = workspace::target().join("kill");
    if folder.exists() {
        fs::remove_dir_all(&folder).context("cannot remove the folder of an earlier run")?;
    }
    fs::create_dir_all(&folder)?;
    let long = folder.join("long.c");
    fs::write(&long, LONG)?;
    let sources = SUBJECTS.map(|it| workspace::root().join("subjects").join(it));
    let sources = sources.into_iter().chain([long]);
    let subjects: Result<Vec<_>> = sources.map(|it| build(&norn, &it, &folder)).collect();
    let subjects = subjects?;
    let mut random = options.seed;
    let (mut slowest, mut cut, mut wrong) = (Duration::ZERO, 0, 0);
    for number in 0..options.times {
        let subject = &subjects[number as usize % subjects.len()];
        let moment = subject.time.mul_f64(fraction(&mut random));
        let format = if number % 2 == 0 { "json" } else { "jsonl" };
        let ended = kill(&norn, subject, (moment, format), &folder)?;
        let mut problems = ended.problems();
        if ended.time > LIMIT {
            problems.push(format!("it took {:.2} s to end", ended.time.as_secs_f64()));
        }
        slowest = slowest.max(ended.time);
        cut += u32::from(ended.is_cut());
        wrong += u32::from(!problems.is_empty());
        let (name, after) = (&subject.name, moment.as_secs_f64());
        println!("{name} after {after:.2} s: ended in {:.2} s", ended.time.as_secs_f64());
        for it in problems {
            println!("  {it}");
        }
    }
    let times = options.times;
    println!(
        "{times} hunts, {cut} cut short; slowest end {:.2} s; {wrong} wrong",
        slowest.as_secs_f64()
    );
    ensure!(wrong == 0, "{wrong} of {times} hunts did not end as they should");
    Ok(())
}

/// Builds a program, and measures how long its hunt takes.
fn build(norn: &Norn, source: &Path, folder: &Path) -> Result<Subject> {
    let name = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let program = folder.join(&name).with_extension("prog");
    let is_cxx = source.extension().is_some_and(|it| it == "cc");
    let compiler = if is_cxx { "c++" } else { "cc" };
    let mut command = Command::new(&norn.path);
    command.args([compiler, "-g", "-O1", "-pthread", "-o"]).arg(&program).arg(source);
    workspace::succeed(&mut command)?;
    let begun = Instant::now();
    let mut hunt = hunt(norn, &program, "json", &folder.join("whole.norn"));
    hunt.args(["--time", "60s"]).arg("--").arg(&program).output().context("cannot hunt")?;
    let time = begun.elapsed().min(LONGEST);
    println!("{name}: a whole hunt takes {:.1} s", time.as_secs_f64());
    Ok(Subject { name, program, time })
}

fn hunt(norn: &Norn, program: &Path, format: &str, output: &Path) -> Command {
    let mut command = Command::new(&norn.path);
    command.args(["hunt", "--format", format, "-o"]).arg(output);
    command.current_dir(program.parent().unwrap_or(Path::new("/")));
    command
}

fn kill(
    norn: &Norn,
    subject: &Subject,
    (moment, format): (Duration, &str),
    folder: &Path,
) -> Result<Interrupted> {
    let (scratch, output) = (folder.join("scratch"), folder.join("run.norn"));
    for it in [&scratch, &output] {
        if it.exists() {
            fs::remove_dir_all(it)?;
        }
    }
    fs::create_dir_all(&scratch)?;
    let mut command = hunt(norn, &subject.program, format, &output);
    command.arg("--").arg(&subject.program);
    Ok(interrupt(command, &scratch, &Moment::After(moment)))
}

/// The next of a sequence of pseudo-random numbers from 0 to 1 (splitmix64).
fn fraction(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let high = u32::try_from((mixed ^ (mixed >> 31)) >> 32).unwrap_or(0);
    f64::from(high) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_spread() {
        let mut state = 1;
        let all: Vec<_> = (0..1000).map(|_| fraction(&mut state)).collect();
        assert!(all.iter().all(|it| (0.0..=1.0).contains(it)));
        let early = all.iter().filter(|it| **it < 0.5).count();
        assert!((400..600).contains(&early), "{early}");
    }
}
