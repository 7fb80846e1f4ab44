//! The programs written after the bugs of the ConSeq paper: a table beside its Tables 3 and 4, and how the
//! results depend on the distance.

use std::{collections::BTreeMap, fs, process::Command};

use anyhow::{Context as _, Result, ensure};
use norn_e2e::{
    hunt::{Found, Hunt},
    subject::{Announced, GCC, Subject},
};
use serde_json::Value;

use super::{cell, first, hunt};
use crate::{norn::Norn, table::Table, workspace};

/// The document, and the lines around its tables.
const DOCUMENT: &str = "docs/consequences.md";
const BEGIN: &str = "<!-- written by cargo xtask consequences -->\n";
const END: &str = "<!-- end -->\n";

/// Our programs, the bugs of the paper that they were written after, and its results: whether a bug was
/// detected, and the false positives before testing, of all kinds of failure sites together.
const PAPER: [(&str, &str, &str); 18] = [
    ("progress", "Aget", "not detected, 0"),
    ("transform", "FFT", "detected, 0"),
    ("rotate", "MySQL 1", "detected, 0"),
    ("in_progress", "Mozilla 1", "detected, 0"),
    ("log_position", "MySQL 2", "detected, 11"),
    ("session", "Transmission", "detected, 2"),
    ("collector", "Mozilla 2", "detected, 5"),
    ("pending", "Figure 1 (b)", "–"),
    ("spin_depth", "Click", "new bug, 1"),
    ("served", "Cherokee", "non-determinism, 4"),
    ("null", "Figure 1 (a)", "–"),
    ("stale_length", "–", "–"),
    ("freed", "–", "–"),
    ("freed_twice", "–", "–"),
    ("reindex", "–", "–"),
    ("replica", "–", "–"),
    ("unsaved", "–", "–"),
    ("valves", "–", "–"),
];
/// The distances that are compared, and the paper's results with them: bugs found, of 11, and false
/// positives, of 13 runs.
const DISTANCES: [&str; 5] = ["1", "2", "3", "4", "5"];
const PAPER_FOUND: [&str; 5] = ["6", "8", "9", "10", "10"];
const PAPER_FALSE: [&str; 5] = ["25", "33", "37", "41", "61"];
/// The distance that hunts use.
const USUAL: usize = 3;

/// The results of a program.
struct Row {
    name: &'static str,
    consequence: String,
    without: Option<u64>,
    with: Option<u64>,
    /// By distance.
    from_failures: Vec<FromFailures>,
    /// Number of candidates of `--from failures` in the twin.
    twin: usize,
}

/// The result of a hunt with `--from failures`.
struct FromFailures {
    is_found: bool,
    candidates: usize,
    false_candidates: usize,
}

impl FromFailures {
    fn new(hunt: &Hunt, announced: &Announced) -> FromFailures {
        let recorded: Vec<_> = hunt.findings().iter().filter(|it| it["source"] == 0).collect();
        let is_true = |it: &Value| it["harmful"] == true || it["other_output"] == true;
        FromFailures {
            is_found: hunt.found(announced) != Found::No || hunt.first().is_some(),
            candidates: recorded.len(),
            false_candidates: recorded.iter().filter(|it| !is_true(it)).count(),
        }
    }
}

pub(super) fn run(norn: &Norn) -> Result<()> {
    let folder = workspace::target().join("consequences");
    fs::create_dir_all(&folder)?;
    let subjects = Subject::all("failures").into_iter();
    let subjects: BTreeMap<_, _> = subjects.map(|it| (it.name.clone(), it)).collect();
    let mut rows = Vec::new();
    for (name, ..) in PAPER {
        let named = |suffix: &str| {
            let subject = subjects.get(&format!("failures/{name}{suffix}"));
            let subject = subject.with_context(|| format!("there is no {name}{suffix}"))?;
            let program = folder.join(format!("{name}{suffix}"));
            workspace::succeed(&mut subject.compile(Command::new(&norn.path), &program, GCC))?;
            anyhow::Ok((program, subject))
        };
        let (program, subject) = named("")?;
        let announced = subject.announced.as_ref().context("it announces nothing")?;
        let measure =
            |options: &[&str]| anyhow::Ok(first(&hunt(norn, &program, options)?, announced));
        let from_failures = |distance: &&str| {
            let options = ["--from", "failures", "--explore", "0", "--distance", distance];
            anyhow::Ok(FromFailures::new(&hunt(norn, &program, &options)?, announced))
        };
        let twin = hunt(norn, &named("_fixed")?.0, &["--from", "failures", "--explore", "0"])?;
        ensure!(twin.is_clean(), "something harmful was found in the twin of {name}");
        rows.push(Row {
            name,
            consequence: announced.consequence.clone(),
            without: measure(&["--stop-at-first", "--distance", "0"])?,
            with: measure(&["--stop-at-first"])?,
            from_failures: DISTANCES.iter().map(from_failures).collect::<Result<_>>()?,
            twin: twin.findings().iter().filter(|it| it["source"] == 0).count(),
        });
        eprintln!("{name}");
    }
    let text = format!("{}\n{}", table(&rows), sensitivity(&rows));
    println!("{text}");
    write(&text)
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new([
        "subject",
        "after",
        "paper",
        "failure",
        "first, `--distance 0`",
        "first",
        "candidates",
        "false",
        "distance",
        "candidates in the twin",
    ]);
    for (row, (_, after, paper)) in rows.iter().zip(PAPER) {
        let shortest = row.from_failures.iter().position(|it| it.is_found);
        let usual = row.from_failures.get(USUAL);
        let count = |it: Option<usize>| cell(it.and_then(|it| u64::try_from(it).ok()));
        table.row([
            row.name.to_owned(),
            after.to_owned(),
            paper.to_owned(),
            row.consequence.clone(),
            cell(row.without),
            cell(row.with),
            count(usual.map(|it| it.candidates)),
            count(usual.map(|it| it.false_candidates)),
            shortest.map_or("–", |it| DISTANCES[it]).to_owned(),
            row.twin.to_string(),
        ]);
    }
    table
}

/// What is found and how many candidates are false, by distance.
fn sensitivity(rows: &[Row]) -> Table {
    let mut table = Table::new(["distance"].into_iter().chain(DISTANCES));
    let by_distance = |title: &str, number: &dyn Fn(&FromFailures) -> usize| {
        let sum = |at| rows.iter().filter_map(|it| it.from_failures.get(at)).map(number).sum();
        let sums = (0..DISTANCES.len()).map(|at: usize| -> usize { sum(at) });
        [title.to_owned()].into_iter().chain(sums.map(|it| it.to_string())).collect::<Vec<_>>()
    };
    table.row(by_distance(&format!("found, of {}", rows.len()), &|it| usize::from(it.is_found)));
    table.row(by_distance("false candidates", &|it| it.false_candidates));
    table.row(["paper: found, of 11"].into_iter().chain(PAPER_FOUND));
    table.row(["paper: false positives, of 13 runs"].into_iter().chain(PAPER_FALSE));
    table
}

fn write(tables: &str) -> Result<()> {
    let path = workspace::root().join(DOCUMENT);
    let text = fs::read_to_string(&path)?;
    let (before, rest) =
        text.split_once(BEGIN).context("the document has no place for the tables")?;
    let (_, after) = rest.split_once(END).context("the place for the tables has no end")?;
    fs::write(&path, format!("{before}{BEGIN}\n{tables}\n{END}{after}"))?;
    println!("wrote {}", path.display());
    Ok(())
}
