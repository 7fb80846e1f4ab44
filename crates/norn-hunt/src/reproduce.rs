//! Replays the clip of something harmful before it is reported. A finding counts only if its own clip
//! shows it again: the same failure at the same place, or the same claim. A run that differs from its
//! replay depends on something that Norn does not control, and its finding may, too.

use norn_frontend::Interrupt;
use norn_model::{BugClass, Consequence, FailureSite};
use norn_replay::{Clip, ReplayError};
use norn_report::{Control, NotReproduced, Uncontrolled};

use crate::{
    Confirmed,
    campaign::Evidence,
    executor::{LocalExecutor, Run},
};

/// Whether a replay shows a finding again.
#[derive(Debug)]
pub(crate) enum Reproduction {
    /// It does, or the finding is harmless, so that it need not.
    Same,
    /// It does not; what it did instead.
    Different(Box<NotReproduced>),
    /// It was cut short, so that it proves nothing.
    Interrupted,
}

/// A replay of a clip.
#[derive(Debug)]
pub(crate) struct Replay {
    pub(crate) run: Run,
    /// What the replay did, in case that it is not what the clip is about.
    pub(crate) instead: NotReproduced,
}

/// Replays a clip. `None` if it was cut short, because the user interrupted the campaign or its time was
/// over, so that it proves nothing.
pub(crate) fn replay(executor: &LocalExecutor, clip: &Clip) -> Result<Option<Replay>, ReplayError> {
    let run = executor.replay(clip)?;
    if Interrupt::is_stopped() {
        return Ok(None);
    }
    let report = run.report(clip)?;
    let instead = NotReproduced {
        consequence: run.consequence().clone(),
        verdict: report.verdict,
        detour: report.detour,
        causes: report.control.as_ref().map(causes).unwrap_or_default(),
    };
    Ok(Some(Replay { run, instead }))
}

impl Replay {
    /// Whether the replay failed as the original run did.
    pub(crate) fn has_failure(
        &self,
        consequence: &Consequence,
        failure: Option<&FailureSite>,
    ) -> bool {
        // Where a livelock was stopped is arbitrary.
        if *consequence == Consequence::Livelock {
            return *self.run.consequence() == Consequence::Livelock;
        }
        failure.is_some() && self.run.failure.as_ref() == failure
    }

    /// Whether the claim of the clip is true again.
    pub(crate) fn has_claim(&self, clip: &Clip) -> Result<bool, ReplayError> {
        let Some(claim) = &clip.claim else { return Ok(false) };
        let source = self.run.source()?;
        Ok(source.is_some_and(|it| claim.holds(&it.symbolized)))
    }
}

impl Evidence<'_> {
    /// Replays the clip of a finding that a run has performed, if it is harmful. A finding that
    /// happens again without its failure is a finding without a failure.
    pub(crate) fn reproduce(
        &mut self,
        confirmed: &mut Confirmed,
        clip: &mut Clip,
    ) -> Result<Reproduction, ReplayError> {
        let race = confirmed.witness.candidate.class() == BugClass::Race;
        if !race && !confirmed.consequence.is_failure() {
            return Ok(Reproduction::Same);
        }
        let Some(replay) = self.replay(clip)? else { return Ok(Reproduction::Interrupted) };
        if replay.has_failure(&confirmed.consequence, confirmed.failure.as_ref()) {
            return Ok(Reproduction::Same);
        }
        if !replay.has_claim(clip)? {
            return Ok(Reproduction::Different(Box::new(replay.instead)));
        }
        self.forget_failure(confirmed, clip, replay.instead)?;
        Ok(Reproduction::Same)
    }

    /// Leaves out the failure of a finding, if it has one, because a replay does not show it. The
    /// failure is listed by itself.
    pub(crate) fn forget_failure(
        &mut self,
        confirmed: &mut Confirmed,
        clip: &mut Clip,
        instead: NotReproduced,
    ) -> Result<(), ReplayError> {
        if confirmed.consequence.is_failure() {
            let path = self.clips.save_not_reproduced(clip)?;
            self.note_not_reproduced(confirmed, path, instead);
            confirmed.forget_failure();
            clip.expect = Some(Consequence::None);
        }
        Ok(())
    }
}

/// What may make a replay differ.
fn causes(control: &Control) -> Vec<Uncontrolled> {
    let inputs = &control.inputs;
    let all = [
        (inputs.diverged.is_some(), Uncontrolled::OtherInputs),
        (inputs.available == 0 && inputs.uncontrolled > 0, Uncontrolled::Inputs),
        (control.away > 0, Uncontrolled::Time),
        (!control.same_layout, Uncontrolled::Addresses),
        (control.process_ids > 0, Uncontrolled::ProcessIds),
    ];
    all.into_iter().filter(|it| it.0).map(|it| it.1).collect()
}
