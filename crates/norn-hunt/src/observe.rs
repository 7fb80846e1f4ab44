//! Failures that were observed without having been predicted. Failures at the same places are one,
//! and are kept once, with a clip that reproduces them.

use std::path::PathBuf;

use norn_model::{Consequence, FailureSite};
use norn_replay::{Clip, ReplayError, capture};
use norn_report::{NotReproduced, Story};

use crate::{
    campaign::ClipStore,
    diagnose::{Cause, diagnose},
    executor::{LocalExecutor, Run},
    reproduce::replay,
    shorten::shorten,
};

/// Maximum number of runs with the same failure whose clips are replayed until one reproduces it.
const MOST_REPLAYS: usize = 3;

/// An observed failure.
#[derive(Clone, Debug)]
pub struct Observed {
    /// Its kind.
    pub consequence: Consequence,
    /// Its place.
    pub failure: Option<FailureSite>,
    /// Its explanation.
    pub story: Option<Story>,
    /// The last lines that the program wrote to standard error.
    pub printed: Vec<String>,
    /// What is behind it, if the trace of the run shows that.
    pub cause: Option<Cause>,
    /// The clip that reproduces it.
    pub clip: PathBuf,
    /// Number of executions of the campaign up to and including this one.
    pub executions: usize,
    /// How many of its atomic loads returned an older store than the newest one.
    pub older_loads: u64,
    /// The finding that this run was meant to confirm, if any; the program failed in another way.
    pub finding: Option<usize>,
    /// What a replay of the clip did instead, if it did not reproduce the failure.
    pub not_reproduced: Option<NotReproduced>,
}

/// An observed failure, and what is known about its reproduction.
#[derive(Debug)]
struct Entry {
    observed: Observed,
    /// The whole schedule of the run, if the current clip has a shorter one that was not replayed yet.
    whole: Option<Clip>,
    /// Number of clips of this failure that were replayed.
    replays: usize,
    /// Whether the current clip was replayed.
    verified: bool,
}

/// All observed failures.
#[derive(Debug, Default)]
pub(crate) struct Observations {
    all: Vec<Entry>,
    /// Number of replays for all of them.
    replays: usize,
}

impl Observations {
    /// Records the failure of a run, unless the same failure is known. [`Observations::verify`] says
    /// whether it is reproducible.
    pub(crate) fn add(
        &mut self,
        clips: &mut ClipStore,
        run: &Run,
        executions: usize,
        finding: Option<usize>,
    ) -> Result<(), ReplayError> {
        let consequence = run.consequence();
        let Some(symbolized) = run.failed_trace()? else { return Ok(()) };
        let made = |mut clip: Clip| {
            clip.expect = Some(consequence.clone());
            clip
        };
        if let Some(known) = self.all.iter_mut().find(|it| it.observed.failure == run.failure) {
            if known.observed.not_reproduced.is_some() && known.replays < MOST_REPLAYS {
                made(capture(symbolized)).write(&known.observed.clip)?;
                known.verified = false;
            }
            return Ok(());
        }
        let mut clip = made(capture(symbolized));
        let mut whole = None;
        if let Some(shorter) = shorten(run, &clip)? {
            whole = Some(std::mem::replace(&mut clip, made(shorter)));
        }
        let observed = Observed {
            consequence: consequence.clone(),
            failure: run.failure.clone(),
            story: run.story.clone(),
            printed: run.printed.clone(),
            cause: diagnose(run)?,
            clip: clips.save_observed(&clip)?,
            executions,
            older_loads: run.older_loads(),
            finding,
            not_reproduced: None,
        };
        self.all.push(Entry { observed, whole, replays: 0, verified: false });
        Ok(())
    }

    /// Replays the clips that were not replayed yet, unless the user interrupts that.
    pub(crate) fn verify(&mut self, executor: &LocalExecutor) -> Result<(), ReplayError> {
        for Entry { observed: it, whole, replays, verified } in &mut self.all {
            while !*verified {
                let Some(replay) = replay(executor, &Clip::read(&it.clip)?)? else { return Ok(()) };
                self.replays += 1;
                let again = replay.has_failure(&it.consequence, it.failure.as_ref());
                // If the shorter schedule does not lead to the failure, the whole one is replayed.
                if let Some(whole) = whole.take().filter(|_| !again) {
                    whole.write(&it.clip)?;
                    continue;
                }
                (*verified, *replays) = (true, *replays + 1);
                it.not_reproduced = (!again).then_some(replay.instead);
            }
        }
        Ok(())
    }

    /// Adds the failure of a run that did not happen again when its clip was replayed.
    pub(crate) fn add_not_reproduced(&mut self, observed: Observed) {
        if self.all.iter().all(|it| it.observed.failure != observed.failure) {
            self.all.push(Entry { observed, whole: None, replays: 1, verified: true });
        }
    }

    /// The failures to report, and the number of replays. A failure whose replay was interrupted is
    /// not reported.
    pub(crate) fn verified(&self) -> (Vec<Observed>, usize) {
        let verified = self.all.iter().filter(|it| it.verified);
        (verified.map(|it| it.observed.clone()).collect(), self.replays)
    }
}
