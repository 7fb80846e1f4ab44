//! Properties and traces in, what is found out.

use norn_model::{EventId, Trace, text};
use norn_predict::HappensBefore;
use norn_property::{File, Limits, Outlook, Property, Prospect, Watch};
use norn_witness::{Grade, Witness, Witnesses, events};

/// The only property of a file.
pub(crate) fn property(text: &str) -> Property {
    let file = File::parse(text).unwrap_or_else(|it| panic!("{it:#?}"));
    file.properties.into_iter().next().unwrap()
}

/// A prospect with a schedule that breaks the property.
pub(crate) struct Predicted {
    pub(crate) prospect: Prospect,
    pub(crate) witness: Witness,
}

/// What a trace allows, and which of it has a schedule that breaks the property.
pub(crate) fn predict(property: &Property, trace: &Trace) -> (Outlook, Vec<Predicted>) {
    predict_within(property, trace, Limits::default())
}

/// The same, as far as limits allow.
pub(crate) fn predict_within(
    property: &Property,
    trace: &Trace,
    limits: Limits,
) -> (Outlook, Vec<Predicted>) {
    let watch = Watch::new(property, trace, &trace.symbols);
    let outlook = watch.outlook(&HappensBefore::new(trace), limits);
    let witnesses = Witnesses::new(trace);
    let predicted = outlook.prospects.iter().filter_map(|prospect| {
        let witness = witnesses.witness_apart(&prospect.candidate, &watch.aparts(prospect)).ok()?;
        let broken =
            watch.is_broken(prospect, witness.turns.iter().map(|it| (it.thread, it.until)));
        broken.then(|| Predicted { prospect: prospect.clone(), witness })
    });
    let predicted = predicted.collect();
    (outlook, predicted)
}

/// What is found in a trace, for people: instances, what the run itself does, what it allows. The
/// events of a schedule are their lines in the trace, from 1.
pub(crate) fn check(property_text: &str, trace_text: &str) -> String {
    let (property, trace) =
        (property(property_text), text::parse(&format!("order global\n{trace_text}")).unwrap());
    let (outlook, predicted) = predict(&property, &trace);
    let lines: Vec<EventId> = trace.merged().map(|it| it.id).collect();
    let line = |id: EventId| (lines.iter().position(|it| *it == id).unwrap() + 1).to_string();
    let lines =
        |all: &mut dyn Iterator<Item = EventId>| all.map(line).collect::<Vec<_>>().join("-");
    let names = |values: &[u64]| {
        let name = |it: &u64| trace.symbols.name(*it).map_or(it.to_string(), |it| it.0.to_owned());
        format!("({})", values.iter().map(name).collect::<Vec<_>>().join(", "))
    };
    let mut out = vec![format!("{} instances", outlook.instances)];
    for it in &outlook.observed {
        let steps = lines(&mut it.breach.steps.iter().map(|it| it.id));
        out.push(format!("{} is broken by {steps}", names(&it.values)));
    }
    for Predicted { prospect, witness } in predicted {
        let steps = lines(&mut prospect.candidate.steps.iter().map(|it| it.event));
        let order = lines(&mut events(&witness.turns));
        let grade = if witness.grade == Grade::Sound { "sound" } else { "speculative" };
        out.push(format!("{} can be broken by {steps}: {order}, {grade}", names(&prospect.values)));
    }
    out.join("\n")
}
