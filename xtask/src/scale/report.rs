//! The document about scale.

use std::fmt::Write as _;

use super::{Measurement, Options, Phase, program::Program};
use crate::{process::End, table::Table, unit};

/// The largest exponent of time in events that counts as near-linear.
const MAX_EXPONENT: f64 = 1.1;

/// The whole document.
pub(crate) fn document(options: &Options, all: &[Measurement]) -> String {
    let mut text = String::from(
        "# Scale\n\nWhat recording, prediction and a hunt cost on runs of different lengths. Written by \
         `cargo xtask scale`.\n\n",
    );
    let _ = writeln!(
        text,
        "Prediction includes decoding and the schedules of all candidates; it runs on one core \
         (`RAYON_NUM_THREADS=1`). A hunt has a budget of {} executions. Memory is the peak of the largest \
         process.\n",
        options.budget
    );
    for program in Program::ALL {
        let mine: Vec<_> = all.iter().filter(|it| it.program == program.name).collect();
        if mine.is_empty() {
            continue;
        }
        let _ = writeln!(text, "## {}\n\n{}.\n\n{}", program.name, program.what, table(&mine));
        for phase in Phase::ALL {
            if let Some(exponent) = exponent(&mine, phase) {
                let verdict = if exponent <= MAX_EXPONENT { "near-linear" } else { "**too high**" };
                let _ = writeln!(
                    text,
                    "- {}: time grows with exponent {exponent:.2}, {verdict}",
                    phase.name()
                );
            }
        }
        text.push('\n');
    }
    text
}

fn table(all: &[&Measurement]) -> Table {
    let mut head = vec!["events".to_owned()];
    for phase in Phase::ALL {
        head.extend([phase.name().to_owned(), "events/s".to_owned(), "memory".to_owned()]);
    }
    let mut table = Table::new(head);
    for it in all {
        let mut row = vec![unit::count(it.events)];
        for phase in Phase::ALL {
            row.extend(match it.phases.iter().find(|(which, _)| *which == phase) {
                Some((_, measured)) if matches!(measured.end, End::Exited(0 | 1)) => [
                    unit::seconds(measured.usage.wall),
                    unit::rate(it.events, measured.usage.wall),
                    unit::bytes(measured.usage.peak),
                ],
                Some((_, measured)) => [measured.end.to_string(), String::new(), String::new()],
                None => Default::default(),
            });
        }
        table.row(row);
    }
    table
}

/// The exponent of the time of a phase between its shortest and its longest run that take more than the
/// start of a process.
#[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
fn exponent(all: &[&Measurement], phase: Phase) -> Option<f64> {
    let points = all.iter().filter_map(|it| {
        let (_, measured) = it.phases.iter().find(|(which, _)| *which == phase)?;
        let seconds = measured.usage.wall.as_secs_f64();
        (matches!(measured.end, End::Exited(0 | 1)) && seconds > 0.05)
            .then_some((it.events, seconds))
    });
    let points: Vec<_> = points.collect();
    let (first, last) = points.first().zip(points.last())?;
    (last.0 > first.0).then(|| (last.1 / first.1).ln() / (last.0 as f64 / first.0 as f64).ln())
}
