//! `cargo norn test`: a hunt in each test of a workspace.
//!
//! Each hunt is a command of its own, in the folder and the environment that cargo gives to the test, and
//! leaves its report and its clips below the folder for builds with hooks.

use std::{
    env,
    ffi::OsString,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use norn_cargo::{Program, Test, Toolchain, tests};
use norn_frontend::Interrupt;
use norn_report::Report;

use super::table::{Outcome, Row, summary};
use crate::{
    cli::{Cargo, Global, ReportFormat},
    command::report::read,
    config,
    exit::Exit,
    report,
    terminal::{self, line},
    verbosity,
};

/// How long after an interrupt of this command the hunt that runs is interrupted, at most.
const LOOK: Duration = Duration::from_millis(100);

/// The name of the folder for the reports.
const REPORTS: &str = "tests";

/// Maximum number of bytes of the name of a test in the name of a folder.
const MAX_NAME: usize = 150;

/// What all hunts have in common.
struct Session<'a> {
    cargo: &'a Cargo,
    global: &'a Global,
    /// The folder for reports.
    folder: PathBuf,
}

pub(super) fn run(
    cargo: &Cargo,
    filters: &[OsString],
    toolchain: &Toolchain,
    global: &Global,
) -> anyhow::Result<Exit> {
    let built = cargo.build.run(toolchain)?;
    let session = Session { cargo, global, folder: built.folder.join(REPORTS) };
    let harness: Vec<OsString> = filters.iter().chain(&cargo.rest).cloned().collect();
    let _watch = Interrupt::watch();
    let begin = Instant::now();
    let (mut rows, mut reports) = (Vec::new(), Vec::new());
    'all: for program in &built.programs {
        for test in tests(program, &harness)? {
            if Interrupt::is_stopped() {
                break 'all;
            }
            let Some((row, report)) = session.hunt(program, &test)? else { break 'all };
            line(&mut terminal::stdout(), format_args!("{row}"))?;
            if let (Outcome::Fail, Some(report)) = (row.outcome, report) {
                reports.push((row.title.clone(), report));
            }
            rows.push(row);
        }
    }
    for (title, report) in &reports {
        for text in ["", &format!("──── {title}"), ""] {
            line(&mut terminal::stdout(), text)?;
        }
        report::print(report, ReportFormat::text())?;
    }
    line(&mut terminal::stdout(), format_args!("{}", summary(&rows, begin.elapsed())))?;
    verbosity::note(format_args!("note: documentation tests are not run"))?;
    if Interrupt::is_stopped() {
        verbosity::note(format_args!("note: interrupted: not all tests were hunted in"))?;
    }
    Ok(match exit(&rows) {
        Exit::Harmful => Exit::Harmful,
        _ if Interrupt::is_stopped() => Exit::Interrupted,
        exit => exit,
    })
}

/// The worst of all outcomes.
fn exit(rows: &[Row]) -> Exit {
    let has = |outcome| rows.iter().any(|it| it.outcome == outcome);
    match (has(Outcome::Fail), has(Outcome::Error)) {
        (true, _) => Exit::Harmful,
        (false, true) => Exit::Impossible,
        (false, false) => Exit::Clean,
    }
}

impl Session<'_> {
    /// Hunts in one test. None if an interrupt ended the hunt before it found anything harmful.
    fn hunt(
        &self,
        program: &Program,
        test: &Test,
    ) -> anyhow::Result<Option<(Row, Option<Report>)>> {
        let title = match &test.name {
            Some(name) => format!("{} {name}", program.title()),
            None => program.title(),
        };
        let begin = Instant::now();
        let row = |outcome, executions| Row {
            outcome,
            time: begin.elapsed(),
            executions,
            title: title.clone(),
        };
        let settings = program.settings_of(test.name.as_deref().unwrap_or_default())?;
        if test.ignored || settings.skip {
            return Ok(Some((row(Outcome::Skip, 0), None)));
        }
        let output = self.output(program, test)?;
        let options = self.options(settings.options);
        let ran = run_to_end(self.command(program, test, &options, &output)?);
        let ran = ran.context("cannot run norn itself")?;
        let outcome = match ran.status.code() {
            Some(0) => Outcome::Pass,
            Some(1) => Outcome::Fail,
            _ if Interrupt::is_stopped() => return Ok(None),
            _ => Outcome::Error,
        };
        let report = if outcome == Outcome::Error { None } else { Some(read(&output)?) };
        if report.is_none() {
            terminal::stderr().write_all(&ran.stderr)?;
        }
        let executions = report.as_ref().map_or(0, |it| it.summary.executions);
        Ok(Some((row(outcome, executions), report)))
    }

    /// The folder for the recorded run and the clips of a test.
    fn output(&self, program: &Program, test: &Test) -> anyhow::Result<PathBuf> {
        let program_name = program.path.file_name().unwrap_or_default();
        let folder = self.folder.join(program_name);
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create `{}`", folder.display()))?;
        let name = test.name.as_deref().unwrap_or("all");
        Ok(folder.join(format!("{}.norn", file_name(name))))
    }

    /// The options of the manifest, except those that the command line gives, which come after them.
    fn options(&self, mut configured: Vec<OsString>) -> Vec<OsString> {
        let given = &self.cargo.options;
        let name = |it: &OsString| it.to_string_lossy().split('=').next().map(str::to_owned);
        configured.retain(|it| given.iter().all(|other| name(other) != name(it)));
        configured.into_iter().chain(given.iter().cloned()).collect()
    }

    fn command(
        &self,
        program: &Program,
        test: &Test,
        options: &[OsString],
        output: &Path,
    ) -> anyhow::Result<Command> {
        let norn = env::current_exe().context("cannot find norn itself")?;
        let mut command = Command::new(norn);
        command.args(self.global.words()).args(["hunt", "--format=json", "--output"]).arg(output);
        command.args(options).arg("--").arg(&program.path).args(test.arguments());
        command.envs(program.environment.iter().map(|(name, value)| (name, value)));
        // A backtrace costs more than most tests, and the report shows the stacks.
        command
            .env("RUST_BACKTRACE", "0")
            .current_dir(&program.folder)
            .envs(config::for_compilers());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        Ok(command)
    }
}

/// Runs a hunt to its end. An interrupt is passed on to it: then it reports what it knows, and ends.
fn run_to_end(mut command: Command) -> io::Result<Output> {
    let child = command.spawn()?;
    let id = rustix::process::Pid::from_child(&child);
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    let mut is_told = false;
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(ended) => return ended,
            Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::BrokenPipe.into()),
            Err(RecvTimeoutError::Timeout) if Interrupt::is_stopped() && !is_told => {
                is_told = true;
                // If it has ended meanwhile, there is nothing to pass on.
                let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// The name of a test as the name of a file: `queue::tests::pop` becomes `queue.tests.pop`.
fn file_name(test: &str) -> String {
    let plain = |it: char| if it.is_alphanumeric() || "._-".contains(it) { it } else { '_' };
    let name: String = test.replace("::", ".").chars().map(plain).collect();
    let end = name.char_indices().map(|it| it.0).find(|at| *at >= MAX_NAME).unwrap_or(name.len());
    name[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tests_are_names_of_files() {
        assert_eq!(file_name("queue::tests::pop"), "queue.tests.pop");
        assert_eq!(file_name("a/b - should panic"), "a_b_-_should_panic");
        assert_eq!(file_name(&"ä".repeat(100)).chars().count(), 75);
    }
}
