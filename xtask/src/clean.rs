//! Hunts in correct programs, many times: nothing harmful may be reported, however busy the machine is.
//!
//! The programs are the fixed twins of those subjects in which threads meet outside of locks, where a tool most easily
//! takes for a bug what it does not know. Hunts of one build decide alike, so all their reports should be the same.

mod report;

use std::{
    collections::BTreeSet,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, anyhow, ensure};
use clap::Args;
use norn_e2e::{
    hunt::Hunt,
    subject::{Build, CLANG, GCC, Subject},
    tool,
};

use crate::{
    load::Load,
    norn::Norn,
    process::{End, Running},
    workspace,
};

/// Folders of subjects in which threads meet outside of locks.
const FOLDERS: [&str; 8] =
    ["channel", "signal", "libc", "memory", "progress", "cxx20", "openmp", "descriptor"];
/// Number of hunts at the same time.
const JOBS: usize = 4;
/// Time limit of a hunt.
const LIMIT: Duration = Duration::from_mins(10);

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Sources of other correct programs; the document is not written then
    #[arg(value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// Number of hunts in each program, on an idle and on a busy machine each
    #[arg(long, default_value_t = 20, value_name = "N")]
    times: usize,
    /// Only twins in this folder of subjects; the document is not written then
    #[arg(long, value_name = "FOLDER", conflicts_with = "sources")]
    folder: Option<String>,
    /// Options of the compiler for other programs
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true, requires = "sources")]
    flag: Vec<String>,
    /// The command to measure; by default it is built in release mode
    #[arg(long, value_name = "FILE")]
    norn: Option<PathBuf>,
}

/// The hunts in all builds of a program, on an idle machine and on a busy one.
#[derive(Debug)]
struct Row {
    program: String,
    /// Number of builds; old compilers do not accept all programs.
    builds: usize,
    idle: Cell,
    busy: Cell,
    /// Number of builds whose hunts did not all print the same report, idle or busy.
    varying: usize,
}

/// The hunts in a program, each with its build and with its report as it was printed.
type Hunts = Vec<(PathBuf, Hunt, String)>;

/// The hunts in all builds of a program.
#[derive(Debug, Default)]
struct Cell {
    hunts: usize,
    /// Hunts that reported something harmful, or did not end as they should.
    alarms: Vec<String>,
}

