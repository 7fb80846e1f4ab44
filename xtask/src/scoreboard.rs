//! What hunts find: programs with known bugs and their fixed twins, each hunted once.

mod report;
mod subject;

use std::{
    fs::{self, File},
    process::Command,
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde_json::Value;

use crate::{
    norn::Norn,
    process::{End, Running},
    workspace,
};
use subject::{Announced, Subject};

/// No run of a program may take longer, in seconds.
const RUN_LIMIT: &str = "20";
/// No hunt neither.
const LIMIT: Duration = Duration::from_mins(5);

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Only this subject; the document is not written then
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
}

/// What came of a subject.
#[derive(Debug)]
struct Row {
    subject: String,
    /// Nothing is announced for twins.
    announced: Option<Announced>,
    hunt: Hunt,
}

/// What a hunt found.
#[derive(Debug)]
struct Hunt {
    json: Value,
    time: Duration,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let norn = Norn::build()?;
    let mut rows = Vec::new();
    for subject in Subject::all(options.only.as_deref())? {
        let program = subject.build(&norn)?;
        let mut command = Command::new(&norn.path);
        command.args(["hunt", "--format", "json", "--timeout", RUN_LIMIT, "-o"]);
        command.arg(subject::folder().join("run.norn")).arg("--").arg(program);
        let row = Row { hunt: hunt(&mut command)?, ..subject.row() };
        eprintln!("{}: {}", row.subject, row.outcome());
        rows.push(row);
    }
    let text = report::document(&rows);
    println!("{text}");
    if options.only.is_none() {
        workspace::write_document("scoreboard.md", &text)?;
    }
    Ok(())
}

fn hunt(command: &mut Command) -> Result<Hunt> {
    let [result, errors] = ["result.json", "errors"].map(|it| subject::folder().join(it));
    command.stdout(File::create(&result)?).stderr(File::create(&errors)?);
    let measured = Running::start(command)?.wait(LIMIT)?;
    let (end, said) = (measured.end, fs::read_to_string(&errors)?);
    ensure!(matches!(end, End::Exited(0 | 1)), "{command:?} ended with {end}\n{said}");
    let json = serde_json::from_slice(&fs::read(&result)?);
    let json = json.with_context(|| format!("{command:?} printed no JSON\n{said}"))?;
    Ok(Hunt { json, time: measured.usage.wall })
}

/// In which way what was announced is found, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// It was predicted, and the program did it.
    Confirmed,
    /// The program failed like that when it was forced towards it.
    OnTheWay,
    /// The program failed like that without a prediction.
    Explored,
    /// Not at all.
    No,
}

impl Row {
    fn found(&self, announced: &Announced) -> Found {
        let hunt = &self.hunt;
        let aim = |it: &Value| hunt.findings().get(usize::try_from(it["finding"].as_u64()?).ok()?);
        let leads = |it: &&Value| announced.leads(it);
        let on_the_way = |it: &Value| aim(it).is_some_and(|it| announced.is_about(it));
        if hunt.harmful().filter(leads).any(|it| announced.is_about(it)) {
            Found::Confirmed
        } else if hunt.observed().iter().filter(leads).any(on_the_way) {
            Found::OnTheWay
        } else if hunt.observed().iter().any(|it| leads(&it)) {
            Found::Explored
        } else {
            Found::No
        }
    }

    /// Whether nothing harmful happened.
    fn is_clean(&self) -> bool {
        self.hunt.harmful().next().is_none() && self.hunt.observed().is_empty()
    }

    fn outcome(&self) -> &'static str {
        match self.announced.as_ref().map(|it| self.found(it)) {
            Some(Found::Confirmed) => "confirmed",
            Some(Found::OnTheWay) => "on the way",
            Some(Found::Explored) => "explored",
            Some(Found::No) => "**no**",
            None if self.is_clean() => "clean",
            None => "**not clean**",
        }
    }
}

impl Hunt {
    fn list(&self, field: &str) -> &[Value] {
        self.json[field].as_array().map_or(&[], Vec::as_slice)
    }

    fn findings(&self) -> &[Value] {
        self.list("findings")
    }

    fn observed(&self) -> &[Value] {
        self.list("observed")
    }

    fn harmful(&self) -> impl Iterator<Item = &Value> {
        self.findings().iter().filter(|it| it["harmful"] == true)
    }

    /// The first execution in which something harmful happened.
    fn first(&self) -> Option<u64> {
        self.harmful().chain(self.observed()).filter_map(|it| it["executions"].as_u64()).min()
    }
}
