//! The options of a hunt.

use std::{num::NonZeroUsize, path::PathBuf, sync::Arc, time::Duration};

use norn_frontend::{Cancel, FrontEnd, Launch};
use norn_learn::Invariant;
use norn_model::PotentialFailureKind;
use norn_trace::MemoryModel;
use norn_witness::{Engines, WitnessOptions};

use crate::source::Loading;

/// Maximum number of events of a run that follows the recorded one: this many times as many as that one
/// has, but at least [`FEWEST_EVENTS`]. A run with more events is considered endless.
const MORE_EVENTS: u64 = 20;
const FEWEST_EVENTS: u64 = 4_000_000;
/// The same for the size of its trace, in bytes: then recording stops.
const MORE_BYTES: u64 = 4;
const FEWEST_BYTES: u64 = 64 << 20;

/// Where the candidates of a hunt come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CandidateSource {
    /// All analyses.
    #[default]
    All,
    /// Only candidates in which a read that decides a visible failure sees something else.
    Failures,
}

/// The options of a hunt. If no timeout for runs is given, it is two minutes for the recorded run,
/// and for the others twenty times the duration of that run, but at least ten seconds.
#[derive(Clone, Debug)]
pub struct Options {
    /// Runs the program and symbolizes its traces.
    pub front_end: Arc<dyn FrontEnd>,
    /// What to run.
    pub launch: Launch,
    /// The directory for the recorded run and the clips of the findings.
    pub output: PathBuf,
    /// What to search for.
    pub predict: norn_predict::Options,
    /// Where candidates come from.
    pub from: CandidateSource,
    /// Maximum number of dependence steps from a visible failure back to a read that decides it; 0 to
    /// ignore failures.
    pub distance: u32,
    /// The kinds of visible failures that count; all if there are none.
    pub failure_kinds: Vec<PotentialFailureKind>,
    /// Likely invariants: a read at which another order can break one decides a failure.
    pub invariants: Arc<[Invariant]>,
    /// Declared atomic sets, by variable names; if there are none, variables that are used together
    /// form sets.
    pub atomic_sets: Vec<Vec<String>>,
    /// The schedule engines to use.
    pub engines: Engines,
    /// Ends long computations early, when the campaign is to end.
    pub cancel: Cancel,
    /// Maximum number of executions, the recorded run included.
    pub budget: usize,
    /// Number of runs in parallel. It does not influence the findings.
    pub jobs: NonZeroUsize,
    /// Maximum number of explored runs (under random schedules, without a prediction).
    pub explore: usize,
    /// Which stores atomic loads may return in explored runs.
    pub memory: MemoryModel,
    /// Maximum number of instances of a candidate that are tried.
    pub instances: usize,
    /// Number of events after which a run counts as hanging.
    pub max_steps: u64,
    /// The time after which the search is ended, if it is limited: the recorded run gets a part of it.
    pub time: Option<Duration>,
    /// Whether to load all events of a long run, up to a limit, and not only those that other orders of
    /// threads can affect.
    pub all_events: bool,
}

impl Options {
    /// The events of runs that are loaded.
    pub(crate) fn loading(&self) -> Loading {
        if self.all_events { Loading::All } else { Loading::Relevant }
    }

    /// The options of the schedule engines.
    pub(crate) fn witnesses(&self) -> WitnessOptions {
        WitnessOptions { cancel: self.cancel.clone(), ..self.engines.into() }
    }

    /// The same options with another timeout for each run.
    pub(crate) fn limited(&self, timeout: Duration) -> Options {
        let launch = Launch { timeout: Some(timeout), ..self.launch.clone() };
        Options { launch, ..self.clone() }
    }

    /// The options of the runs that follow a recorded run with this many events and bytes.
    pub(crate) fn bounded(&self, events: u64, bytes: u64) -> Options {
        let most = events.saturating_mul(MORE_EVENTS).max(FEWEST_EVENTS);
        let size = bytes.saturating_mul(MORE_BYTES).max(FEWEST_BYTES);
        let launch = Launch { max_size: self.launch.max_size.min(size), ..self.launch.clone() };
        // 0 means that there is no limit.
        let max_steps = if self.max_steps == 0 { most } else { self.max_steps.min(most) };
        Options { launch, max_steps, ..self.clone() }
    }
}
