//! `norn hunt`: records a passing run, predicts bugs under other schedules, and confirms them.

use std::{
    ffi::{OsStr, OsString},
    fs,
    io::{self, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use anyhow::{Context as _, ensure};
use indicatif::{ProgressBar, ProgressStyle};
use norn_cc::Language;
use norn_frontend::{Interrupt, Launch};
use norn_hunt::{Options, Stage};
use norn_model::{BugClass, FunctionPattern};
use norn_predict::Pattern;
use norn_trace::{PROGRAM, file};

use crate::{
    baseline::Baseline,
    cli,
    command::run::launch,
    config,
    exit::Exit,
    front_end::front_end,
    input,
    output_lock::OutputLock,
    report::{self, VERSION},
    scratch::Scratch,
    suppress::ReportFilter,
    suppression::{self, Suppression},
    terminal::{self, line},
    text_file, verbosity,
};

/// Maximum size of a file with patterns in bytes.
const MAX_PATTERN_FILE: u64 = 1 << 20;
/// Maximum number of patterns, with the built-in ones.
const MAX_PATTERNS: usize = 256;

pub(super) fn run(args: &cli::Hunt) -> anyhow::Result<Exit> {
    let suppressions = suppressions(&args.counting.suppressions)?;
    let baseline = baseline(&args.counting)?;
    let scratch = Scratch::new()?;
    let forcing = &args.forcing;
    let _lock = OutputLock::new(&forcing.output)?;
    let command = program(&forcing.command, &forcing.output, scratch.path())?;
    let options = Options {
        front_end: Arc::clone(front_end()),
        launch: Launch {
            command,
            functions: args.search.atomic_function.clone(),
            keep_inputs: forcing.record_inputs,
            stdin: if forcing.record_inputs { input::stdin()? } else { None },
            ..launch(&forcing.limits)
        },
        output: forcing.output.clone(),
        predict: prediction_options(&args.search)?,
        atomic_sets: atomic_sets(&args.search),
        engines: args.search.engine.into(),
        budget: forcing.budget.get(),
        jobs: forcing.jobs(),
        explore: args.explore,
        memory: args.memory.model(),
        instances: forcing.instances,
        max_steps: forcing.limits.max_steps,
        all_events: false,
    };
    let progress = Progress::new();
    let hunt = norn_hunt::hunt(&options, scratch.path(), &|stage| progress.show(stage))?;
    progress.end();
    let Some(hunt) = hunt else {
        return no_events(&forcing.command[0], "norn hunt prog.c");
    };
    let filter = ReportFilter::of_hunt(&hunt, suppressions, args.counting.fail_on);
    let filter = with_baseline(filter, &baseline, &args.counting)?;
    let exit = match filter.fails() {
        true => Exit::Harmful,
        false if hunt.interrupted => Exit::Interrupted,
        false => Exit::Clean,
    };
    let mut report = norn_hunt::report::hunt(&hunt, &filter.marks(&hunt), VERSION);
    (report.program, report.exit) = (words(&options.launch.command), exit.into());
    report::print(&report, forcing.format)?;
    Ok(exit)
}

/// The bugs that are known; none if no file is given.
pub(super) fn baseline(counting: &cli::Counting) -> anyhow::Result<Baseline> {
    Ok(counting.baseline.as_deref().map(Baseline::read).transpose()?.unwrap_or_default())
}

/// Applies the baseline that was given, or the one that is to be written.
pub(super) fn with_baseline<'a>(
    filter: ReportFilter<'a>,
    given: &Baseline,
    counting: &cli::Counting,
) -> anyhow::Result<ReportFilter<'a>> {
    let filter = filter.with_baseline(given);
    let Some(path) = &counting.write_baseline else { return Ok(filter) };
    let written = Baseline::new(filter.fingerprints());
    written.write(path)?;
    Ok(filter.with_baseline(&written))
}

/// A command line, for reports.
pub(super) fn words(command: &[OsString]) -> Vec<String> {
    command.iter().map(|it| it.to_string_lossy().into_owned()).collect()
}

/// Reports why there are no events: the user interrupted the recording, or the program was not
/// built with norn.
pub(super) fn no_events(program: &OsStr, instead: &str) -> anyhow::Result<Exit> {
    if Interrupt::caught().is_none() {
        return not_built(program, instead);
    }
    writeln!(io::stderr(), "norn: interrupted before `{}` was recorded", program.display())?;
    Ok(Exit::Interrupted)
}

