//! What to hunt in and how.

use std::{num::NonZeroUsize, path::PathBuf, time::Duration};

use norn_witness::Engines;

/// What to hunt in and how. Without a limit of time for each run, the recorded one may take two
/// minutes, and the others twenty times as long as that one took, or ten seconds if that is longer.
#[derive(Clone, Debug)]
pub struct Options {
    /// How the program is run.
    pub run: norn_record::Options,
    /// Where the recorded run goes, with the clips of what was found.
    pub output: PathBuf,
    /// What is looked for.
    pub predict: norn_predict::Options,
    /// Variables that belong together, by their names; if there is none, those that are used
    /// together.
    pub atomic_sets: Vec<Vec<String>>,
    /// Who makes schedules for it.
    pub engines: Engines,
    /// Executions at most, the recorded run included.
    pub budget: usize,
    /// Runs at the same time. It has no influence on what is found.
    pub jobs: NonZeroUsize,
    /// Explored runs (under random schedules, without a prediction) at most.
    pub explore: usize,
    /// Instances of a candidate that are tried before it is given up.
    pub instances: usize,
    /// Events after which a run counts as hanging.
    pub max_steps: u64,
}

impl Options {
    /// The same with another limit of time for each run.
    pub(crate) fn limited(&self, timeout: Duration) -> Options {
        let run = norn_record::Options { timeout: Some(timeout), ..self.run.clone() };
        Options { run, ..self.clone() }
    }
}
