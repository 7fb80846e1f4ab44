//! The paper's first study (its figure 3): how large a window has to be, by the number of threads.
//!
//! The paper counts the slots that each occurrence of a triple spans. We look for the smallest window
//! with which a run shows the triple at all, since an analysis reports it once.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::box_plot::{BoxPlot, Five};
use crate::{norn::Norn, table::Table, toolchain::Toolchain, workspace};

const BEGIN: &str = "<!-- written by cargo xtask localize --windows -->\n";
const PLOT: &str = "docs/window-sizes.svg";
/// The programs, in `subjects/bench`. Their argument is the number of threads.
const PROGRAMS: [&str; 3] = ["shared_accounts", "shared_flags", "shared_list"];
const THREADS: [u32; 5] = [4, 8, 16, 32, 64];
/// The sizes that are tried; the largest is the paper's.
const WINDOWS: [usize; 13] = [3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 28, 38, 50];
/// The default size of a window.
const DEFAULT: usize = 5;

/// A triple: its shape and the places of its accesses.
type Triple = (String, Vec<String>);

/// Makes the runs, and writes the table and the plot.
pub(super) fn run(norn: &Norn, folder: &Path, runs: u32) -> Result<()> {
    let mut table = Table::new([
        "threads",
        "triples",
        "smallest",
        "lower quartile",
        "median",
        "upper quartile",
        "largest",
        "found with window 5",
    ]);
    let mut plot = BoxPlot::new("threads", "smallest window that shows the triple");
    for threads in THREADS {
        let mut sizes = Vec::new();
        for program in PROGRAMS {
            let source = workspace::root().join(format!("subjects/bench/{program}.c"));
            let binary = folder.join(program);
            Toolchain::norn(norn).compile(&source, &binary)?;
            for seed in 0..runs {
                sizes.extend(needed(norn, folder, &binary, threads, seed)?);
            }
        }
        sizes.sort_unstable();
        let five = Five::of(&sizes).context("the runs show no triples")?;
        let found = sizes.iter().filter(|it| **it <= DEFAULT).count();
        let share = format!("{:.0} %", 100.0 * found as f64 / sizes.len() as f64);
        let numbers = five.numbers().map(|it| it.to_string());
        let row = [threads.to_string(), sizes.len().to_string()].into_iter().chain(numbers);
        table.row(row.chain([share]));
        plot.add(&threads.to_string(), five);
    }
    println!("{table}");
    fs::write(workspace::root().join(PLOT), plot.svg())?;
    let programs = PROGRAMS.map(|it| format!("`{it}`")).join(", ");
    let text = format!(
        "\n{runs} controlled runs (`random`) of each of {programs} for each number of threads. A triple counts once \
         for each run that shows it with a window of at most {}.\n\n{table}\n![Box plot of the same \
         numbers](window-sizes.svg)\n\n",
        WINDOWS[WINDOWS.len() - 1]
    );
    workspace::replace_section(super::DOCUMENT, BEGIN, &text)
}

/// For each triple of a run: the smallest window that shows it.
fn needed(
    norn: &Norn,
    folder: &Path,
    program: &Path,
    threads: u32,
    seed: u32,
) -> Result<Vec<usize>> {
    let trace = folder.join("windows.norn");
    let _ = fs::remove_dir_all(&trace);
    let mut run = Command::new(&norn.path);
    run.args(["run", "--strategy", "random", "--seed", &seed.to_string(), "-o"]).arg(&trace);
    run.arg("--").arg(program).arg(threads.to_string());
    let ran = run.output()?;
    ensure!(trace.exists(), "{run:?}: {}", String::from_utf8_lossy(&ran.stderr));
    let mut smallest = BTreeMap::new();
    for window in WINDOWS {
        for triple in triples(norn, &trace, window)? {
            smallest.entry(triple).or_insert(window);
        }
    }
    Ok(smallest.into_values().collect())
}

/// The triples of a run with a window. The run is called a failing one, so that all are listed.
fn triples(norn: &Norn, trace: &Path, window: usize) -> Result<BTreeSet<Triple>> {
    let mut command = Command::new(&norn.path);
    command.args(["localize", "--format", "json", "--top", "1000000", "--window"]);
    command.arg(window.to_string()).arg("--from").arg(trace).arg("--failed").arg(trace);
    let output = command.output()?;
    let report: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("{command:?} printed no JSON"))?;
    let clusters = report["localization"]["clusters"].as_array().into_iter().flatten();
    let patterns = clusters.flat_map(|it| it["ranking"].as_array().into_iter().flatten());
    let triples = patterns.filter(|it| it["accesses"].as_array().is_some_and(|it| it.len() == 3));
    Ok(triples.map(triple).collect())
}

fn triple(pattern: &Value) -> Triple {
    let places = pattern["accesses"].as_array().into_iter().flatten();
    let places = places.map(|it| it["stack"][0].to_string()).collect();
    (pattern["shape"].to_string(), places)
}
