//! The line on a terminal that shows how far a search has come.

use std::{
    io::{self, IsTerminal as _},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use norn_hunt::{Phase, Stage};

use crate::{cli::Forcing, verbosity};

/// The line. There is none if standard error is not a terminal.
pub(crate) struct ProgressLine {
    bar: Option<ProgressBar>,
    budget: usize,
    /// The time limit of the search.
    time: Option<Duration>,
    begun: Instant,
    /// When the first run ended, and the number of executions until then.
    recorded: Option<(Instant, usize)>,
}

impl ProgressLine {
    pub(crate) fn new(forcing: &Forcing) -> ProgressLine {
        let shown = !verbosity::is_quiet() && io::stderr().is_terminal();
        let bar = shown.then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        let (budget, time) = (forcing.budget.get(), forcing.time);
        ProgressLine { bar, budget, time, begun: Instant::now(), recorded: None }
    }

    pub(crate) fn show(&mut self, stage: Stage) {
        let Some(bar) = &self.bar else { return };
        let Stage { phase, executions, left, confirmed } = stage;
        if phase == Phase::Recording {
            return bar.set_message("recording");
        }
        let (since, before) = *self.recorded.get_or_insert((Instant::now(), executions));
        let rate = rate(executions - before, since.elapsed());
        let time_left = self.time.map(|it| it.saturating_sub(self.begun.elapsed()));
        let runs_left = self.budget.saturating_sub(executions);
        let what = match phase {
            Phase::Recording | Phase::Predicting => "predicting",
            Phase::Exploring => "exploring",
            Phase::Trying => "trying",
        };
        let speed = speed(rate, runs_left, time_left);
        let budget = self.budget;
        bar.set_message(format!(
            "{what}: {executions} of {budget} runs{speed}, {left} candidates left, {confirmed} confirmed"
        ));
    }

    /// Prints something else, so that the line does not get in its way.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Executions per second.
fn rate(executions: usize, time: Duration) -> Option<f64> {
    let count = u32::try_from(executions).unwrap_or(u32::MAX);
    (count > 0 && !time.is_zero()).then(|| f64::from(count) / time.as_secs_f64())
}

/// ` (2.5/s, 40 s left)`: the rest of the executions takes as long as those before, but not longer than
/// the time limit.
fn speed(rate: Option<f64>, runs: usize, limit: Option<Duration>) -> String {
    let count = u32::try_from(runs).unwrap_or(u32::MAX);
    let runs = rate.and_then(|it| Duration::try_from_secs_f64(f64::from(count) / it).ok());
    let left = [runs, limit].into_iter().flatten().min();
    let left = left.map(|it| format!("{} left", seconds(it)));
    let words: Vec<_> = rate.map(|it| format!("{it:.1}/s")).into_iter().chain(left).collect();
    if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) }
}

/// `40 s`, `5 min`, `2 h`.
fn seconds(time: Duration) -> String {
    match time.as_secs() {
        it @ ..120 => format!("{it} s"),
        it @ 120..7200 => format!("{} min", it / 60),
        it => format!("{} h", it / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_estimated_and_limited() {
        let second = Duration::from_secs(1);
        assert_eq!(speed(None, 10, None), "");
        assert_eq!(speed(None, 10, Some(second)), " (1 s left)");
        assert_eq!(speed(rate(5, second * 2), 100, None), " (2.5/s, 40 s left)");
        assert_eq!(speed(rate(5, second * 2), 100, Some(second * 9)), " (2.5/s, 9 s left)");
        assert_eq!(speed(rate(1, second), 6000, None), " (1.0/s, 100 min left)");
    }
}
