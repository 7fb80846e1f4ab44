//! Credits what a run has done besides what it was forced to do.
//!
//! A bug is often predicted several times, as an atomicity violation and as an order violation. A run that
//! performs one of these candidates and fails has mostly performed the others as well. They are confirmed by
//! the same run and the same clip, and need no runs of their own.

use norn_model::{BugClass, Candidate};
use norn_replay::ReplayError;
use norn_witness::Witness;

use super::{
    Hunting,
    queue::{Attempt, Queue},
};
use crate::{
    Confirmed, Status, confirm, describe::describe, diagnose::behind_order, executor::Run,
    interleaving::interleaving, source::Source,
};

/// Maximum number of instances of a candidate that are compared with a run.
const INSTANCES: usize = 3;

impl Hunting<'_> {
    /// Credits the other candidates on the same variables that a run has performed, if the run has
    /// confirmed a failure.
    pub(super) fn credit(
        &mut self,
        queue: &mut Queue,
        source: &Source,
        attempt: &Attempt,
        run: &Run,
    ) -> Result<(), ReplayError> {
        let how = self.findings[attempt.finding].confirmed().cloned();
        let Some(how) = how.filter(|it| it.failure.is_some()) else { return Ok(()) };
        // A clip that was kept before belongs to another run.
        let Some(did) = run.source()?.filter(|_| how.failure == run.failure) else { return Ok(()) };
        let end = confirm::End { followed: false, consequence: run.consequence() };
        let cause = &attempt.witness.candidate;
        let mut credited = Vec::new();
        for group in queue.groups().filter(|it| it.finding != attempt.finding) {
            let mut instances = group.instances.iter().take(INSTANCES);
            let is_done = |it: &&Candidate| {
                is_creditable(it, cause) && confirm::is_done(source, it, &did.symbolized, end)
            };
            if let Some(done) = instances.find(is_done)
                && self.findings[group.finding].confirmed().is_none()
            {
                credited.push((group.finding, done.clone()));
            }
        }
        for (finding, candidate) in &credited {
            let confirmed = Confirmed {
                interleaving: interleaving(source, (Some(did), run.consequence()), candidate),
                witness: Witness { candidate: candidate.clone(), ..attempt.witness.clone() },
                unordered: None,
                fix: self.fixes.suggest(source, candidate),
                cause: behind_order((source, candidate), run)?,
                ..how.clone()
            };
            let description = describe(source, candidate, true);
            self.decided.insert(*finding);
            let trace = queue.trace;
            let finding = self.finding(*finding);
            finding.candidate = candidate.clone();
            finding.description = description;
            finding.source = trace;
            finding.status = Status::Confirmed(Box::new(confirmed));
        }
        queue.remove(&credited.iter().map(|it| it.0).collect::<Vec<_>>());
        Ok(())
    }
}

/// Whether the trace of a run alone shows that a candidate was performed, and whether it is about a
/// variable of another candidate. Races need a schedule that keeps their accesses adjacent, and deadlocks,
/// timeouts and misuses need evidence of the runtime.
fn is_creditable(candidate: &Candidate, cause: &Candidate) -> bool {
    let by_trace = matches!(
        candidate.class(),
        BugClass::Atomicity | BugClass::AtomicSet | BugClass::Order | BugClass::Lifetime
    );
    let shares = candidate.steps.iter().any(|it| cause.steps.iter().any(|one| one.addr == it.addr));
    by_trace && shares && candidate.stuck.is_empty() && candidate.expires().is_none()
}
