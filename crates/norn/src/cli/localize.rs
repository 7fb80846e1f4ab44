//! `norn localize`.

use std::{
    ffi::OsString,
    num::{NonZeroU64, NonZeroUsize},
    path::PathBuf,
};

use clap::{Args, ValueEnum, builder::PossibleValue, value_parser};
use norn_campaign::Vary;
use norn_localize::{Formula, MAX_WINDOW, MIN_WINDOW, WINDOW};
use regex::bytes::Regex;

use super::{Limits, ReportFormat, ranking_format};

#[derive(Args, Debug)]
#[command(
    after_help = "Exit status: 0 if no run failed, 1 if one did (the ranking says why), 3 if the program \
                  was not built with norn.\n\n\
                  Examples:\n  norn localize -n 100 -- ./flaky_test\n  \
                  norn localize -n 300 --check 'grep -q done \"$NORN_STDOUT\"' -- ./flaky_test\n  \
                  norn localize --fail-regex 'FAILED|lost' --clips clips -- ./flaky_test\n  \
                  norn localize --store flaky.db -- ./flaky_test\n  \
                  norn localize --resume flaky.db -n 400\n  \
                  norn localize --store postgres://norn@db/flaky --worker\n  \
                  norn localize --from runs/*.norn --failed run7"
)]
pub(crate) struct Localize {
    /// Maximum number of runs, each under another schedule [default: 100]; with --resume: number of
    /// runs to add [default: none, only those that are missing]
    #[arg(short = 'n', long, value_name = "NUMBER", help_heading = "Runs")]
    pub(crate) runs: Option<NonZeroU64>,
    /// Number of runs in parallel [default: number of processors]
    #[arg(short, long, value_name = "NUMBER", env = "NORN_JOBS", help_heading = "Runs")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Seed of the first run; the others have the following ones
    #[arg(long, default_value_t = 0, value_name = "NUMBER", help_heading = "Runs")]
    #[arg(value_parser = value_parser!(u64).range(..1 << 62))]
    pub(crate) seed: u64,
    /// What makes the runs differ
    #[arg(long, value_enum, default_value_t, value_name = "HOW", help_heading = "Runs")]
    pub(crate) vary: VaryArg,
    /// With --vary delays: observe all accesses, also at sites that are executed very often
    #[arg(long, help_heading = "Runs")]
    pub(crate) observe_all: bool,
    /// Make all runs, also if the ranking has settled before
    #[arg(long, help_heading = "Runs")]
    pub(crate) no_early_stop: bool,
    /// If no run fails: number of predicted schedules that are forced on the program, at most
    #[arg(long, default_value_t = 50, value_name = "NUMBER", help_heading = "Runs")]
    #[arg(conflicts_with = "from")]
    pub(crate) predicted: u64,
    /// Write a clip of the first run with each failure to this folder, for `norn replay`
    #[arg(long, value_name = "FOLDER", help_heading = "Runs")]
    pub(crate) clips: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) criteria: FailureCriteria,
    #[command(flatten)]
    pub(crate) ranking: Ranking,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    #[command(flatten)]
    pub(crate) recorded: RecordedTraces,
    #[command(flatten)]
    pub(crate) limits: Limits,
    /// Output format
    #[arg(long, default_value = ReportFormat::TEXT, value_parser = ranking_format(), env = "NORN_FORMAT")]
    pub(crate) format: ReportFormat,
    /// Program and its arguments
    #[arg(
        required_unless_present_any = ["from", "resume", "worker"],
        conflicts_with_all = ["from", "resume"],
        trailing_var_arg = true,
        value_name = "PROGRAM"
    )]
    pub(crate) command: Vec<OsString>,
}

/// What makes runs differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum VaryArg {
    /// Controlled schedules, of which each can be repeated exactly
    #[default]
    Schedules,
    /// Random delays at nearly native speed; patterns are collected while the program runs
    Delays,
}

impl From<VaryArg> for Vary {
    fn from(vary: VaryArg) -> Vary {
        match vary {
            VaryArg::Schedules => Vary::Schedules,
            VaryArg::Delays => Vary::Delays,
        }
    }
}

