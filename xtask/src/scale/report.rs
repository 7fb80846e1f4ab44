//! The document about scale.

use std::{fmt::Write as _, time::Duration};

use super::{Measurement, Options, Phase, program::Program};
use crate::{
    process::{End, Measured},
    table::Table,
    unit,
};

/// The largest exponent of time in events that counts as near-linear.
const MAX_EXPONENT: f64 = 1.1;
/// The largest amount of memory that a prediction may take.
const MAX_MEMORY: u64 = 2_000_000_000;
/// The least number of events per second of a prediction, for runs with at least as many events as
/// [`LONG`].
const MIN_RATE: f64 = 2e6;
const LONG: u64 = 8_000_000;
/// Times below this one are mostly the start of a process.
const SHORT: Duration = Duration::from_millis(50);

/// The whole document.
pub(crate) fn document(
    options: &Options,
    generated: &[Measurement],
    real: &[Measurement],
) -> String {
    let mut text = format!(
        "# Scale\n\nWhat recording, prediction and a hunt cost on runs of different lengths. Written by \
         `cargo xtask scale`.\n\n\
         Times are CPU times of all threads of Norn, so that they do not depend on what else the machine \
         does; the time of the recorded program itself is not in the column *record*; *elapsed* is the time \
         on the clock. Prediction includes decoding and the schedules of the first 100 candidates; it runs \
         on one core (`RAYON_NUM_THREADS=1`). Hunts have a budget of {} executions; *executions/min* counts \
         replays, by the clock. Memory is the peak of the largest process; small figures may be that of the \
         process that measures.\n\n",
        options.budget
    );
    for program in Program::ALL {
        let mine: Vec<_> = generated.iter().filter(|it| it.program == program.name).collect();
        if mine.is_empty() {
            continue;
        }
        let table = table("events", &mine, |it| unit::count(it.events));
        let _ = writeln!(text, "## {}\n\n{}.\n\n{table}", program.name, program.what);
        bars(&mut text, &mine);
        text.push('\n');
    }
    real_programs(&mut text, options, real);
    text
}

fn real_programs(text: &mut String, options: &Options, all: &[Measurement]) {
    if all.is_empty() {
        return;
    }
    let all: Vec<_> = all.iter().collect();
    let name = |it: &Measurement| format!("{} ({} events)", it.program, unit::count(it.events));
    let _ = writeln!(
        text,
        "## Real programs\n\nHunts have a budget of {} executions.\n\n{}",
        options.program_budget,
        table("program", &all, name)
    );
    for program in &options.program {
        let _ = writeln!(text, "- {}: `{}`", program.name, program.shown());
    }
    text.push('\n');
}

fn table(first: &str, all: &[&Measurement], name: impl Fn(&Measurement) -> String) -> Table {
    let head = ["record", "memory", "predict", "events/s", "memory"];
    let hunt =
        ["hunt", "elapsed", "executions/min", "memory", "candidates", "confirmed", "harmful"];
    let mut table = Table::new([first].into_iter().chain(head).chain(hunt));
    for it in all {
        let mut row = vec![name(it)];
        let ended = |phase| it.phase(phase).map_or(Err(String::new()), ended);
        let memory = |it: &Measured| unit::bytes(it.usage.peak);
        match ended(Phase::Record) {
            Ok(it) => row.extend([unit::seconds(it.usage.cpu), memory(it)]),
            Err(why) => row.extend([why, String::new()]),
        }
        match ended(Phase::Predict) {
            Ok(predict) => row.extend([
                unit::seconds(predict.usage.cpu),
                unit::rate(it.events, predict.usage.cpu),
                memory(predict),
            ]),
            Err(why) => row.extend([why, String::new(), String::new()]),
        }
        row.extend(hunt_cells(it));
        table.row(row);
    }
    table
}

