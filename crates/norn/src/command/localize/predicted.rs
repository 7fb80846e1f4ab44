//! What a campaign does if no run failed: it forces predicted bugs.

use std::{fs, path::Path, sync::Arc};

use anyhow::Context as _;
use norn_campaign::{Campaign, Localizer, PredictedRuns};
use norn_hunt::{Engines, Schedules, predicted_clips};
use norn_predict::Options;
use norn_replay::SymbolizedTrace;
use norn_report::Localization;

use crate::command::run::quoted;

/// Forces predicted bugs, and adds the runs to the evidence.
pub(super) fn force(
    campaign: &Campaign<'_>,
    localizer: &mut Localizer,
    most: u64,
) -> anyhow::Result<PredictedRuns> {
    let options = Options::default();
    let most_schedules = usize::try_from(most).unwrap_or(usize::MAX);
    let schedules = Schedules { engines: Engines::default(), most: most_schedules };
    let predict = |run: Arc<SymbolizedTrace>| predicted_clips(run, &options, schedules);
    Ok(campaign.force_predicted(localizer, most, &predict)?)
}

/// Writes the clip of the first predicted run with each failure to a folder, and names it in the ranking.
pub(super) fn write_clips(
    predicted: &PredictedRuns,
    localization: &mut Localization,
    folder: &Path,
) -> anyhow::Result<()> {
    for (number, cluster) in (1..).zip(&mut localization.clusters) {
        let Some((_, clip)) = predicted.failed.iter().find(|it| it.0 == cluster.first) else {
            continue;
        };
        let path = folder.join(format!("predicted-{number}.json"));
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&path, clip))
            .with_context(|| format!("cannot write `{}`", path.display()))?;
        let path = path.display().to_string();
        cluster.reproduce = vec!["norn".to_owned(), "replay".to_owned(), quoted(&path)];
        cluster.clip = Some(path);
    }
    Ok(())
}
