//! A property that is broken, or might be, in linear patterns.

use std::path::PathBuf;

use norn_model::{Candidate, CandidateKind, Consequence, EventId, Op, Scope, Step, Trace, Verdict};
use norn_property::{Occurrence, Property, Prospect, Variables};
use norn_replay::story::Story;
use norn_resolve::{Modules, Variable};
use norn_witness::Failure;

use crate::{Access, Confirmed, describe, source::Source};

/// A property for certain objects, and the events that break it or might.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The property's name.
    pub property: String,
    /// Its parameters, with what they stand for.
    pub parameters: Vec<(String, String)>,
    /// The events, in the order that breaks the property.
    pub steps: Vec<ViolationStep>,
    /// What came of it.
    pub state: State,
    /// What it leads to, if the functions that it is about run to their ends.
    pub harm: Option<Harm>,
}

/// A failure that a violation can lead to.
#[derive(Clone, Debug)]
pub struct Harm {
    /// What.
    pub consequence: Consequence,
    /// How it came to that.
    pub story: Option<Story>,
    /// The clip that makes it happen again.
    pub clip: PathBuf,
}

/// An event of a violation.
#[derive(Clone, Debug)]
pub struct ViolationStep {
    /// What the property calls it.
    pub event: String,
    /// What the thread does: `calls list_add`.
    pub action: String,
    /// By whom, where, with which locks.
    pub access: Access,
}

/// What came of a violation.
#[derive(Clone, Debug)]
pub enum State {
    /// The recorded run did it, or one that took another way; this clip shows it again.
    Observed(PathBuf),
    /// The program did it when it was forced to.
    Confirmed(Box<Confirmed>),
    /// There is no schedule for it.
    Infeasible(Failure),
    /// There are schedules, but in each something comes in between that the property allows.
    Spoiled,
    /// There is a schedule, and the program did something else.
    Unconfirmed(Verdict),
    /// There was no execution left to try it.
    Untried,
}

impl Violation {
    /// Whether the program has done it.
    pub fn is_real(&self) -> bool {
        matches!(self.state, State::Observed(_) | State::Confirmed(_))
    }

    /// How it was confirmed, if it was.
    pub fn confirmed(&self) -> Option<&Confirmed> {
        match &self.state {
            State::Confirmed(it) => Some(it),
            _ => None,
        }
    }
}

/// Names of variables, from the files of a run.
pub(crate) struct Named<'a>(pub(crate) &'a Modules);

impl Variables for Named<'_> {
    fn variable(&self, addr: u64, size: u64) -> Option<String> {
        self.0.variable(addr, size).map(|it| it.name)
    }
}

/// What may happen, in linear patterns.
pub(crate) fn predicted(source: &Source, property: &Property, prospect: &Prospect) -> Violation {
    let event = |role: &usize| property.definition.events[*role].name.text.clone();
    let events = prospect.roles.iter().map(event).collect();
    told(source, property, &prospect.values, &prospect.candidate, events, false)
}

/// What has happened, in linear patterns.
pub(crate) fn happened(
    source: &Source,
    property: &Property,
    seen: &norn_property::Observed,
) -> Violation {
    let items = &property.linear_patterns[seen.breach.linear].items;
    let event =
        |it: &norn_property::syntax::Item| property.definition.events[it.event].name.text.clone();
    let candidate = candidate(property, &seen.breach.steps);
    told(source, property, &seen.values, &candidate, items.iter().map(event).collect(), true)
}

/// Events that have happened, as if they had been predicted.
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

fn told(
    source: &Source,
    property: &Property,
    values: &[u64],
    candidate: &Candidate,
    events: Vec<String>,
    thoroughly: bool,
) -> Violation {
    let description = describe::describe(source, candidate, thoroughly);
    let steps = events.into_iter().zip(description.accesses).zip(&candidate.steps);
    let step = |((event, access), step): ((String, Access), &Step)| ViolationStep {
        event,
        action: action(&source.trace, step.event, &access),
        access,
    };
    let steps: Vec<_> = steps.map(step).collect();
    let parameters = property.definition.parameters.iter().zip(values);
    let touched = |value: u64| {
        let is_it = |it: &Step| it.addr == value && !is_call(&source.trace, it.event);
        let at = candidate.steps.iter().position(is_it)?;
        Some(steps.get(at)?.access.variable.clone())
    };
    let parameter = |value: u64| match source.scene.modules.variable(value, 1) {
        _ if value < SMALL => value.to_string(),
        // What a function is given is the whole, not the first member of it.
        Some(it) => touched(value).unwrap_or_else(|| whole(&it)),
        None => touched(value).unwrap_or_else(|| format!("{value:#x}")),
    };
    Violation {
        property: property.name().to_owned(),
        parameters: parameters.map(|(name, it)| (name.text.clone(), parameter(*it))).collect(),
        steps,
        harm: None,
        state: State::Untried,
    }
}

/// A variable's name; of a variable whose beginning was asked for, that of the whole.
fn whole(variable: &Variable) -> String {
    let parts = variable.name.find(['.', '[']).filter(|_| variable.offset == 0);
    variable.name[..parts.unwrap_or(variable.name.len())].to_owned()
}

/// Values below are no addresses.
const SMALL: u64 = 4096;

fn is_call(trace: &Trace, id: EventId) -> bool {
    let op = trace.event(id).map(|it| it.op);
    matches!(op, Some(Op::Call { .. } | Op::Return { .. } | Op::Mark { .. }))
}

/// What an event does, in linear patterns.
fn action(trace: &Trace, id: EventId, access: &Access) -> String {
    let value = |it: Option<u128>| {
        let shown = access.shown.clone().or_else(|| Some(it?.to_string()));
        shown.map_or_else(String::new, |it| format!(" = {it}"))
    };
    let variable = &access.variable;
    let Some(event) = trace.event(id) else { return String::new() };
    match event.op {
        Op::Call { function, .. } => format!("calls {}", trace.names.name(function)),
        Op::Return { function, value: result } => {
            let result = result.map_or_else(String::new, |it| format!(" with {it:#x}"));
            format!("returns from {}{result}", trace.names.name(function))
        }
        Op::Mark { name, .. } => format!("marks {}", trace.names.name(name)),
        Op::RegionBegin => "begins an atomic region".to_owned(),
        Op::RegionEnd => "ends an atomic region".to_owned(),
        Op::Read { value: it, .. } => format!("reads {variable}{}", value(it)),
        Op::Write { value: it, .. } => format!("writes {variable}{}", value(it)),
        Op::Atomic { .. } => format!("changes or reads {variable} atomically"),
        Op::Acquire { .. } | Op::WaitAcquire { .. } => format!("locks {variable}"),
        Op::Release { .. } | Op::WaitRelease { .. } => format!("unlocks {variable}"),
        Op::Alloc { .. } => format!("allocates {variable}"),
        Op::Free { .. } => format!("frees {variable}"),
        _ => String::new(),
    }
}