#[expect(clippy::cast_precision_loss, reason = "executions are few")]
fn hunt_cells(it: &Measurement) -> Vec<String> {
    let Some(measured) = it.phase(Phase::Hunt) else { return Vec::new() };
    let (measured, summary) = match (ended(measured), it.hunt) {
        (Ok(measured), Some(summary)) => (measured, summary),
        (Ok(_), None) => return vec!["no report".to_owned()],
        (Err(why), _) => return vec![why],
    };
    let usage = measured.usage;
    let rate = summary.executions as f64 / usage.wall.as_secs_f64() * 60.0;
    let counts = [summary.candidates, summary.confirmed, summary.harmful];
    let times = [unit::seconds(usage.cpu), unit::seconds(usage.wall)];
    let rest = [format!("{rate:.1}"), unit::bytes(usage.peak)];
    times.into_iter().chain(rest).chain(counts.map(|it| it.to_string())).collect()
}

/// A phase that did its job, or how it ended.
fn ended(measured: &Measured) -> Result<&Measured, String> {
    match measured.end {
        End::Exited(0 | 1) => Ok(measured),
        end => Err(end.to_string()),
    }
}

/// Which of the bars are met.
fn bars(text: &mut String, all: &[&Measurement]) {
    for phase in Phase::ALL {
        if let Some(exponent) = exponent(all, phase) {
            let verdict = if exponent <= MAX_EXPONENT { "near-linear" } else { "**too high**" };
            let _ = writeln!(
                text,
                "- {}: time grows with exponent {exponent:.2}, {verdict} (at most {MAX_EXPONENT})",
                phase.name()
            );
        }
    }
    let predicts = || all.iter().filter_map(|it| Some((it.events, it.phase(Phase::Predict)?)));
    if let Some(peak) = predicts().map(|it| it.1.usage.peak).max() {
        let verdict = if peak <= MAX_MEMORY { "" } else { ", **too much**" };
        let most = unit::bytes(MAX_MEMORY);
        let _ =
            writeln!(text, "- predict: {} of memory{verdict} (at most {most})", unit::bytes(peak));
    }
    let long = predicts().filter(|it| it.0 >= LONG);
    let rates = long.map(|(events, it)| rate(events, it.usage.cpu));
    if let Some(least) = rates.min_by(f64::total_cmp) {
        let verdict = if least >= MIN_RATE { "" } else { ", **too slow**" };
        let (least, bar) = (least / 1e6, MIN_RATE / 1e6);
        let _ = writeln!(
            text,
            "- predict: {least:.1} million events/s at 10^7 events and above{verdict} (at least {bar})"
        );
    }
}

#[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
fn rate(events: u64, time: Duration) -> f64 {
    events as f64 / time.as_secs_f64()
}

/// The exponent of the time of a phase between its shortest and its longest run that take more than the
/// start of a process.
#[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
fn exponent(all: &[&Measurement], phase: Phase) -> Option<f64> {
    let points = all.iter().filter_map(|it| {
        let time = ended(it.phase(phase)?).ok()?.usage.cpu;
        (time > SHORT).then_some((it.events, time.as_secs_f64()))
    });
    let points: Vec<_> = points.collect();
    let (first, last) = points.first().zip(points.last())?;
    (last.0 > first.0).then(|| (last.1 / first.1).ln() / (last.0 as f64 / first.0 as f64).ln())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Usage;

    fn measurement(events: u64, millis: u64) -> Measurement {
        let cpu = Duration::from_millis(millis);
        let usage = Usage { wall: cpu * 4, cpu, peak: 1 << 20 };
        let phases = vec![(Phase::Predict, Measured { end: End::Exited(0), usage })];
        Measurement { program: "any".to_owned(), events, phases, hunt: None }
    }

    #[test]
    fn the_exponent_is_that_of_the_longer_runs() {
        let all = [measurement(10, 1), measurement(1000, 100), measurement(100_000, 10_000)];
        let exponent = exponent(&all.iter().collect::<Vec<_>>(), Phase::Predict).unwrap();
        assert!((exponent - 1.0).abs() < 1e-9, "{exponent}");
    }

    #[test]
    fn bars_that_are_not_met_are_marked() {
        let mut text = String::new();
        bars(&mut text, &[&measurement(1_000_000, 100), &measurement(10_000_000, 20_000)]);
        assert!(text.contains("**too high**"), "{text}");
        assert!(text.contains("0.5 million events/s at 10^7 events and above, **too slow**"));
        text.clear();
        bars(&mut text, &[&measurement(1_000_000, 100), &measurement(10_000_000, 1000)]);
        assert!(!text.contains("**"), "{text}");
    }
}
