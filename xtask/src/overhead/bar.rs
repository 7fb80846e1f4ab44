//! The performance goals of recording, and whether they are met.

use super::{Cell, Row, column::Column};
use crate::{statistics::geometric_mean, unit};

/// One goal.
pub(super) struct Bar {
    pub(super) what: &'static str,
    measured: Option<f64>,
    wanted: Wanted,
    aim: Option<f64>,
}

enum Wanted {
    AtMost(f64),
    AtLeast(f64),
}

impl Bar {
    /// Goal, measurement, limit, aim, verdict: the cells of a table.
    pub(super) fn cells(&self) -> [String; 5] {
        let number = |value: f64| format!("{value:.2}");
        let wanted = match self.wanted {
            Wanted::AtMost(most) => format!("≤ {most:.2}"),
            Wanted::AtLeast(least) => format!("≥ {least:.2}"),
        };
        let measured = self.measured.map_or("–".to_owned(), number);
        let aim = self.aim.map_or(String::new(), number);
        [self.what.to_owned(), measured, wanted, aim, self.verdict().to_owned()]
    }

    fn verdict(&self) -> &'static str {
        match self.measured {
            None => "**not measured**",
            Some(measured) if !self.is_met(measured) => "**missed**",
            Some(measured) if self.aim.is_some_and(|aim| measured <= aim) => "met, and the aim",
            Some(_) => "met",
        }
    }

    fn is_met(&self, measured: f64) -> bool {
        match self.wanted {
            Wanted::AtMost(most) => measured <= most,
            Wanted::AtLeast(least) => measured >= least,
        }
    }
}

/// All goals. A figure is not measured if any workload lacks it.
pub(super) fn bars(rows: &[Row]) -> Vec<Bar> {
    let mean = |figure: fn(&Row) -> Option<f64>| {
        geometric_mean(&rows.iter().map(figure).collect::<Option<Vec<f64>>>()?)
    };
    let worst = |figure: fn(&Row) -> Option<f64>| {
        let all = rows.iter().map(figure).collect::<Option<Vec<f64>>>()?;
        all.into_iter().reduce(f64::max)
    };
    let at_most =
        |what, measured, most, aim| Bar { what, measured, wanted: Wanted::AtMost(most), aim };
    vec![
        at_most(
            "time / libtsan's, with values, geometric mean",
            mean(Row::to_libtsan),
            0.5,
            Some(0.4),
        ),
        at_most("time / libtsan's, with values, worst workload", worst(Row::to_libtsan), 1.0, None),
        at_most(
            "time / libtsan's, no values, geometric mean",
            mean(Row::bare_to_libtsan),
            0.6,
            None,
        ),
        Bar {
            what: "overhead that local saves of global's, geometric mean",
            measured: mean(Row::left_of_global).map(|left| 1.0 - left),
            wanted: Wanted::AtLeast(0.6),
            aim: None,
        },
        at_most(
            "bytes an event, with values, geometric mean",
            mean(Row::bytes_an_event),
            6.0,
            Some(3.0),
        ),
        at_most(
            "bytes an event, with values, worst workload",
            worst(Row::bytes_an_event),
            6.0,
            Some(3.0),
        ),
    ]
}

impl Row {
    /// The time in seconds.
    pub(super) fn wall(&self, column: Column) -> Option<f64> {
        match self.cells.get(&column)? {
            Cell::Measured { usage, .. } => Some(usage.wall.as_secs_f64()),
            Cell::Failed(_) => None,
        }
    }

    pub(super) fn ratio(&self, column: Column, base: Column) -> Option<f64> {
        Some(self.wall(column)? / self.wall(base)?)
    }

    /// Processor time, which is less sensitive to other load.
    pub(super) fn cpu(&self, column: Column) -> Option<f64> {
        match self.cells.get(&column)? {
            Cell::Measured { usage, .. } => Some(usage.cpu.as_secs_f64()),
            Cell::Failed(_) => None,
        }
    }

    /// The ratio of processor times.
    pub(super) fn cpu_ratio(&self, column: Column, base: Column) -> Option<f64> {
        Some(self.cpu(column)? / self.cpu(base)?)
    }

    pub(super) fn to_libtsan(&self) -> Option<f64> {
        self.ratio(Column::Local, Column::Libtsan)
    }

    pub(super) fn bare_to_libtsan(&self) -> Option<f64> {
        self.ratio(Column::NoValues, Column::Libtsan)
    }

    /// The fraction of the global order's overhead that the local order has. Values below a
    /// hundredth are noise, and are rounded up to a hundredth.
    pub(super) fn left_of_global(&self) -> Option<f64> {
        let native = self.wall(Column::Native)?;
        let local = self.wall(Column::Local)? - native;
        let global = self.wall(Column::Global)? - native;
        (global > 0.0).then(|| (local / global).max(0.01))
    }

    pub(super) fn bytes_an_event(&self) -> Option<f64> {
        match self.cells.get(&Column::Local)? {
            Cell::Measured { trace: Some(trace), .. } => {
                Some(unit::each(trace.bytes, trace.events))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, time::Duration};

    use super::*;
    use crate::{norn::Info, process::Usage};

    fn cell(millis: u64, bytes: u64) -> Cell {
        let wall = Duration::from_millis(millis);
        let info = Info { events: 100, bytes, threads: 3, losses: Vec::new() };
        Cell::Measured { usage: Usage { wall, cpu: wall, peak: 0 }, trace: Some(info) }
    }

    fn row(local: Cell) -> Row {
        let cells = BTreeMap::from([
            (Column::Native, cell(100, 0)),
            (Column::Local, local),
            (Column::NoValues, cell(300, 200)),
            (Column::Global, cell(1100, 500)),
            (Column::Libtsan, cell(1000, 0)),
        ]);
        Row { workload: "w", commands: Default::default(), cells }
    }

    fn verdicts(rows: &[Row]) -> Vec<&'static str> {
        bars(rows).iter().map(Bar::verdict).collect()
    }

    #[test]
    fn met() {
        let aim = "met, and the aim";
        let all = [aim, "met", "met", "met", aim, aim];
        assert_eq!(verdicts(&[row(cell(400, 299))]), all);
    }

    #[test]
    fn missed() {
        let missed = "**missed**";
        let all = [missed, missed, "met", missed, "met", missed];
        assert_eq!(verdicts(&[row(cell(400, 300)), row(cell(2000, 700))]), all);
    }

    #[test]
    fn not_measured() {
        let none = "**not measured**";
        let rows = [row(cell(400, 300)), row(Cell::Failed("signal 11".to_owned()))];
        assert_eq!(verdicts(&rows), [none, none, "met", none, none, none]);
    }

    #[test]
    fn overhead_left() {
        let left = row(cell(400, 300)).left_of_global().unwrap();
        assert!((left - 0.3).abs() < 1e-9);
        let noise = row(cell(90, 300)).left_of_global().unwrap();
        assert!((noise - 0.01).abs() < 1e-9);
    }
}