/// Reports that a program left no events, with a hint.
pub(super) fn not_built(program: &OsStr, instead: &str) -> anyhow::Result<Exit> {
    let (mut out, program) = (terminal::stderr(), program.display());
    line(&mut out, format_args!("norn: `{program}` left no events: it was not built with norn"))?;
    line(&mut out, format_args!("hint: build it with `norn build make`, or `{instead}`"))?;
    Ok(Exit::Impossible)
}

/// Reads the suppression files, and warns of lines that are ignored.
pub(super) fn suppressions(given: &cli::Suppressions) -> anyhow::Result<Vec<Suppression>> {
    let (suppressions, ignored) = suppression::read(&given.files)?;
    for it in ignored {
        writeln!(terminal::stderr(), "norn: {it}")?;
    }
    Ok(suppressions)
}

/// The program to run. A source file is compiled first; its program stays with the trace, so that
/// clips can be replayed.
pub(super) fn program(
    command: &[OsString],
    output: &Path,
    scratch: &Path,
) -> anyhow::Result<Vec<OsString>> {
    let source = Path::new(&command[0]);
    let language = match source.extension().and_then(|it| it.to_str()) {
        Some("c") => Language::C,
        Some("cc" | "cpp" | "cxx" | "C") => Language::Cxx,
        _ => return Ok(command.to_vec()),
    };
    let ours = norn_trace::is_ours(output).unwrap_or(false);
    let folder = if ours { std::path::absolute(output.join(PROGRAM))? } else { scratch.to_owned() };
    let made = file::refuse_link(output)
        .and_then(|()| file::refuse_link(&folder))
        .and_then(|()| fs::create_dir_all(&folder));
    made.with_context(|| format!("cannot create `{}`", folder.display()))?;
    let program = folder.join(source.file_stem().unwrap_or_default());
    let flags = ["-g", "-O1", "-pthread", "-o"].map(OsString::from);
    let arguments: Vec<OsString> =
        flags.into_iter().chain([program.clone().into(), source.into()]).collect();
    let norn = std::env::current_exe().context("cannot find norn itself")?;
    let name = if language == Language::C { "cc" } else { "c++" };
    let status = std::process::Command::new(norn)
        .arg(name)
        .args(arguments)
        .envs(config::for_compilers())
        .status()?;
    anyhow::ensure!(status.success(), "cannot compile `{}`", source.display());
    Ok([program.into()].into_iter().chain(command[1..].iter().cloned()).collect())
}

/// The analyses and patterns that the user selected.
pub(super) fn prediction_options(search: &cli::Search) -> anyhow::Result<norn_predict::Options> {
    let wanted = |class: BugClass| search.only.is_empty() || search.only.contains(&class);
    Ok(norn_predict::Options {
        analyses: norn_predict::analyses().filter(|it| wanted(it.class)).collect(),
        patterns: patterns(&search.pattern)?,
        unmarked: !search.marked_only,
        functions: search.atomic_function.iter().map(|it| FunctionPattern::new(it)).collect(),
        ..norn_predict::Options::default()
    })
}

/// The atomic sets of the user, by the names of their variables.
pub(super) fn atomic_sets(search: &cli::Search) -> Vec<Vec<String>> {
    search.atomic_set.iter().map(|it| it.0.clone()).collect()
}

/// The patterns to search: the built-in ones, and those of the user.
fn patterns(files: &[PathBuf]) -> anyhow::Result<Vec<Pattern>> {
    let mut patterns = Pattern::built_in();
    for path in files {
        let text = text_file::read(path, MAX_PATTERN_FILE)
            .with_context(|| format!("cannot read `{}`", path.display()))?;
        let own = Pattern::parse(&text).with_context(|| format!("in `{}`", path.display()))?;
        patterns.extend(own);
        let shown = path.display();
        ensure!(
            patterns.len() <= MAX_PATTERNS,
            "too many patterns in `{shown}`: more than {MAX_PATTERNS}"
        );
    }
    Ok(patterns)
}

/// Shows the progress on a terminal.
pub(super) struct Progress(Option<Mutex<ProgressBar>>);

impl Progress {
    pub(super) fn new() -> Progress {
        if verbosity::is_quiet() || !io::stderr().is_terminal() {
            return Progress(None);
        }
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Progress(Some(Mutex::new(bar)))
    }

    pub(super) fn show(&self, stage: Stage) {
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
