//! Predicts which properties other orders of a trace would violate, without executing the program.

use std::path::Path;

use norn_frontend::FrontEnd;
use norn_model::ThreadName;
use norn_predict::HappensBefore;
use norn_property::{Property, PropertyAnalysis, SearchLimits};
use norn_replay::ReplayError;
use norn_witness::{Grade, Witnesses};

use crate::{
    Checked, State, Violation,
    check::{checked, turns},
    source::{Loading, Source},
    violation::{Named, happened, predicted},
};

/// The properties that a trace violates, and those that other orders of it would violate.
#[derive(Debug)]
pub struct Forecast {
    /// The results for the properties, in their order.
    pub properties: Vec<Checked>,
    /// Violations in the recorded run.
    pub observed: Vec<Violation>,
    /// Violations in other orders of it.
    pub predicted: Vec<Foreseen>,
    /// Number of events of the trace that exceed the limit and were not analysed.
    pub left_out: u64,
}

/// A possible violation, and the schedule that would produce it.
#[derive(Debug)]
pub struct Foreseen {
    /// The violation.
    pub violation: Violation,
    /// How close the schedule is to the recorded run; `None` if there is no schedule.
    pub grade: Option<Grade>,
    /// The schedule: threads by name, each with the index of the event before which its turn ends.
    pub turns: Vec<(ThreadName, u64)>,
}

/// Determines which properties a trace violates, and which other orders of it would violate.
pub fn forecast(
    front_end: &dyn FrontEnd,
    folder: &Path,
    process: u32,
    properties: &[Property],
) -> Result<Forecast, ReplayError> {
    let source = Source::open(front_end, folder, process, Loading::All)?;
    let (order, witnesses) = (HappensBefore::new(&source.trace), Witnesses::new(&source.trace));
    let mut forecast = Forecast {
        properties: Vec::new(),
        observed: Vec::new(),
        predicted: Vec::new(),
        left_out: source.left_out,
    };
    for property in properties {
        let watch =
            PropertyAnalysis::new(property, &source.trace, &Named(&*source.symbolized.symbols));
        let outlook = watch.predict(&order, SearchLimits::default());
        forecast.properties.push(checked(&source, property, &outlook));
        forecast.observed.extend(outlook.observed.iter().map(|it| happened(&source, property, it)));
        witnesses.expect(outlook.predicted.iter().map(|it| [&it.candidate]), 0);
        for group in outlook.predicted.chunk_by(|a, b| a.group == b.group) {
            let Some(first) = group.first() else { continue };
            let mut foreseen = Foreseen {
                violation: predicted(&source, property, first),
                grade: None,
                turns: Vec::new(),
            };
            for prospect in group {
                match witnesses.witness_apart(&prospect.candidate, &watch.aparts(prospect)) {
                    Ok(it) if watch.is_violated_by(prospect, turns(&it)) => {
                        let name = |it: norn_model::ThreadId| source.symbolized.thread(it);
                        foreseen.violation = predicted(&source, property, prospect);
                        foreseen.grade = Some(it.grade);
                        foreseen.turns =
                            it.turns.iter().map(|it| (name(it.thread), it.until)).collect();
                        break;
                    }
                    Ok(_) => foreseen.violation.state = State::Spoiled,
                    Err(why) => foreseen.violation.state = State::Infeasible(why),
                }
            }
            forecast.predicted.push(foreseen);
        }
    }
    Ok(forecast)
}
