//! Runs the prediction on properties and traces in text form.

use norn_model::{EventId, Trace, text};
use norn_predict::HappensBefore;
use norn_property::{
    File, PredictedViolation, Property, PropertyAnalysis, PropertyPrediction, SearchLimits,
};
use norn_witness::{Grade, Witness, Witnesses, events};

/// The only property of a file.
pub(crate) fn property(text: &str) -> Property {
    let file = File::parse(text).unwrap_or_else(|it| panic!("{it:#?}"));
    file.properties.into_iter().next().unwrap()
}

/// A predicted violation with a schedule that violates the property.
pub(crate) struct Predicted {
    pub(crate) violation: PredictedViolation,
    pub(crate) witness: Witness,
}

/// The prediction for a trace, and the predicted violations with a schedule.
pub(crate) fn predict(property: &Property, trace: &Trace) -> (PropertyPrediction, Vec<Predicted>) {
    predict_within(property, trace, SearchLimits::default())
}

/// The same with other search limits.
pub(crate) fn predict_within(
    property: &Property,
    trace: &Trace,
    limits: SearchLimits,
) -> (PropertyPrediction, Vec<Predicted>) {
    let analysis = PropertyAnalysis::new(property, trace, &trace.symbols);
    let prediction = analysis.predict(&HappensBefore::new(trace), limits);
    let witnesses = Witnesses::new(trace);
    let predicted = prediction.predicted.iter().filter_map(|violation| {
        let witness =
            witnesses.witness_apart(&violation.candidate, &analysis.aparts(violation)).ok()?;
        let violates = analysis
            .is_violated_by(violation, witness.turns.iter().map(|it| (it.thread, it.until)));
        violates.then(|| Predicted { violation: violation.clone(), witness })
    });
    let predicted = predicted.collect();
    (prediction, predicted)
}

/// The findings in a trace as text: instances, observed violations, predicted violations. Events
/// are shown as line numbers in the trace, from 1.
pub(crate) fn check(property_text: &str, trace_text: &str) -> String {
    let (property, trace) =
        (property(property_text), text::parse(&format!("order global\n{trace_text}")).unwrap());
    let (prediction, predicted) = predict(&property, &trace);
    let lines: Vec<EventId> = trace.merged().map(|it| it.id).collect();
    let line = |id: EventId| (lines.iter().position(|it| *it == id).unwrap() + 1).to_string();
    let lines =
        |all: &mut dyn Iterator<Item = EventId>| all.map(line).collect::<Vec<_>>().join("-");
    let names = |values: &[u64]| {
        let name = |it: &u64| trace.symbols.name(*it).map_or(it.to_string(), |it| it.0.to_owned());
        format!("({})", values.iter().map(name).collect::<Vec<_>>().join(", "))
    };
    let mut out = vec![format!("{} instances", prediction.instances)];
    for it in &prediction.observed {
        let steps = lines(&mut it.violation.steps.iter().map(|it| it.id));
        out.push(format!("{} is broken by {steps}", names(&it.values)));
    }
    for Predicted { violation, witness } in predicted {
        let steps = lines(&mut violation.candidate.steps.iter().map(|it| it.event));
        let order = lines(&mut events(&witness.turns));
        let grade = if witness.grade == Grade::Sound { "sound" } else { "speculative" };
        out.push(format!(
            "{} can be broken by {steps}: {order}, {grade}",
            names(&violation.values)
        ));
    }
    out.join("\n")
}
