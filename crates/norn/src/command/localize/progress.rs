//! The progress bar of a campaign.

use indicatif::{ProgressBar, ProgressStyle};
use norn_campaign::CampaignProgress;

use crate::verbosity;

/// A progress bar. indicatif shows it only on a terminal.
pub(super) fn bar(count: u64) -> ProgressBar {
    if verbosity::is_quiet() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(count);
    let style = ProgressStyle::with_template("{bar:20} {pos}/{len} runs: {wide_msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

pub(super) fn show(bar: &ProgressBar, progress: &CampaignProgress<'_>) {
    bar.set_position(progress.runs);
    let (passed, failed) = progress.localizer.counts();
    let top = progress.localizer.top();
    let top = top.map_or_else(String::new, |(title, score)| format!("; {score:.2} {title}"));
    let message = format!("{passed} passed, {failed} failed{top}");
    bar.set_message(norn_model::printable(&message).into_owned());
}
