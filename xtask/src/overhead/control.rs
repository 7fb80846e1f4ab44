//! Measures the cost of controlled scheduling: per event, per switch, and for whole programs.
//!
//! As in the other measurements, all modes of a program take turns, and the fastest time counts.

use std::{path::PathBuf, process::Command, time::Duration};

use anyhow::{Context as _, Result};

use super::{Bench, run_to};
use crate::{table::Table, toolchain::Toolchain, unit, workspace};

/// Compute-bound programs, and their sizes.
const PROGRAMS: [(&str, u32); 6] = [
    ("mutex_counter", 1_000_000),
    ("memory_kernel", 300),
    ("lock_queue", 200_000),
    ("hash_mix", 1_000_000),
    ("merge_sort", 500_000),
    ("atomic_bins", 3_000_000),
];
const EVENTS: u32 = 20_000_000;
const SWITCHES: u32 = 100_000;

/// A mode: `norn`'s arguments before the program; empty for the native program.
type Way = &'static [&'static str];

const ALONE: Way = &[];
const RECORD: Way = &["record"];
const IN_TURN: Way = &["run", "--strategy", "round-robin"];
const ONE_BY_ONE: Way = &["run", "--strategy", "round-robin", "--quantum", "1"];
const PCT: Way = &["run", "--strategy", "pct", "--expected", "1000000"];
const RANDOM: Way = &["run", "--strategy", "random", "--quantum", "128"];

/// Measures and returns the document.
pub(super) fn document(bench: &Bench<'_>, quick: bool) -> Result<String> {
    let scale = |size: u32| if quick { size.div_ceil(20) } else { size };
    let events = scale(EVENTS);
    let [alone, recorded, controlled] = bench.times("events", events, [ALONE, RECORD, IN_TURN])?;
    let each = nanoseconds(controlled.saturating_sub(alone), events);
    let more = nanoseconds(controlled, events) - nanoseconds(recorded, events);
    let turns = scale(SWITCHES);
    let [in_turn, one_by_one] = bench.times("switches", turns, [IN_TURN, ONE_BY_ONE])?;
    let switch = nanoseconds(one_by_one.saturating_sub(in_turn), 2 * turns) / 1000.0;
    let mut programs = Table::new(["program", "alone", "recorded", "pct", "in turn", "random"]);
    let mut worst = 0.0_f64;
    for (name, size) in PROGRAMS {
        let ways = [ALONE, RECORD, PCT, IN_TURN, RANDOM];
        let [alone, recorded, pct, in_turn, random] = bench.times(name, scale(size), ways)?;
        let ratio = |time: Duration| time.as_secs_f64() / recorded.as_secs_f64();
        worst = worst.max(ratio(pct)).max(ratio(in_turn));
        let shown = |time| format!("{} ({:.2}x)", unit::seconds(time), ratio(time));
        let plain = [alone, recorded].map(unit::seconds);
        let controlled = [pct, in_turn, random].map(shown);
        programs.row([name.to_owned()].into_iter().chain(plain).chain(controlled));
    }
    let mut bars = Table::new(["what", "measured", "bar", ""]);
    bar(&mut bars, "an event without a switch, ns", each, 30.0);
    bar(&mut bars, "a switch, µs", switch, 10.0);
    bar(&mut bars, "the slowest program, pct or in turn / recorded", worst, 3.0);
    Ok(format!(
        "# What deciding costs\n\nWritten by `cargo xtask overhead --control`; the fastest of {} \
         runs counts.\n\n{bars}\nAn event's cost is what a controlled run takes more than the \
         program alone, by the number of its events; of it, {more:.1} ns are more than recording \
         takes. `random` has turns of 128 events on average, so most of its time is switches.\n\n\
         {programs}",
        bench.repeat
    ))
}

fn bar(table: &mut Table, what: &str, measured: f64, most: f64) {
    let verdict = if measured <= most { "met" } else { "**missed**" };
    table.row([what.to_owned(), format!("{measured:.2}"), format!("≤ {most}"), verdict.to_owned()]);
}

fn nanoseconds(time: Duration, number: u32) -> f64 {
    time.as_secs_f64() * 1e9 / f64::from(number)
}

impl Bench<'_> {
    /// The fastest time of a program in each mode.
    fn times<const N: usize>(
        &self,
        name: &str,
        size: u32,
        ways: [Way; N],
    ) -> Result<[Duration; N]> {
        let program = self.program(name)?;
        let mut fastest = [Duration::MAX; N];
        for turn in 0..self.repeat {
            eprintln!("running {name}, {} of {}", turn + 1, self.repeat);
            for (way, fastest) in ways.iter().zip(&mut fastest) {
                let mut command = self.command(way, &program);
                command.arg(size.to_string());
                let usage = run_to(&mut command, &self.folder.join("answer"))
                    .with_context(|| format!("{name}, {}", way.join(" ")))?;
                *fastest = usage.wall.min(*fastest);
            }
        }
        Ok(fastest)
    }

    fn program(&self, name: &str) -> Result<PathBuf> {
        let program = self.folder.join(format!("{name}.control"));
        let source = workspace::root().join(format!("subjects/bench/{name}.c"));
        Toolchain::norn(self.norn).compile(&source, &program)?;
        Ok(program)
    }

    fn command(&self, way: Way, program: &PathBuf) -> Command {
        let Some((first, rest)) = way.split_first() else { return Command::new(program) };
        let mut command = Command::new(&self.norn.path);
        command.arg(first).arg("-o").arg(self.folder.join("trace.norn")).args(rest);
        command.arg("--").arg(program);
        command
    }
}
