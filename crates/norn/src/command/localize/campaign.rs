//! Runs a program many times under varied schedules, and ranks the patterns of the runs.

use std::{io::Write as _, num::NonZeroUsize, time::Duration};

use indicatif::{ProgressBar, ProgressStyle};
use norn_abi::control::StrategyKind;
use norn_campaign::{Campaign, CampaignProgress, Conducted, Criteria, Variation};
use norn_frontend::{Cut, Interrupt, Launch, Plan};
use norn_replay::{Calibration, Check};
use norn_report::Localization;

use crate::{
    cli::Localize,
    command::{
        batch::processors,
        hunt::{not_built, words},
        record,
        run::{launch, quoted},
    },
    exit::Exit,
    front_end::front_end,
    scratch::Scratch,
    terminal, verbosity,
};

pub(super) fn run(args: &Localize) -> anyhow::Result<Exit> {
    let scratch = Scratch::new()?;
    let launch = Launch {
        command: args.command.clone(),
        plan: Some(Plan { max_steps: args.limits.max_steps, ..Plan::default() }),
        max_size: args.limits.max_size.min(Scratch::MOST_TRACE),
        ..launch(&args.limits)
    };
    let calibration = norn_replay::calibrate(&**front_end(), &launch, scratch.path())?;
    if let Some(Cut::Interrupt(signal)) = calibration.recording.cut {
        drop(scratch);
        return Ok(record::end_by(signal));
    }
    if !calibration.recording.recorded {
        return not_built(&args.command[0], "norn cc prog.c -o prog");
    }
    let conducted = conduct(args, &launch, calibration, &scratch)?;
    drop(scratch);
    finish(args, &launch, &conducted)
}

fn conduct(
    args: &Localize,
    launch: &Launch,
    calibration: Calibration,
    scratch: &Scratch,
) -> anyhow::Result<Conducted> {
    let campaign = Campaign {
        front_end: front_end(),
        launch,
        runs: args.runs.get(),
        jobs: args.jobs.unwrap_or_else(processors),
        seed: args.seed,
        expected: calibration.steps().max(1),
        max_steps: args.limits.max_steps,
        window: args.ranking.window,
        formula: args.ranking.score.0,
        criteria: criteria(args, calibration),
        stop_early: !args.no_early_stop,
        clips: args.clips.as_deref(),
        scratch: scratch.path(),
    };
    let bar = bar(campaign.runs);
    let again = |it: Variation| reproduce(args, it);
    let conducted = campaign.conduct(&again, &|it| show(&bar, it));
    bar.finish_and_clear();
    Ok(conducted?)
}

fn criteria(args: &Localize, calibration: Calibration) -> Criteria {
    let given = &args.criteria;
    let timeout = args.limits.timeout.map(Duration::from_secs);
    Criteria {
        check: given.check.clone().map(|command| Check { command, timeout }),
        fail_regex: given.fail_regex.clone(),
        expected_output: given.fail_on_output_change.then_some(calibration.stdout),
    }
}

/// The command line that repeats a run.
fn reproduce(args: &Localize, variation: Variation) -> Vec<String> {
    let Variation { strategy, seed, depth, expected, .. } = variation;
    let mut words = vec!["norn".to_owned(), "run".to_owned()];
    let mut option = |name: &str, value: String| words.extend([format!("--{name}"), value]);
    option("strategy", norn_replay::report::strategy(strategy));
    if strategy.code() == StrategyKind::Pct.code() {
        option("depth", depth.to_string());
        option("expected", expected.to_string());
    }
    if let Some(check) = &args.criteria.check {
        option("check", quoted(check));
    }
    option("seed", seed.to_string());
    words.push("--".to_owned());
    words.extend(args.command.iter().map(|it| quoted(&it.to_string_lossy())));
    words
}

/// Prints the ranking, and determines the exit status.
fn finish(args: &Localize, launch: &Launch, conducted: &Conducted) -> anyhow::Result<Exit> {
    if let Some(recording) = &conducted.unrecorded
        && conducted.localizer.is_empty()
    {
        record::say(launch, recording)?;
        return Ok(Exit::Impossible);
    }
    if let Some(error) = &conducted.error {
        writeln!(terminal::stderr(), "norn: a run was lost: {error}")?;
    }
    let top = NonZeroUsize::get(args.ranking.top);
    let localization =
        Localization { settled: conducted.settled, ..conducted.localizer.report(top) };
    let exit = super::print(args, localization, words(&args.command))?;
    Ok(Interrupt::caught().map_or(exit, record::end_by))
}

/// A progress bar. indicatif shows it only on a terminal.
fn bar(count: u64) -> ProgressBar {
    if verbosity::is_quiet() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(count);
    let style = ProgressStyle::with_template("{bar:20} {pos}/{len} runs: {wide_msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

fn show(bar: &ProgressBar, progress: &CampaignProgress<'_>) {
    bar.set_position(progress.runs);
    let (passed, failed) = progress.localizer.counts();
    let top = progress.localizer.top();
    let top = top.map_or_else(String::new, |(title, score)| format!("; {score:.2} {title}"));
    let message = format!("{passed} passed, {failed} failed{top}");
    bar.set_message(norn_model::printable(&message).into_owned());
}
