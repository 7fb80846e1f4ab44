//! The base run: the recorded, passing run from which everything else is predicted. If the first
//! run fails, that failure is a finding of its own, and other schedules are tried to obtain a run
//! that passes. But if all of them end with the same exit status, that is how the program normally
//! ends: such a status is a result, as that of `diff` is, and not a failure.

use std::{ops::RangeInclusive, path::Path, sync::Arc, time::Duration};

use norn_frontend::{Interrupt, Plan};
use norn_model::Consequence;
use norn_replay::{Clip, ReplayError};
use norn_report::Note;
use norn_trace::Strategy;

use crate::{
    Options,
    campaign::ClipStore,
    executor::{LocalExecutor, Output, Run},
    observe::Observations,
    source::Source,
    sparse,
};

/// Maximum number of runs to obtain one that passes.
const RUNS: u64 = 8;
/// Exit statuses that no program has normally: shells use them for programs that could not be
/// started or were killed by a signal.
const ABNORMAL: RangeInclusive<i32> = 126..=192;
/// The exit status of Rust programs that panic, and of test programs of Rust with a test that fails.
const PANICKED: i32 = 101;
/// Number of events after which further runs are cut once a run has not ended. Programs that serve or simulate
/// something forever show what their threads do in such a prefix.
const ENDLESS: u64 = 100_000;
/// The part of a limited time that the first run may take, and the number of its events for each second of that time: what
/// follows, above all the search for candidates, takes a few times as long as the run itself. A run that is cut by events is the
/// same on every machine.
const PART: u32 = 2;
const EVENTS_PER_SECOND: u64 = 250_000;
/// Timeout of the recorded run if the user gives none.
const LONGEST_BASE: Duration = Duration::from_mins(2);
/// Minimum timeout of every other run if the user gives none.
const SHORTEST: Duration = Duration::from_secs(10);

/// The recorded run.
#[derive(Debug)]
pub struct Base {
    /// The consequence of the run.
    pub consequence: Consequence,
    /// Number of its events.
    pub events: u64,
    /// Number of its threads.
    pub threads: usize,
    /// Number of executions that were needed to obtain it.
    pub executions: usize,
    /// Its duration.
    pub time: Duration,
    /// What a reader must know about it.
    pub notes: Vec<Note>,
    /// A schedule that lets the threads continue that were running when the program ended.
    pub(crate) finish: Option<Arc<Clip>>,
    /// The process of the run that is analysed.
    pub(crate) process: u32,
    /// The output of the program.
    pub(crate) output: Output,
}

/// The starting point of a campaign.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) base: Base,
    pub(crate) source: Source,
    /// Executes all further runs.
    pub(crate) executor: LocalExecutor,
    /// The options, with the timeout for further runs.
    pub(crate) options: Options,
    /// Failures that were observed while the base run was being recorded.
    pub(crate) observations: Observations,
    pub(crate) clips: ClipStore,
}

/// Records a passing run, or a failing one if no schedule passes. Returns `None` if the program
/// records no events.
pub(crate) fn record(options: &Options, scratch: &Path) -> Result<Option<Recorded>, ReplayError> {
    let given = options.launch.timeout;
    let longest = given.unwrap_or_else(|| longest(options));
    let mut executor = LocalExecutor::new(options.limited(longest), scratch);
    let mut clips = ClipStore::new(options.output.join("clips"));
    let mut observations = Observations::default();
    let mut failures: Vec<Consequence> = Vec::new();
    let mut length = Length::Unknown;
    for number in 1..=RUNS {
        let is_last = number == RUNS || Interrupt::is_stopped();
        let mut seed = if length == Length::Endless { 0 } else { number - 1 };
        if let Some(status) = normal_status(&failures).filter(|_| is_last) {
            executor = executor.with_normal_status(status);
            (observations, seed) = (Observations::default(), 0);
            clips.forget_observed();
        }
        let plan = plan(options, seed, length);
        let run = executor.record(plan, &options.output)?;
        let time = run.duration();
        let Some(process) = run.process() else { return Ok(None) };
        check_inputs(options, &run)?;
        let executions = usize::try_from(number).unwrap_or(usize::MAX);
        observations.add(&mut clips, &run, executions, None)?;
        let unfinished = run.consequence().is_unfinished();
        if unfinished && is_out_of_time(options, &run) {
            length = Length::Endless;
        }
        let expected = !unfinished || length == Length::Endless;
        if !(expected && !run.consequence().is_failure() || is_last) {
            failures.push(run.consequence().clone());
            length = length.after(unfinished);
            continue;
        }
        let (output, consequence) = (run.output.clone(), run.consequence().clone());
        run.source()?;
        let Some(source) = run.into_trace().1 else { return Ok(None) };
        let counts = source.symbolized.trace.counts();
        let (finish, sparse) = remarks(options, &source, unfinished);
        let normal = Some(executor.normal_status()).filter(|it| *it != 0).map(Note::NormalStatus);
        let base = Base {
            consequence,
            events: counts.events,
            threads: source.trace.threads.len(),
            executions,
            time,
            notes: normal.into_iter().chain(sparse).collect(),
            finish: finish.map(Arc::new),
            process,
            output,
        };
        let timeout = given.unwrap_or_else(|| (time * 20).max(SHORTEST));
        let options = options.limited(timeout).bounded(counts.events, counts.bytes);
        let options = length.bound(options);
        let executor = executor.with_options(options.clone());
        observations.verify(&executor)?;
        return Ok(Some(Recorded { base, source, executor, options, observations, clips }));
    }
    Ok(None)
}

