//! What a campaign does if no run failed: it forces predicted bugs.

use std::sync::Arc;

use norn_campaign::{Campaign, StoredEvidence};
use norn_hunt::{Engines, Schedules, predicted_clips};
use norn_predict::Options;
use norn_replay::SymbolizedTrace;
use norn_store::Store;

/// Forces predicted bugs, and adds the runs to the evidence and to the store.
pub(super) fn force(
    campaign: &Campaign<'_>,
    store: &mut Store,
    evidence: &mut StoredEvidence,
    most: u64,
) -> anyhow::Result<()> {
    let options = Options::default();
    let most_schedules = usize::try_from(most).unwrap_or(usize::MAX);
    let schedules = Schedules { engines: Engines::default(), most: most_schedules };
    let predict = |run: Arc<SymbolizedTrace>| predicted_clips(run, &options, schedules);
    Ok(campaign.force_predicted(store, evidence, most, &predict)?)
}
