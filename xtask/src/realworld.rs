//! Real programs, built with the wrapper by their own build systems, under a real load: native,
//! built for Norn but not recorded, and recorded. All three must give the same results.

mod memcached;
pub(crate) mod pbzip2;
mod redis;
mod report;
mod server;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use crate::{
    debian,
    norn::{Info, Norn},
    process::End,
    toolchain::Toolchain,
    workspace,
};

/// Time limit of a run, including its load.
const LIMIT: Duration = Duration::from_mins(5);

/// Recording stops at this size, and the program continues.
const MAX_SIZE: &str = "4G";

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Only this program
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
}

/// A program, its build, and its load.
trait Program {
    fn name(&self) -> &'static str;

    /// A description of the build and the load.
    fn story(&self) -> &'static str;

    fn build(&self, toolchain: &Toolchain) -> Result<PathBuf>;

    /// Runs it under its load and checks every answer.
    fn run(&self, launch: &Launch<'_>) -> Result<Outcome>;
}

/// The result of one run.
#[derive(Clone, Debug)]
struct Outcome {
    /// The duration of the load.
    wall: Duration,
    end: End,
    /// The computed results, in a form that must be the same in every run.
    results: String,
}

/// How to start a program.
struct Launch<'a> {
    program: PathBuf,
    /// The recorder and the path of the trace.
    record: Option<(&'a Norn, PathBuf)>,
    /// A folder for the files that it writes.
    folder: PathBuf,
}

impl Launch<'_> {
    fn command<Word: AsRef<Path>>(
        &self,
        arguments: impl IntoIterator<Item = Word>,
    ) -> Result<Command> {
        let mut subject = Command::new(&self.program);
        subject.args(arguments.into_iter().map(|it| it.as_ref().as_os_str().to_owned()));
        let mut command = match &self.record {
            Some((norn, trace)) => norn.record(trace, &["--max-size", MAX_SIZE], &subject)?,
            None => subject,
        };
        command.current_dir(&self.folder);
        Ok(command)
    }
}

/// The three runs of a program. Each may have failed independently.
struct Row {
    name: &'static str,
    story: &'static str,
    /// Native, idle, recorded.
    runs: [Result<Outcome>; 3],
    trace: Result<Info>,
}

/// The names of the runs.
const RUNS: [&str; 3] = ["native", "idle", "recorded"];

pub(crate) fn run(options: &Options) -> Result<()> {
    let programs: [&dyn Program; 3] = [&pbzip2::Pbzip2, &memcached::Memcached, &redis::Redis];
    let wanted = |it: &&&dyn Program| options.only.as_ref().is_none_or(|name| name == it.name());
    let chosen: Vec<_> = programs.iter().filter(wanted).collect();
    ensure!(!chosen.is_empty(), "no such program\nhint: one of pbzip2, memcached, redis");
    let norn = Norn::build()?;
    let rows: Vec<_> = chosen.iter().map(|it| (it.name(), row(&norn, **it))).collect();
    let text = report::document(&rows);
    println!("{text}");
    if options.only.is_none() {
        workspace::write_document("realworld.md", &text)?;
    }
    let failed: Vec<_> =
        rows.iter().filter(|(_, row)| !is_good(row)).map(|(name, _)| *name).collect();
    ensure!(failed.is_empty(), "not as it should be: {}", failed.join(", "));
    Ok(())
}

fn is_good(row: &Result<Row>) -> bool {
    row.as_ref().is_ok_and(|row| row.same() && row.trace.is_ok())
}

impl Row {
    /// Whether all runs ended in the same way with the same results.
    fn same(&self) -> bool {
        let facts =
            |run: &Result<Outcome>| run.as_ref().ok().map(|it| (it.end, it.results.clone()));
        let native = facts(&self.runs[0]);
        native.is_some() && self.runs.iter().all(|run| facts(run) == native)
    }
}

fn row(norn: &Norn, program: &dyn Program) -> Result<Row> {
    let name = program.name();
    eprintln!("building {name}");
    let native = program.build(&Toolchain::native())?;
    let hooked = program.build(&Toolchain::norn(norn)).context("with norn cc")?;
    let folder = debian::folder().join("run").join(name);
    fs::create_dir_all(&folder)?;
    let trace = folder.join("trace.norn");
    let once = |run: usize, file: &Path, record| {
        eprintln!("running {name}, {}", RUNS[run]);
        let launch = Launch { program: file.to_owned(), record, folder: folder.clone() };
        program.run(&launch)
    };
    let record = Some((norn, trace.clone()));
    let runs = [once(0, &native, None), once(1, &hooked, None), once(2, &hooked, record)];
    let info = norn.info(&trace);
    if info.is_ok() {
        fs::remove_dir_all(&trace).context("cannot remove the trace")?;
    }
    Ok(Row { name, story: program.story(), runs, trace: info })
}

/// The build folder of a package for a toolchain.
fn build_folder(toolchain: &Toolchain, package: &str) -> PathBuf {
    debian::folder().join(toolchain.name).join(package)
}

/// Whether a program exists and is newer than the compiler wrapper that built it.
fn is_fresh(program: &Path, toolchain: &Toolchain) -> bool {
    let changed = |path: &Path| fs::metadata(path).and_then(|it| it.modified()).ok();
    let Some(built) = changed(program) else { return false };
    let wrapper = toolchain.cc.split(' ').next().map(Path::new);
    wrapper.and_then(changed).is_none_or(|wrapper| wrapper < built)
}

/// Runs a build step and writes its output to a file next to the tree.
fn step(command: &mut Command, tree: &Path) -> Result<()> {
    let log = tree.with_extension("log");
    let file = fs::OpenOptions::new().create(true).append(true).open(&log)?;
    command.current_dir(tree).stdin(std::process::Stdio::null());
    command.stdout(file.try_clone()?).stderr(file);
    workspace::succeed(command).with_context(|| format!("see {}", log.display()))
}
