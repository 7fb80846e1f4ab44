//! Clips that force what a run allows, for those who make the runs themselves.

use std::sync::Arc;

use norn_predict::Options;
use norn_replay::{Clip, SymbolizedTrace};

use crate::{
    attempt::force,
    continuation::Continuation,
    foreign,
    library_sync::predict_program,
    outlook::{Schedules, first_instances},
    source::{Loading, Source},
};

/// Predicts what other orders of a run's events allow, and returns a clip for each candidate that has
/// a schedule, in the order in which a prediction lists them.
pub fn predicted_clips(
    run: Arc<SymbolizedTrace>,
    options: &Options,
    schedules: Schedules,
) -> Vec<Clip> {
    let source = Source::new(run, Loading::Relevant);
    let mut prediction = predict_program(&source, options);
    foreign::leave_out(&source, &mut prediction);
    let candidates = first_instances(prediction);
    let witnesses = schedules.make(&source.trace, &candidates).into_iter().flatten().flatten();
    witnesses.map(|it| force(&source, &it, Continuation::Likely).clip).collect()
}
