//! `norn run`: a strategy decides which thread runs next.

use std::{
    io::{self, IsTerminal as _},
    os::unix::process::ExitStatusExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use norn_abi::control::StrategyKind;
use norn_frontend::{Collect, Cut, Launch, Plan, Streams};
use norn_localize::WINDOW;
use norn_model::Consequence;
use norn_replay::{BatchMode, CompletedRun, RunKind, SymbolizedTrace};
use norn_report::{Batch, ExitStatus, Report};
use norn_trace::{MemoryModel, Strategy};

use crate::{
    cli::{Limits, Run},
    command::{
        batch::{self, Done, Job},
        checked,
        hunt::words,
        record,
    },
    exit::Exit,
    front_end::front_end,
    input,
    report::{self, VERSION},
    scratch::Scratch,
    verbosity::note,
};

pub(super) fn run(args: &Run) -> anyhow::Result<Exit> {
    let mut launch = Launch {
        command: args.command.clone(),
        output: args.output.clone().unwrap_or_else(|| PathBuf::from("run.norn")),
        plan: Some(plan(args)),
        collect: args.collect.then_some(Collect {
            window: WINDOW,
            observe_all: true,
            delays: None,
        }),
        functions: args.functions.names.clone(),
        keep_inputs: args.record_inputs,
        stdin: if args.record_inputs { input::stdin()? } else { None },
        ..launch(&args.limits)
    };
    let unknown = args.strategy.kind() == StrategyKind::Pct && args.expected.is_none();
    if unknown && let Some(exit) = calibrate(&mut launch)? {
        return Ok(exit);
    }
    if args.batch.times.is_some() { explore(args, &launch) } else { once(args, &launch) }
}

fn once(args: &Run, launch: &Launch) -> anyhow::Result<Exit> {
    let check = batch::check(&args.batch, &args.limits);
    let completed = checked::run(launch, check.as_ref())?;
    record::say(launch, &completed.recording)?;
    if !completed.recording.recorded {
        return Ok(Exit::Impossible);
    }
    let format = args.batch.format;
    let consequence = &completed.consequence;
    if consequence.is_failure() || consequence.is_unfinished() || !format.is_text() {
        let run = norn_replay::report::run(&completed, None)?;
        let exit = status(&completed);
        report::print_run(&Report { run: Some(run), exit, ..report(launch) }, format)?;
    }
    if let Some(path) = &args.save
        && let Some(symbolized) = completed.symbolized()?
    {
        save(path, symbolized, &completed.consequence)?;
        note(format_args!("hint: `norn replay {}` repeats this run", path.display()))?;
    } else if completed.consequence.is_failure() {
        note("hint: --save clip.json writes a clip that `norn replay` repeats")?;
    }
    Ok(exit(&completed))
}

fn save(
    path: &Path,
    symbolized: &SymbolizedTrace,
    consequence: &Consequence,
) -> anyhow::Result<()> {
    let mut clip = norn_replay::capture(symbolized);
    clip.expect = Some(consequence.clone());
    Ok(clip.write(path)?)
}

/// Repeated runs, each with another seed.
fn explore(args: &Run, launch: &Launch) -> anyhow::Result<Exit> {
    let scratch = Scratch::new()?;
    let check = batch::check(&args.batch, &args.limits);
    let job = Job {
        launch,
        mode: BatchMode::Explore,
        batch: &args.batch,
        until_failure: args.until_failure,
        check: check.as_ref(),
        keep: args.output.as_deref(),
    };
    let done = job.run(&scratch)?;
    if done.tally.count > 0 {
        print(args, launch, &done)?;
    }
    done.move_kept()?;
    drop(scratch);
    let failed = done.tally.first_failure().is_some();
    Ok(done.exit(if failed { Exit::Harmful } else { Exit::Clean }))
}

/// A report of a run, without its results.
fn report(launch: &Launch) -> Report {
    let command = norn_report::Command::Run;
    Report { program: words(&launch.command), ..Report::new(command, VERSION) }
}

fn print(args: &Run, launch: &Launch, done: &Done) -> anyhow::Result<()> {
    let failure = done.tally.first_failure();
    let batch = Batch {
        repeat: failure.map(|it| again(args, launch, it)).unwrap_or_default(),
        ..norn_replay::report::batch(&**front_end(), &done.tally, None, done.kept().as_deref())
    };
    let exit = if failure.is_some() { Exit::Harmful } else { Exit::Clean };
    let report = Report { batch: Some(batch), exit: exit.into(), ..report(launch) };
    report::print(&report, args.batch.format)?;
    if let (Some(path), Some(failure)) = (&args.save, failure) {
        let process = norn_replay::process(&failure.recording);
        let symbolized = SymbolizedTrace::open(&**front_end(), &failure.folder.trace(), process)?;
        save(path, &symbolized, &failure.fingerprint.consequence)?;
        note(format_args!("hint: `norn replay {}` repeats this run", path.display()))?;
    }
    Ok(())
}

/// The command line that repeats a run.
fn again(args: &Run, launch: &Launch, kind: &RunKind) -> Vec<String> {
    let plan = launch.plan.clone().unwrap_or_default();
    let mut words = vec!["norn".to_owned(), "run".to_owned()];
    let mut option = |name: &str, value: String| words.extend([format!("--{name}"), value]);
    option("strategy", args.strategy.kind().name().to_owned());
    if args.strategy.kind() == StrategyKind::Pct {
        option("depth", plan.depth.to_string());
        option("expected", plan.expected.to_string());
    }
    if plan.quantum > 0 {
        option("quantum", plan.quantum.to_string());
    }
    if let MemoryModel::C11 = plan.memory {
        option("memory", "c11".to_owned());
    }
    if let Some(check) = &args.batch.check {
        option("check", quoted(check));
    }
    option("seed", kind.seed.to_string());
    words.push("--".to_owned());
    words.extend(launch.command.iter().map(|it| quoted(&it.to_string_lossy())));
    words
}

/// A word, quoted for the shell.
pub(super) fn quoted(word: &str) -> String {
    let plain = |it: char| it.is_ascii_alphanumeric() || "_-./=:,+@%".contains(it);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Measures the number of events of the program by an extra run.
fn calibrate(launch: &mut Launch) -> anyhow::Result<Option<Exit>> {
    let scratch = Scratch::new()?;
    let calibration = norn_replay::calibrate(&**front_end(), launch, scratch.path())?;
    drop(scratch);
    let (steps, recording) = (calibration.steps(), calibration.recording);
    if let Some(Cut::Interrupt(signal)) = recording.cut {
        return Ok(Some(record::end_by(signal)));
    }
    if !recording.recorded {
        record::say(launch, &recording)?;
        return Ok(Some(Exit::Impossible));
    }
    if let Some(plan) = &mut launch.plan {
        plan.expected = steps.max(1);
    }
    note(format_args!("norn: the program has about {steps} events, measured by one extra run"))?;
    note(format_args!("hint: --expected {steps} saves that run"))?;
    Ok(None)
}

fn plan(args: &Run) -> Plan {
    Plan {
        strategy: Strategy::from_code(args.strategy.kind().code()),
        seed: args.seed,
        depth: args.depth,
        quantum: args.quantum,
        expected: args.expected.unwrap_or(0),
        max_steps: args.limits.max_steps,
        memory: args.memory.model(),
        ..Plan::default()
    }
}

/// The launch settings of all controlled runs. Norn reads the error output of the program for assertion
/// messages, unless it goes to a terminal: the program would see a pipe instead.
pub(super) fn launch(limits: &Limits) -> Launch {
    let terminal = io::stderr().is_terminal();
    Launch {
        values: !limits.no_values,
        max_size: limits.max_size,
        timeout: limits.timeout.map(Duration::from_secs),
        streams: if terminal { Streams::Inherit } else { Streams::KeepErrors },
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..Launch::default()
    }
}

/// The program's own status, unless norn ended it or its check failed.
fn exit(completed: &CompletedRun) -> Exit {
    match (completed.recording.cut, &completed.consequence) {
        (None, Consequence::Check(_)) => Exit::Harmful,
        (None, _) => record::end_like(completed.recording.status),
        (Some(Cut::Interrupt(signal)), _) => record::end_by(signal),
        (Some(_), Consequence::None) => Exit::Clean,
        (Some(_), Consequence::Unfinished(_)) => Exit::Impossible,
        (Some(_), _) => Exit::Harmful,
    }
}

/// The exit status for reports.
fn status(completed: &CompletedRun) -> ExitStatus {
    match (completed.recording.cut, &completed.consequence) {
        (None, Consequence::Check(_)) => Exit::Harmful.into(),
        (None, _) => {
            let by_signal = completed.recording.status.signal().map(|it| 128 + it);
            let code = by_signal.or_else(|| completed.recording.status.code()).unwrap_or(255);
            Exit::Subject(code.try_into().unwrap_or(255)).into()
        }
        (Some(_), Consequence::None) => Exit::Clean.into(),
        (Some(_), Consequence::Unfinished(_)) => Exit::Impossible.into(),
        (Some(_), _) => Exit::Harmful.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(quoted("./prog"), "./prog");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("it's $5"), r"'it'\''s $5'");
    }
}