/// What counts as a failure besides crashes, deadlocks and error statuses.
#[derive(Args, Debug)]
#[command(next_help_heading = "Pass or fail")]
pub(crate) struct FailureCriteria {
    #[arg(
        long,
        value_name = "COMMAND",
        help = "Shell command that decides whether a run that ended by itself was correct: the \
                program's output is in the file $NORN_STDOUT, its exit status is $NORN_STATUS"
    )]
    pub(crate) check: Option<String>,
    /// A run fails if this regular expression matches in its output or error output
    #[arg(long, value_name = "REGEX")]
    pub(crate) fail_regex: Option<Regex>,
    /// A run fails if its output differs from that of a first run, in which threads take turns
    #[arg(long)]
    pub(crate) fail_on_output_change: bool,
}

/// Where the runs are kept.
#[derive(Args, Debug)]
#[command(next_help_heading = "Store")]
pub(crate) struct StoreArgs {
    /// Keep the campaign in this SQLite file, or in a PostgreSQL database (postgres://…). If it is
    /// there already, it goes on
    #[arg(long, value_name = "FILE|URL", conflicts_with_all = ["from", "resume"])]
    pub(crate) store: Option<String>,
    /// Go on with a stored campaign, whose command and options are in the store
    #[arg(
        long,
        value_name = "FILE|URL",
        conflicts_with_all = [
            "from", "check", "fail_regex", "fail_on_output_change", "seed", "window", "max_steps",
            "no_values", "no_early_stop", "observe_all", "vary",
        ]
    )]
    pub(crate) resume: Option<String>,
    /// Only make runs, as one of many workers, until none is left; the program may be left out if the
    /// campaign has begun
    #[arg(long, requires = "store")]
    pub(crate) worker: bool,
    /// Number of seconds after which others make the runs of a worker that is not heard of
    #[arg(long, default_value = "60", value_name = "SECONDS")]
    pub(crate) lease: NonZeroU64,
}

/// Runs that were recorded before.
#[derive(Args, Debug)]
#[command(next_help_heading = "Recorded runs")]
pub(crate) struct RecordedTraces {
    /// Make no runs, but rank the patterns of traces that were recorded before
    #[arg(long, value_name = "TRACE", num_args = 1..)]
    pub(crate) from: Vec<PathBuf>,
    /// With --from: a trace of a failing run, by its path or name, in addition to those that ended
    /// with an error status or by a signal
    #[arg(long, value_name = "NAME", num_args = 1.., requires = "from")]
    pub(crate) failed: Vec<String>,
}

/// How patterns are found and ranked.
#[derive(Args, Debug)]
#[command(next_help_heading = "Ranking")]
pub(crate) struct Ranking {
    /// Number of accesses to each variable among which patterns are looked for
    #[arg(long, default_value_t = WINDOW, value_name = "NUMBER", value_parser = window)]
    pub(crate) window: usize,
    /// Formula of the scores
    #[arg(long, value_enum, default_value_t, value_name = "FORMULA")]
    pub(crate) score: FormulaArg,
    /// Number of patterns that are shown for each failure
    #[arg(long, default_value = "5", value_name = "NUMBER")]
    pub(crate) top: NonZeroUsize,
    /// Number of patterns of each failure that are forced and prevented in further runs, to see whether
    /// they are its cause
    #[arg(long, default_value = "1", value_name = "NUMBER", conflicts_with = "from")]
    pub(crate) confirm: usize,
}

/// The size of a window.
pub(super) fn window(text: &str) -> Result<usize, String> {
    let size = text.parse().ok().filter(|it| (MIN_WINDOW..=MAX_WINDOW).contains(it));
    size.ok_or_else(|| format!("expected a number from {MIN_WINDOW} to {MAX_WINDOW}"))
}

/// A formula, by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FormulaArg(pub(crate) Formula);

impl ValueEnum for FormulaArg {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [FormulaArg; 3] = [
            FormulaArg(Formula::Jaccard),
            FormulaArg(Formula::Tarantula),
            FormulaArg(Formula::Ochiai),
        ];
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self.0 {
            Formula::Jaccard => "Of the runs with the failure or the pattern, those with both",
            Formula::Tarantula => "Failing runs with the pattern, compared with passing ones",
            Formula::Ochiai => {
                "Mean of the pattern's share of failures and the failures' share of it"
            }
        };
        Some(PossibleValue::new(self.0.name()).help(help))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_have_room_for_the_longest_pattern() {
        assert_eq!(window("5"), Ok(5));
        assert!(window("2").is_err());
        assert!(window("65").is_err());
        assert!(window("many").is_err());
    }

    #[test]
    fn all_formulas_can_be_chosen() {
        assert_eq!(FormulaArg::value_variants().len(), Formula::ALL.len());
    }
}
