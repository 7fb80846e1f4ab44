//! Threads that code without instrumentation created, such as those of libc's asynchronous input and output.
//! No schedule decides when they continue, and what orders them is not recorded. So nothing that needs them
//! is tried: that a run did it would be no proof.

use std::collections::BTreeSet;

use norn_model::Candidate;
use norn_predict::Prediction;

use crate::source::Source;

/// Removes the candidates that need such threads.
pub(crate) fn leave_out(source: &Source, prediction: &mut Prediction) {
    let mut skipped = BTreeSet::new();
    let mut keeps = |it: &Candidate| {
        let threads = it.steps.iter().chain(&it.stuck).map(|it| it.event.thread);
        let foreign: Vec<_> = threads.filter(|it| !source.trace.can_be_scheduled(*it)).collect();
        skipped.extend(&foreign);
        foreign.is_empty()
    };
    prediction.candidates.retain(&mut keeps);
    prediction.violations.retain(|it| keeps(&it.0));
    let known = &mut prediction.skipped;
    skipped.retain(|it| !known.contains(it));
    known.extend(skipped);
}
