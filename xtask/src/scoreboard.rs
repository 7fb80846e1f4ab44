//! Measures what hunts find: programs with known bugs and their fixed twins, each hunted once.

mod report;

use std::{
    fs::{self, File},
    path::PathBuf,
    process::Command,
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use norn_e2e::{
    hunt::{Found, Hunt},
    subject::{Announced, HUNTED, Subject, VALIDATION},
};

use crate::{
    norn::Norn,
    process::{End, Running},
    workspace,
};

/// Time limit of a run of the program, in seconds.
const RUN_LIMIT: &str = "20";
/// Time limit of a hunt.
const LIMIT: Duration = Duration::from_mins(5);

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// The command to measure; by default it is built in release mode
    #[arg(long, value_name = "FILE")]
    norn: Option<PathBuf>,
    /// Only this subject; the document is not written then
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Only the subjects of this folder; the document is not written then
    #[arg(long, value_name = "FOLDER")]
    folder: Option<String>,
}

/// The results of a subject.
#[derive(Debug)]
struct Row {
    subject: String,
    /// The folder of the subject.
    folder: String,
    /// `None` for twins, which have no bugs.
    announced: Option<Announced>,
    hunt: Hunt,
    time: Duration,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let norn = Norn::given(options.norn.as_deref())?;
    let mut rows = Vec::new();
    for subject in subjects(options)? {
        let program = folder().join(subject.name.replace('/', "_"));
        let build = subject.usual_build();
        workspace::succeed(&mut subject.compile(Command::new(&norn.path), &program, build))?;
        let mut command = Command::new(&norn.path);
        command.args(["hunt", "--format", "json", "--timeout", RUN_LIMIT, "-o"]);
        command.arg(folder().join("run.norn")).arg("--").arg(program);
        let (hunt, time) = hunt(&mut command)?;
        let folder = subject.folder().to_owned();
        let row = Row { subject: subject.name, folder, announced: subject.announced, hunt, time };
        eprintln!("{}: {}", row.subject, row.outcome());
        rows.push(row);
    }
    let text = report::document(&rows);
    println!("{text}");
    if options.only.is_none() && options.folder.is_none() {
        workspace::write_document("scoreboard.md", &text)?;
    }
    Ok(())
}

/// All subjects and their twins, or those with the name and the folder of the options.
fn subjects(options: &Options) -> Result<Vec<Subject>> {
    fs::create_dir_all(folder())?;
    let all = HUNTED.iter().chain(&VALIDATION).flat_map(|folder| Subject::all(folder));
    let wanted = |it: &Subject| {
        options.only.as_ref().is_none_or(|only| it.base_name() == only)
            && options.folder.as_ref().is_none_or(|folder| it.folder() == folder)
    };
    let subjects: Vec<_> = all.filter(wanted).collect();
    ensure!(!subjects.is_empty(), "there is no such subject");
    Ok(subjects)
}

/// The folder for programs and results.
fn folder() -> PathBuf {
    workspace::target().join("scoreboard")
}

/// Hunts and measures the duration.
fn hunt(command: &mut Command) -> Result<(Hunt, Duration)> {
    let [result, errors] = ["result.json", "errors"].map(|it| folder().join(it));
    command.stdout(File::create(&result)?).stderr(File::create(&errors)?);
    let measured = Running::start(command)?.wait(LIMIT)?;
    let (end, stderr) = (measured.end, fs::read_to_string(&errors)?);
    let End::Exited(status @ (0 | 1)) = end else {
        bail!("{command:?} ended with {end}\n{stderr}");
    };
    let json = serde_json::from_slice(&fs::read(&result)?);
    let json = json.with_context(|| format!("{command:?} printed no JSON\n{stderr}"))?;
    Ok((Hunt { json, code: Some(status) }, measured.usage.wall))
}

impl Row {
    fn outcome(&self) -> &'static str {
        match self.announced.as_ref().map(|it| self.hunt.found(it)) {
            Some(Found::Confirmed) => "confirmed",
            Some(Found::OnTheWay) => "on the way",
            Some(Found::Explored) => "explored",
            Some(Found::No) => "**no**",
            None if self.hunt.is_clean() => "clean",
            None => "**not clean**",
        }
    }
}
