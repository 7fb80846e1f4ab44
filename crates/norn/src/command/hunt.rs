//! `norn hunt`: record a passing run, predict what other orders hold, and prove it on the program.

use std::{
    ffi::OsString,
    io::{self, IsTerminal as _, Write as _},
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::Mutex,
    time::Duration,
};

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressStyle};
use norn_cc::Language;
use norn_hunt::{Hunt, Options, Stage};
use norn_model::NamePattern;
use norn_predict::Pattern;

use crate::{
    cli::{self, Format},
    command::run::options,
    exit::Exit,
    finding,
    scratch::Scratch,
};

pub(super) fn run(args: &cli::Hunt) -> anyhow::Result<Exit> {
    let scratch = Scratch::new()?;
    let command = program(&args.command, scratch.path())?;
    let output = args.output.clone().unwrap_or_else(|| PathBuf::from("run.norn"));
    let options = Options {
        run: norn_record::Options {
            command,
            functions: args.atomic_function.clone(),
            ..options(&args.limits)
        },
        output,
        predict: norn_predict::Options {
            patterns: patterns(&args.pattern)?,
            unmarked: !args.marked_only,
            functions: args.atomic_function.iter().map(|it| NamePattern::new(it)).collect(),
            ..norn_predict::Options::default()
        },
        budget: args.budget.get(),
        jobs: args
            .jobs
            .or_else(|| std::thread::available_parallelism().ok())
            .unwrap_or(NonZeroUsize::MIN),
        explore: args.explore,
        instances: args.instances,
        max_steps: args.limits.max_steps,
    };
    let progress = Progress::new();
    let hunt = norn_hunt::hunt(&options, scratch.path(), &|stage| progress.tell(stage))?;
    progress.end();
    let Some(hunt) = hunt else {
        let program = args.command[0].display();
        writeln!(io::stderr(), "norn: `{program}` left no events: it was not built with norn")?;
        writeln!(
            io::stderr(),
            "hint: build it with `CC=\"norn cc\" CXX=\"norn c++\"`, or `norn hunt prog.c`"
        )?;
        return Ok(Exit::Impossible);
    };
    say(args, &hunt)?;
    Ok(exit(&hunt))
}

fn say(args: &cli::Hunt, hunt: &Hunt) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    match args.format {
        Format::Text => finding::text(&mut out, hunt),
        Format::Json => finding::json(&mut out, hunt),
    }
}

fn exit(hunt: &Hunt) -> Exit {
    let harmful = hunt.findings.iter().any(norn_hunt::Finding::is_harmful);
    if harmful || !hunt.observed.is_empty() || hunt.base.consequence.is_failure() {
        Exit::Harmful
    } else {
        Exit::Clean
    }
}

/// The program to run. A source file is compiled first.
pub(super) fn program(command: &[OsString], scratch: &Path) -> anyhow::Result<Vec<OsString>> {
    let source = Path::new(&command[0]);
    let language = match source.extension().and_then(|it| it.to_str()) {
        Some("c") => Language::C,
        Some("cc" | "cpp" | "cxx" | "C") => Language::Cxx,
        _ => return Ok(command.to_vec()),
    };
    let program = scratch.join(source.file_stem().unwrap_or_default());
    let flags = ["-g", "-O1", "-pthread", "-o"].map(OsString::from);
    let arguments: Vec<OsString> =
        flags.into_iter().chain([program.clone().into(), source.into()]).collect();
    let norn = std::env::current_exe().context("cannot find norn itself")?;
    let name = if language == Language::C { "cc" } else { "c++" };
    let status = std::process::Command::new(norn).arg(name).args(arguments).status()?;
    anyhow::ensure!(status.success(), "cannot compile `{}`", source.display());
    Ok([program.into()].into_iter().chain(command[1..].iter().cloned()).collect())
}

/// The patterns that are looked for: the built-in ones, and those of the user.
pub(super) fn patterns(files: &[PathBuf]) -> anyhow::Result<Vec<Pattern>> {
    let mut patterns = Pattern::built_in();
    for path in files {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read `{}`", path.display()))?;
        let own = Pattern::parse(&text).with_context(|| format!("in `{}`", path.display()))?;
        patterns.extend(own);
    }
    Ok(patterns)
}

/// What a person sees while it lasts, if a person looks.
pub(super) struct Progress(Option<Mutex<ProgressBar>>);

impl Progress {
    pub(super) fn new() -> Progress {
        if !io::stderr().is_terminal() {
            return Progress(None);
        }
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Progress(Some(Mutex::new(bar)))
    }

    pub(super) fn tell(&self, stage: Stage) {
        let Some(Ok(bar)) = self.0.as_ref().map(|it| it.lock()) else { return };
        bar.set_message(match stage {
            Stage::Recording => "recording".to_owned(),
            Stage::Exploring { executions } => format!("exploring: {executions} runs"),
            Stage::Predicting => "predicting".to_owned(),
            Stage::Trying { executions, left, confirmed } => {
                format!("trying: {executions} runs, {left} candidates left, {confirmed} confirmed")
            }
        });
    }

    pub(super) fn end(&self) {
        if let Some(Ok(bar)) = self.0.as_ref().map(|it| it.lock()) {
            bar.finish_and_clear();
        }
    }
}
