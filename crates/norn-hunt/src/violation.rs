//! Violations of properties, observed or possible.

use std::path::PathBuf;

use norn_frontend::{Symbols, Variable};
use norn_model::{Candidate, CandidateKind, Consequence, EventId, Op, Scope, Step, Trace, Verdict};
use norn_property::{Occurrence, PredictedViolation, Property, Variables};
use norn_report::{Access, Action, NotReproduced, Number, Object, Parameter, Story};
use norn_witness::Failure;

use crate::{Confirmed, describe, source::Source};

/// A property instance, and the events that violate it or might.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The property's name.
    pub property: String,
    /// Its parameters with their values.
    pub parameters: Vec<Parameter>,
    /// The events, in the order that violates the property.
    pub steps: Vec<Access>,
    /// The result.
    pub state: State,
    /// Its consequence, if the functions that it involves run to their ends.
    pub harm: Option<Harm>,
}

/// A failure that a violation can lead to.
#[derive(Clone, Debug)]
pub struct Harm {
    /// The failure.
    pub consequence: Consequence,
    /// Its explanation.
    pub story: Option<Story>,
    /// The clip that reproduces it.
    pub clip: PathBuf,
}

/// The result for a violation.
#[derive(Clone, Debug)]
pub enum State {
    /// It happened in the recorded run or in a later run with new coverage; this clip reproduces
    /// it.
    Observed(PathBuf),
    /// The program performed it when it was forced to.
    Confirmed(Box<Confirmed>),
    /// It happened once, and not again when this clip was replayed.
    NotReproducible(PathBuf, Box<NotReproduced>),
    /// There is no schedule for it.
    Infeasible(Failure),
    /// There are schedules, but each has an event in between that makes the order legal.
    Spoiled,
    /// There is a schedule, and the program did not follow it.
    Unconfirmed(Verdict),
    /// No execution was left to try it.
    Untried,
}

impl Violation {
    /// Whether the program has performed it.
    pub fn is_real(&self) -> bool {
        matches!(self.state, State::Observed(_) | State::Confirmed(_))
    }

    /// The confirmation, if there is one.
    pub fn confirmed(&self) -> Option<&Confirmed> {
        match &self.state {
            State::Confirmed(it) => Some(it),
            _ => None,
        }
    }
}

/// Names of variables, from the symbols of a trace.
pub(crate) struct Named<'a>(pub(crate) &'a dyn Symbols);

impl Variables for Named<'_> {
    fn variable(&self, addr: u64, size: u64) -> Option<String> {
        self.0.variable(addr, size).map(|it| it.name)
    }
}

/// A predicted violation.
pub(crate) fn predicted(
    source: &Source,
    property: &Property,
    prospect: &PredictedViolation,
) -> Violation {
    let event = |role: &usize| property.definition.events[*role].name.text.clone();
    let events = prospect.roles.iter().map(event).collect();
    described(source, property, &prospect.values, &prospect.candidate, events, false)
}

/// A violation that has happened.
pub(crate) fn happened(
    source: &Source,
    property: &Property,
    seen: &norn_property::ObservedViolation,
) -> Violation {
    let items = &property.linear_patterns[seen.violation.linear].items;
    let event =
        |it: &norn_property::syntax::Item| property.definition.events[it.event].name.text.clone();
    let candidate = candidate(property, &seen.violation.steps);
    described(source, property, &seen.values, &candidate, items.iter().map(event).collect(), true)
}

/// Events that have happened, as a candidate.
pub(crate) fn candidate(property: &Property, steps: &[Occurrence]) -> Candidate {
    let step = |it: &Occurrence| Step {
        event: it.id,
        site: it.site,
        addr: it.addr,
        access: it.access,
        region: (it.id.index, it.id.index),
    };
    Candidate {
        kind: CandidateKind::Property(property.name().to_owned()),
        adjacent: false,
        steps: steps.iter().map(step).collect(),
        stuck: Vec::new(),
        scope: Scope::Marked,
        instance: 0,
    }
}

fn described(
    source: &Source,
    property: &Property,
    values: &[u64],
    candidate: &Candidate,
    events: Vec<String>,
    thoroughly: bool,
) -> Violation {
    let description = describe::describe(source, candidate, thoroughly);
    let steps = events.into_iter().zip(description.accesses).zip(&candidate.steps);
    let step = |((event, access), step): ((String, Access), &Step)| {
        event_of(&source.trace, step.event, Access { event: Some(event), ..access })
    };
    let steps: Vec<_> = steps.map(step).collect();
    let touched = |value: u64| {
        let is_it = |it: &Step| it.addr == value && !is_call(&source.trace, it.event);
        let at = candidate.steps.iter().position(is_it)?;
        Some(steps.get(at)?.variable.clone())
    };
    let stands_for = |value: u64| match source.symbolized.symbols.variable(value, 1) {
        _ if value < SMALL => Object::named(value.to_string()),
        // A function's argument refers to the whole object, not to its first member.
        Some(it) => touched(value).unwrap_or_else(|| Object::named(whole(&it))),
        None => touched(value).unwrap_or_else(|| Object::named(format!("{value:#x}"))),
    };
    let parameters = property.definition.parameters.iter().zip(values);
    let parameter = |(name, value): (&norn_property::syntax::Name, &u64)| Parameter {
        name: name.text.clone(),
        value: stands_for(*value),
    };
    Violation {
        property: property.name().to_owned(),
        parameters: parameters.map(parameter).collect(),
        steps,
        harm: None,
        state: State::Untried,
    }
}

/// The name of a variable; if the address is the beginning of a variable, the name of the whole.
fn whole(variable: &Variable) -> String {
    let parts = variable.name.find(['.', '[']).filter(|_| variable.offset == 0);
    variable.name[..parts.unwrap_or(variable.name.len())].to_owned()
}

/// Values below this are not addresses.
const SMALL: u64 = 4096;

fn is_call(trace: &Trace, id: EventId) -> bool {
    let op = trace.event(id).map(|it| it.op);
    matches!(op, Some(Op::Call { .. } | Op::Return { .. } | Op::Mark { .. }))
}

/// Describes an event of a property: calls, returns and marks have the name of a function or a mark
/// rather than that of a variable.
fn event_of(trace: &Trace, id: EventId, access: Access) -> Access {
    let Some(event) = trace.event(id) else { return access };
    let named = |id| Object::named(trace.names.name(id));
    let action = match event.op {
        Op::WaitAcquire { .. } => Action::Lock,
        Op::WaitRelease { .. } => Action::Unlock,
        op => Action::from(&op),
    };
    match event.op {
        Op::Call { function: name, .. } | Op::Mark { name, .. } => {
            Access { action, variable: named(name), ..access }
        }
        Op::Return { function, value } => {
            let value = value.map(|it| Number(it.into()));
            Access { action, variable: named(function), value, ..access }
        }
        Op::RegionBegin | Op::RegionEnd => Access { action, variable: Object::default(), ..access },
        _ => Access { action, ..access },
    }
}