/// What is known about the length of the program's runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    Unknown,
    /// A run did not end.
    Long,
    /// Another one, which was cut earlier, did not end either; or there is no time for another one.
    Endless,
}

impl Length {
    /// What is known after another run.
    fn after(self, unfinished: bool) -> Length {
        match (self, unfinished) {
            (Length::Unknown, false) => Length::Unknown,
            (Length::Unknown, true) | (_, false) => Length::Long,
            (Length::Long | Length::Endless, true) => Length::Endless,
        }
    }

    /// The options of the runs that follow the recorded one.
    fn bound(self, options: Options) -> Options {
        match self {
            Length::Endless => Options { max_steps: cut(&options).saturating_mul(2), ..options },
            Length::Unknown | Length::Long => options,
        }
    }
}

/// A schedule that lets the threads continue that were running when the program ended, and what a reader must know about the
/// recorded run, which may be unfinished.
fn remarks(options: &Options, source: &Source, unfinished: bool) -> (Option<Clip>, Vec<Note>) {
    let running = sparse::unfinished(source);
    let finish = sparse::finish(source, &running);
    if unfinished {
        return (finish, vec![Note::Prefix { events: source.symbolized.trace.counts().events }]);
    }
    let continues = finish.is_some() && options.explore > 0;
    let notes = sparse::notes(source, &running, continues);
    (finish, notes)
}

/// Whether a run that did not end was so slow, in the part of a limited time that it had, that another one would not come
/// farther.
fn is_out_of_time(options: &Options, run: &Run) -> bool {
    options.time.is_some() && options.launch.timeout.is_none() && run.is_short(ENDLESS)
}

/// Refuses to record the inputs of a program that a script starts.
fn check_inputs(options: &Options, run: &Run) -> Result<(), ReplayError> {
    if options.launch.keep_inputs && !is_command_itself(run)? {
        let command = options.launch.command.first().map(|it| it.display().to_string());
        return Err(ReplayError::InputsOfChild { command: command.unwrap_or_default() });
    }
    Ok(())
}

/// Whether the process that is analysed runs the command's own program, and not one that a script
/// started. What else a script starts, such as clients, runs in every run.
fn is_command_itself(run: &Run) -> Result<bool, ReplayError> {
    let Some(source) = run.source()? else { return Ok(true) };
    let started = source.symbolized.symbols.program();
    Ok(source.symbolized.trace.modules().iter().any(|it| Some(&*it.path) == started))
}

/// The exit status with which all runs ended, if a program can normally end with it.
fn normal_status(failures: &[Consequence]) -> Option<i32> {
    let [first @ Consequence::Exit(status), rest @ ..] = failures else { return None };
    let abnormal = ABNORMAL.contains(status) || *status == PANICKED;
    let normal = !abnormal && rest.iter().all(|it| it == first);
    normal.then_some(*status)
}

/// The timeout of the recorded run.
fn longest(options: &Options) -> Duration {
    options.time.map_or(LONGEST_BASE, |it| (it / PART).min(LONGEST_BASE))
}

/// The number of events after which the first run is cut.
fn first_cut(options: &Options) -> u64 {
    let Some(time) = options.time else { return options.max_steps };
    least(options.max_steps, time.as_secs().max(1).saturating_mul(EVENTS_PER_SECOND))
}

/// The number of events after which a run is cut that is not expected to end.
fn cut(options: &Options) -> u64 {
    least(options.max_steps, ENDLESS)
}

/// The lower one of two limits, of which the first one may be 0: then there is none.
fn least(given: u64, most: u64) -> u64 {
    if given == 0 { most } else { given.min(most) }
}

/// The first run has long turns, as an uncontrolled run would have; later ones are random.
fn plan(options: &Options, seed: u64, length: Length) -> Plan {
    Plan {
        strategy: if seed == 0 { Strategy::RoundRobin } else { Strategy::Random },
        seed,
        max_steps: if length == Length::Unknown { first_cut(options) } else { cut(options) },
        ..Plan::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_normal_if_all_runs_have_it() {
        let exits = |statuses: &[i32]| {
            normal_status(&statuses.iter().copied().map(Consequence::Exit).collect::<Vec<_>>())
        };
        assert_eq!(exits(&[3, 3, 3]), Some(3));
        assert_eq!(exits(&[255, 255]), Some(255));
        assert_eq!(exits(&[3, 4, 3]), None);
        assert_eq!(exits(&[]), None);
        // A shell whose program was killed by a signal, or does not exist.
        assert_eq!(exits(&[139, 139]), None);
        assert_eq!(exits(&[127, 127]), None);
        assert_eq!(exits(&[101, 101]), None);
    }

    #[test]
    fn a_crash_is_never_normal() {
        assert_eq!(normal_status(&[Consequence::Abort, Consequence::Abort]), None);
        assert_eq!(normal_status(&[Consequence::Exit(3), Consequence::Deadlock]), None);
    }
}
