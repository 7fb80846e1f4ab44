//! Runs predictions on traces in text form, and prints candidates and their schedules.

use std::fmt::Write;

use norn_model::{Candidate, EventId, Step, Trace, text};
use norn_predict::{Options, predict};
use norn_witness::{Grade, Witness, Witnesses, events};

/// The predictions for a trace: each candidate's first instance, and its schedule or the reason why
/// there is none. Events are named by code location, or else by number.
pub(crate) fn hunt(trace: &str, options: &Options) -> String {
    let trace = text::parse(trace).unwrap();
    report(&trace, predict(&trace, options).candidates)
}

/// The order violations of a trace, in the same form.
pub(crate) fn hunt_order(trace: &str) -> String {
    let trace = text::parse(trace).unwrap();
    let found = predict(&trace, &Options::default()).violations;
    report(&trace, found.into_iter().map(|it| it.0))
}

fn report(trace: &Trace, candidates: impl IntoIterator<Item = Candidate>) -> String {
    let witnesses = Witnesses::new(trace);
    let mut lines = String::new();
    for candidate in candidates {
        if candidate.instance > 0 {
            continue;
        }
        let found = match witnesses.witness(&candidate) {
            Ok(witness) => schedule(trace, &witness),
            Err(failure) => failure.to_string(),
        };
        writeln!(lines, "{} | {found}", title(trace, &candidate)).unwrap();
    }
    lines
}

/// The predictions of one class.
pub(crate) fn hunt_class(trace: &str, class: norn_model::BugClass) -> String {
    hunt(trace, &Options::default().only(&[class, norn_model::BugClass::Order]))
}

fn title(trace: &Trace, candidate: &Candidate) -> String {
    let names = |steps: &[Step]| {
        let names: Vec<_> = steps.iter().map(|it| name(trace, it.event)).collect();
        names.join(" ")
    };
    let stuck = match &candidate.stuck[..] {
        [] => String::new(),
        stuck => format!(" stuck at {}", names(stuck)),
    };
    let Candidate { scope, kind, steps, .. } = candidate;
    let class = kind.class();
    format!("{scope} {class} {kind}: {}{stuck}", names(steps))
}

fn schedule(trace: &Trace, witness: &Witness) -> String {
    let grade = if witness.grade == Grade::Sound { "sound" } else { "speculative" };
    let names: Vec<_> = events(&witness.turns).map(|it| name(trace, it)).collect();
    format!("{grade}: {}", names.join(" "))
}

fn name(trace: &Trace, id: EventId) -> String {
    let place = trace.event(id).and_then(|it| trace.site(it.site)?.place.clone());
    place.unwrap_or_else(|| format!("{}:{}", trace.thread(id.thread).unwrap().name, id.index))
}
