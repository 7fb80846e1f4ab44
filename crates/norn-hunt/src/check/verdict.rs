//! Decides whether runs violate properties, and whether their clips do so again.

use std::sync::Arc;

use norn_model::BugClass;
use norn_property::{Property, PropertyAnalysis};
use norn_replay::{Claim, Clip, ReplayError, capture};
use norn_report::vocabulary;
use norn_witness::Witness;

use super::{Checking, queue::Group};
use crate::{
    Confirmed, Harm, State, Violation,
    executor::Run,
    reproduce::Replay,
    source::{Key, Source},
    violation::{Named, candidate, happened},
};

impl Checking<'_> {
    /// Records the violations that a trace itself contains.
    pub(super) fn observe(
        &mut self,
        source: &Source,
        watches: &[PropertyAnalysis<'_>],
    ) -> Result<(), ReplayError> {
        // One replay serves all violations of the run.
        let mut replayed: Option<(Clip, Replay)> = None;
        for watch in watches {
            for seen in watch.observed() {
                let key = source.key(&candidate(watch.property(), &seen.violation.steps));
                if !self.observed.insert(key.clone()) || !self.known.insert(key.clone()) {
                    continue;
                }
                if replayed.is_none() {
                    let clip = capture(&source.symbolized);
                    let Some(replay) = self.evidence.replay(&clip)? else { return Ok(()) };
                    replayed = Some((clip, replay));
                }
                let Some((clip, replay)) = &mut replayed else { return Ok(()) };
                let mut violation = happened(source, watch.property(), &seen);
                clip.set_claim(claim_of(watch.property(), &violation, source, &seen));
                violation.state = if violates(watch.property(), replay, &key)? {
                    State::Observed(self.evidence.clips.save(clip)?)
                } else {
                    let path = self.evidence.clips.save_not_reproduced(clip)?;
                    State::NotReproducible(path, Box::new(replay.instead.clone()))
                };
                self.violations.push(Arc::new(violation));
            }
        }
        Ok(())
    }

    /// Records that a run violates the property of a group, if it does, and whether a replay of its
    /// clip does, too. Returns whether the run does.
    pub(super) fn confirm(
        &mut self,
        source: &Source,
        group: &Group,
        witness: &Witness,
        run: &Run,
        executions: usize,
    ) -> Result<bool, ReplayError> {
        let Some(seen) = run.source()? else { return Ok(false) };
        let property = &self.properties[group.property];
        let watch = PropertyAnalysis::new(property, &seen.trace, &Named(&*seen.symbolized.symbols));
        // A violation that also occurs without being forced does not confirm the prediction.
        let is_new = |it: &norn_property::ObservedViolation| {
            !self.observed.contains(&seen.key(&candidate(property, &it.violation.steps)))
        };
        let Some(breach) = watch.observed().into_iter().find(is_new) else { return Ok(false) };
        let followed = run.forced.as_ref().filter(|it| it.is_followed());
        let mut clip =
            followed.map_or_else(|| capture(&seen.symbolized), |it| it.kept(source, run));
        clip.expect = Some(run.consequence().clone());
        let violation = happened(seen, property, &breach);
        clip.set_claim(claim_of(property, &violation, seen, &breach));
        let Some(replay) = self.evidence.replay(&clip)? else { return Ok(false) };
        *self.violation(group.violation) = violation;
        let key = seen.key(&candidate(property, &breach.violation.steps));
        if !violates(property, &replay, &key)? {
            let path = self.evidence.clips.save_not_reproduced(&clip)?;
            self.violation(group.violation).state =
                State::NotReproducible(path, Box::new(replay.instead));
            return Ok(true);
        }
        let runs = (run, &*self.evidence.base);
        let mut confirmed = Confirmed::new(runs, (source, Some(seen)), witness, executions);
        if !replay.has_failure(&confirmed.consequence, confirmed.failure.as_ref()) {
            self.evidence.forget_failure(&mut confirmed, &mut clip, replay.instead)?;
        }
        confirmed.clip = self.evidence.clips.save(&clip)?;
        self.violation(group.violation).state = State::Confirmed(Box::new(confirmed));
        Ok(true)
    }

    /// Records the consequence of a confirmed violation: in this run each function that it involves
    /// ran to its end before the next event.
    pub(super) fn note_consequence(
        &mut self,
        violation: usize,
        run: &Run,
    ) -> Result<(), ReplayError> {
        let consequence = run.consequence();
        let Some(symbolized) = run.failed_trace()? else { return Ok(()) };
        let mut clip = capture(symbolized);
        clip.expect = Some(consequence.clone());
        let Some(replay) = self.evidence.replay(&clip)? else { return Ok(()) };
        if !replay.has_failure(consequence, run.failure.as_ref()) {
            return Ok(());
        }
        let clip = self.evidence.clips.save(&clip)?;
        let (consequence, story) = (consequence.clone(), run.story.clone());
        self.violation(violation).harm = Some(Harm { consequence, story, clip });
        Ok(())
    }
}

/// Whether a replay violates a property at the same places.
fn violates(property: &Property, replay: &Replay, key: &Key) -> Result<bool, ReplayError> {
    let Some(source) = replay.run.source()? else { return Ok(false) };
    let names = Named(&*source.symbolized.symbols);
    let watch = PropertyAnalysis::new(property, &source.trace, &names);
    let is_it = |it: &norn_property::ObservedViolation| {
        source.key(&candidate(property, &it.violation.steps)) == *key
    };
    Ok(watch.observed().iter().any(is_it))
}

/// The claim that a run violates a property.
fn claim_of(
    property: &Property,
    violation: &Violation,
    source: &Source,
    seen: &norn_property::ObservedViolation,
) -> Option<Claim> {
    let title = vocabulary::property_headline(property.name(), &violation.parameters);
    let events: Vec<_> = seen.violation.steps.iter().map(|it| it.id).collect();
    Claim::new((BugClass::Property, title), false, &source.symbolized, &events)
}
