//! The ranking of a stored campaign.

use std::{fs, path::Path};

use anyhow::Context as _;
use norn_campaign::{Settings, StoredEvidence, run_name};
use norn_localize::Formula;
use norn_report::{Localization, PredictedRuns};
use norn_store::{Progress, Store};

use super::reproduce::reproduce;
use crate::command::run::quoted;

/// The ranking of the runs that have been made, and the settings of the campaign.
pub(in crate::command) fn localization(
    store: &mut Store,
    formula: Formula,
    top: usize,
) -> anyhow::Result<(Localization, Settings)> {
    let (localization, settings, _) = ranked(store, formula, top)?;
    Ok((localization, settings))
}

/// The same, with the evidence.
pub(super) fn ranked(
    store: &mut Store,
    formula: Formula,
    top: usize,
) -> anyhow::Result<(Localization, Settings, StoredEvidence)> {
    let campaign = store.campaign()?;
    let settings = Settings::parse(&campaign.settings)?;
    let again = |it| reproduce(&settings, it);
    let evidence = StoredEvidence::load(store, formula, &again)?;
    let Progress { planned, made, .. } = store.progress()?;
    let settled = campaign.settled.is_some();
    let (runs, failed) = evidence.predicted;
    let localization = Localization {
        settled,
        // If the ranking has settled, the rest will not be made.
        pending: if settled { 0 } else { planned - made },
        predicted: (runs > 0).then_some(PredictedRuns { runs, failed }),
        ..evidence.localizer.report(top)
    };
    Ok((localization, settings, evidence))
}

/// Writes the clip of the first run with each failure to a folder, and names it in the ranking. A run
/// that was not controlled has none; then it is the clip of a run with a pattern forced, which is given
/// with the first run of its failure.
pub(super) fn write_clips(
    store: &mut Store,
    localization: &mut Localization,
    folder: &Path,
    forced: &[(String, Option<String>)],
) -> anyhow::Result<()> {
    let failures = store.failures()?;
    for (number, failure) in (1..).zip(&failures) {
        let first = run_name(failure.seed);
        let cluster = localization.clusters.iter_mut().find(|it| it.first == first);
        let forced = forced.iter().find(|it| it.0 == first && it.1.is_some());
        let clip = failure.clip.as_ref().or(forced.and_then(|it| it.1.as_ref()));
        if let (Some(cluster), Some(clip)) = (cluster, clip) {
            let path = folder.join(format!("{number}.json"));
            fs::create_dir_all(folder)
                .and_then(|()| fs::write(&path, clip))
                .with_context(|| format!("cannot write `{}`", path.display()))?;
            let path = path.display().to_string();
            if cluster.reproduce.is_empty() {
                cluster.reproduce = vec!["norn".to_owned(), "replay".to_owned(), quoted(&path)];
            }
            cluster.clip = Some(path);
        }
    }
    Ok(())
}