impl Cell {
    fn is_right(&self) -> bool {
        self.alarms.is_empty()
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let norn = Norn::given(options.norn.as_deref())?;
    let mut rows = Vec::new();
    for subject in subjects(options) {
        let programs: Result<Vec<_>> =
            builds().map(|build| compile(&norn, &subject, build, &options.flag)).collect();
        let programs: Vec<_> = programs?.into_iter().flatten().collect();
        ensure!(!programs.is_empty(), "no compiler accepts {}", subject.name);
        let idle = hunts(&norn, &programs, options.times)?;
        let busy = {
            let _load = Load::start()?;
            hunts(&norn, &programs, options.times)?
        };
        let all = [&idle, &busy].into_iter().flatten();
        let varying = varying(&programs, &all.collect::<Vec<_>>());
        let (builds, [idle, busy]) = (programs.len(), [idle, busy].map(|it| cell(&it)));
        let row = Row { program: subject.name, builds, idle, busy, varying };
        let [idle, busy] = [&row.idle, &row.busy].map(|it| it.alarms.len());
        eprintln!("{}: {idle} false alarms on an idle machine, {busy} on a busy one", row.program);
        rows.push(row);
    }
    let text = report::document(&rows);
    println!("{text}");
    if options.sources.is_empty() && options.folder.is_none() {
        workspace::write_document("clean.md", &text)?;
    }
    ensure!(
        rows.iter().all(|it| it.idle.is_right() && it.busy.is_right()),
        "there were false alarms"
    );
    Ok(())
}

/// The programs of the options.
fn subjects(options: &Options) -> Vec<Subject> {
    let name = |it: &PathBuf| it.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let given = |it: &PathBuf| Subject { name: name(it), source: it.clone(), announced: None };
    if !options.sources.is_empty() {
        return options.sources.iter().map(given).collect();
    }
    let folders = FOLDERS.into_iter();
    let folders = folders.filter(|it| options.folder.as_ref().is_none_or(|only| only == it));
    folders.flat_map(Subject::all).filter(|it| it.announced.is_none()).collect()
}

/// The installed compilers, without optimization and with much of it.
fn builds() -> impl Iterator<Item = Build> {
    let installed = |it: &Build| tool::is_installed(it.cc) && tool::is_installed(it.cxx);
    let compilers = [GCC, CLANG].into_iter().filter(installed);
    compilers.flat_map(|it| ["-O0", "-O2"].map(|level| it.at(level)))
}

/// Compiles a program. None if the compiler does not accept it.
fn compile(
    norn: &Norn,
    subject: &Subject,
    build: Build,
    flags: &[String],
) -> Result<Option<PathBuf>> {
    let folder = folder().join(build.to_string().replace(' ', ""));
    fs::create_dir_all(&folder)?;
    let program = folder.join(subject.name.replace('/', "_"));
    let mut command = subject.compile(Command::new(&norn.path), &program, build);
    let status = command.args(flags).stderr(Stdio::null()).status()?;
    Ok(status.success().then_some(program))
}

/// The folder for programs and results.
fn folder() -> PathBuf {
    workspace::target().join("clean")
}

/// Hunts in the programs in turn, several at the same time.
fn hunts(norn: &Norn, programs: &[PathBuf], times: usize) -> Result<Hunts> {
    let next = AtomicUsize::new(0);
    let work = |worker: usize| {
        let mut results = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= times {
                return Ok(results);
            }
            let program = &programs[number % programs.len()];
            let (hunt, text) = hunt(norn, program, &folder().join(worker.to_string()))?;
            results.push((program.clone(), hunt, text));
        }
    };
    let results: Result<Vec<Hunts>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..JOBS).map(|it| scope.spawn(move || work(it))).collect();
        let joined =
            workers.into_iter().map(|it| it.join().map_err(|_| anyhow!("a worker panicked")));
        joined.map(Result::flatten).collect()
    });
    Ok(results?.into_iter().flatten().collect())
}

fn cell(hunts: &Hunts) -> Cell {
    let mut cell = Cell { hunts: hunts.len(), ..Cell::default() };
    for (program, hunt, _) in hunts {
        if !hunt.is_clean() || hunt.code != Some(0) {
            let title = hunt.harmful().chain(hunt.observed()).find_map(|it| it["title"].as_str());
            let title = title.unwrap_or("a failure");
            // The folder is named after the build.
            let name = program.strip_prefix(folder()).unwrap_or(program).display();
            cell.alarms.push(format!("{name}: status {:?}: {title}", hunt.code));
        }
    }
    cell
}

/// The number of builds whose hunts did not all print the same report.
fn varying(programs: &[PathBuf], hunts: &[&(PathBuf, Hunt, String)]) -> usize {
    let reports = |program: &PathBuf| {
        let of = hunts.iter().filter(|it| it.0 == *program);
        of.map(|it| &it.2).collect::<BTreeSet<_>>().len()
    };
    programs.iter().filter(|it| reports(it) > 1).count()
}

/// Hunts once, and returns the report also as it was printed.
fn hunt(norn: &Norn, program: &Path, folder: &Path) -> Result<(Hunt, String)> {
    fs::create_dir_all(folder)?;
    let [result, errors] = ["result.json", "errors"].map(|it| folder.join(it));
    let mut command = Command::new(&norn.path);
    command.args(["hunt", "--format", "json", "--"]).arg(program).current_dir(folder);
    command.stdout(File::create(&result)?).stderr(File::create(&errors)?);
    let end = Running::start(&mut command)?.wait(LIMIT)?.end;
    let text = fs::read_to_string(&result)?;
    let json = serde_json::from_str(&text).with_context(|| {
        let errors = fs::read_to_string(&errors).unwrap_or_default();
        format!("{command:?} ended with {end} and printed no JSON\n{errors}")
    })?;
    let code = if let End::Exited(status) = end { Some(status) } else { None };
    Ok((Hunt { json, code }, text))
}
