//! `norn hunt`: records a passing run, predicts bugs under other schedules, and confirms them.

use std::{
    ffi::{OsStr, OsString},
    fs,
    io::{self, Write as _},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
    sync::Arc,
    thread,
    time::Duration,
};

use anyhow::{Context as _, ensure};
use norn_frontend::{Cancel, Interrupt, Launch};
use norn_hunt::{Hunt, Options};
use norn_learn::Invariant;
use norn_model::{BugClass, FunctionPattern};
use norn_predict::Pattern;
use norn_trace::{PROGRAM, file};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::{
    announce::Announcer,
    baseline::Baseline,
    cli,
    command::{
        campaign, learn,
        run::launch,
        shared::{self, Executions},
    },
    config,
    exit::Exit,
    input,
    output_lock::OutputLock,
    scratch::Scratch,
    suppression::{self, Suppression},
    terminal::{self, line},
    text_file,
};

/// Maximum size of a file with patterns in bytes.
const MAX_PATTERN_FILE: u64 = 1 << 20;
/// Maximum number of patterns, with the built-in ones.
const MAX_PATTERNS: usize = 256;

pub(super) fn run(args: &cli::Hunt) -> anyhow::Result<Exit> {
    if args.forcing.sharing.worker {
        return shared::work(&args.forcing.sharing, args.forcing.jobs());
    }
    let deadline = args.forcing.deadline();
    let suppressions = suppressions(&args.counting.suppressions)?;
    let baseline = baseline(&args.counting)?;
    let scratch = Scratch::new()?;
    let forcing = &args.forcing;
    let _lock = OutputLock::new(&forcing.output)?;
    let Some(command) = program(&forcing.command, &forcing.output, scratch.path())? else {
        return campaign::unbuilt::<Hunt>((forcing, &args.counting));
    };
    let cancel = Cancel::default();
    let executions = Executions::new(forcing, &command)?;
    let options = Options {
        front_end: Arc::clone(&executions.front_end),
        launch: Launch {
            command,
            functions: args.search.atomic_function.clone(),
            keep_inputs: forcing.record_inputs,
            stdin: if forcing.record_inputs { input::stdin()? } else { None },
            ..launch(&forcing.limits)
        },
        output: forcing.output.clone(),
        predict: prediction_options(&args.search)?,
        from: args.from.into(),
        distance: args.distance,
        failure_kinds: args.failure.iter().map(|it| (*it).into()).collect(),
        invariants: invariants(args)?,
        atomic_sets: atomic_sets(&args.search),
        engines: args.search.engine.into(),
        cancel: cancel.clone(),
        budget: forcing.budget.get(),
        jobs: forcing.jobs(),
        explore: args.explore,
        memory: args.memory.model(),
        instances: forcing.instances,
        max_steps: forcing.limits.max_steps,
        time: forcing.time,
        all_events: false,
    };
    let shown = words(&options.launch.command);
    let announcer = Announcer::new((forcing, &args.counting), shown, suppressions, baseline);
    let folder = scratch.path().to_owned();
    let names = (&*forcing.command[0], "norn hunt prog.c");
    let exit = campaign::conduct(announcer, (deadline, cancel), names, move |listener| {
        norn_hunt::hunt(&options, &folder, listener)
    })?;
    executions.close()?;
    Ok(exit)
}

/// The likely invariants; none if no file is given.
fn invariants(args: &cli::Hunt) -> anyhow::Result<Arc<[Invariant]>> {
    Ok(args.invariants.as_deref().map(learn::read).transpose()?.unwrap_or_default())
}

/// The bugs that are known; none if no file is given.
pub(super) fn baseline(counting: &cli::Counting) -> anyhow::Result<Baseline> {
    Ok(counting.baseline.as_deref().map(Baseline::read).transpose()?.unwrap_or_default())
}

/// A command line, for reports.
pub(super) fn words(command: &[OsString]) -> Vec<String> {
    command.iter().map(|it| it.to_string_lossy().into_owned()).collect()
}

/// Reports that a program left no events, with a hint.
pub(super) fn not_built(program: &OsStr, instead: &str) -> anyhow::Result<Exit> {
    let (mut out, program) = (terminal::stderr(), program.display());
    let why = "it was not built with norn, or with another version";
    line(&mut out, format_args!("norn: `{program}` left no events: {why}"))?;
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
/// clips can be replayed. `None` if the user interrupts that.
pub(super) fn program(
    command: &[OsString],
    output: &Path,
    scratch: &Path,
) -> anyhow::Result<Option<Vec<OsString>>> {
    let source = Path::new(&command[0]);
    let Some((compiler_name, flags)) = compiler_of(source) else {
        return Ok(Some(command.to_vec()));
    };
    let ours = norn_trace::is_ours(output).unwrap_or(false);
    let folder = if ours { std::path::absolute(output.join(PROGRAM))? } else { scratch.to_owned() };
    let made = file::refuse_link(output)
        .and_then(|()| file::refuse_link(&folder))
        .and_then(|()| fs::create_dir_all(&folder));
    made.with_context(|| format!("cannot create `{}`", folder.display()))?;
    let program = folder.join(source.file_stem().unwrap_or_default());
    let norn = std::env::current_exe().context("cannot find norn itself")?;
    let mut compiler = Command::new(norn);
    compiler.arg(compiler_name).args(flags).arg("-o").arg(&program).arg(source);
    compiler.envs(config::for_compilers());
    // A compiler that is killed leaves its temporary files behind.
    compiler.env("TMPDIR", scratch);
    let Some(status) = until_stopped(compiler)? else { return Ok(None) };
    anyhow::ensure!(status.success(), "cannot compile `{}`", source.display());
    Ok(Some([program.into()].into_iter().chain(command[1..].iter().cloned()).collect()))
}

/// The command of norn that compiles a source file, and options for it; `None` if it is no source file.
/// Rust is compiled as cargo does for tests: without optimization, with overflow checks.
fn compiler_of(source: &Path) -> Option<(&'static str, &'static [&'static str])> {
    const C: &[&str] = &["-g", "-O1", "-pthread"];
    match source.extension()?.to_str()? {
        "c" => Some(("cc", C)),
        "cc" | "cpp" | "cxx" | "C" => Some(("c++", C)),
        "rs" => Some(("rustc", &["-g", "--edition=2024"])),
        _ => None,
    }
}

/// Runs a command to its end. If the user interrupts that, it is killed with all processes that it has
/// started, and the result is `None`.
fn until_stopped(mut command: Command) -> io::Result<Option<ExitStatus>> {
    let mut child = command.process_group(0).spawn()?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Interrupt::is_stopped() {
            // The group has the number of its first process, which was not waited for yet.
            let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(10));
    }
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
