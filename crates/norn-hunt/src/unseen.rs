//! What a property mentions and the program does not record, or not always, and why.

use std::collections::BTreeSet;

use norn_model::{Glob, Op, closest};
use norn_property::{
    Property, Variables as _,
    syntax::{Action, Argument, Event, Object},
};
use norn_trace::{Run, WantedFunctions};

use crate::{source::Source, violation::Named};

/// Something that a property names, and why it is not recorded, or only in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unseen {
    /// The event of the property.
    pub event: String,
    /// The function, variable or mark as the property names it.
    pub name: String,
    /// The reason.
    pub why: Why,
}

/// Why something is not recorded. The first variants are about functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// There is no such function; the similar name, if any, may be meant.
    Missing(Option<String>),
    /// It was inlined everywhere.
    Inlined,
    /// Some of its calls were inlined.
    PartlyInlined,
    /// Its beginning has no room for a call to the runtime.
    Rigid,
    /// It was never called.
    NotCalled,
    /// Its calls were not recorded.
    NotRecorded,
    /// The property binds a parameter that is not passed: the function, and the parameter's name.
    Gone(String, String),
    /// No variable of this name was used; the similar name, if any, may be meant.
    NoVariable(Option<String>),
    /// No mark of this name was passed; the similar name, if any, may be meant.
    NoMark(Option<String>),
}

/// What is not recorded of a property in a run. `counts` has the number of occurrences of each
/// event.
pub(crate) fn unseen(source: &Source, property: &Property, counts: &[u64]) -> Vec<Unseen> {
    let mut all = Vec::new();
    for (event, count) in property.definition.events.iter().zip(counts) {
        for action in &event.actions {
            all.extend(of(event, action, *count, source.symbolized.trace.run()));
            let absent = if *count == 0 { absent(source, action) } else { None };
            all.extend(absent.map(|(name, why)| Unseen {
                event: event.name.text.clone(),
                name: name.to_owned(),
                why,
            }));
        }
    }
    all
}

/// A variable or a mark of an event that never happened, and a similar name that may be meant.
fn absent<'a>(source: &Source, action: &'a Action) -> Option<(&'a str, Why)> {
    let meant = |it: &Glob, names: BTreeSet<String>| {
        let whole = !it.as_str().contains('*') && !names.contains(it.as_str());
        let close = closest(it.as_str(), names.iter().map(String::as_str));
        close.filter(|_| whole).map(str::to_owned)
    };
    match action {
        Action::Memory(_, Object { name: Some(name), .. }) => {
            Some((name.as_str(), Why::NoVariable(meant(name, variables(source)))))
        }
        Action::Mark { name, .. } => Some((name.as_str(), Why::NoMark(meant(name, marks(source))))),
        _ => None,
    }
}

/// Maximum number of variables that are searched for a similar name.
const VARIABLES: usize = 4096;

/// The names of the variables that were used.
fn variables(source: &Source) -> BTreeSet<String> {
    let events = source.trace.threads.iter().flat_map(|it| &it.events);
    let used = events.filter_map(|it| match it.op {
        Op::Read { addr, size, .. } | Op::Write { addr, size, .. } => Some((addr, size)),
        Op::Atomic { addr, size, .. } => Some((addr, size.into())),
        Op::Acquire { lock, .. } | Op::Release { lock, .. } => Some((lock, 1)),
        _ => None,
    });
    let mut seen = BTreeSet::new();
    let new = used.filter(|it| seen.insert(*it)).take(VARIABLES);
    let names = Named(&*source.symbolized.symbols);
    new.filter_map(|(addr, size)| names.variable(addr, size)).collect()
}

/// The marks that were passed.
fn marks(source: &Source) -> BTreeSet<String> {
    let events = source.trace.threads.iter().flat_map(|it| &it.events);
    let marks = events.filter_map(|it| match it.op {
        Op::Mark { name, .. } => Some(name),
        _ => None,
    });
    let numbers: BTreeSet<_> = marks.collect();
    numbers.into_iter().map(|it| source.trace.names.name(it).to_owned()).collect()
}

fn of(event: &Event, action: &Action, count: u64, run: &Run) -> Vec<Unseen> {
    let (Action::Call { function, arguments } | Action::Return { function, arguments, .. }) =
        action
    else {
        return Vec::new();
    };
    let wanted = run.functions.iter().find(|it| it.pattern == function.as_str());
    let missing = why(wanted, count, function.as_str().contains('*'));
    let gone = wanted.into_iter().flat_map(|it| gone(it, arguments));
    let unseen =
        |why| Unseen { event: event.name.text.clone(), name: function.as_str().to_owned(), why };
    missing.into_iter().chain(gone).map(unseen).collect()
}

/// Why an event that is the call of a function happened `count` times. If the event has other
/// alternatives as well (`any`), it is no error that a pattern with `*` matches no function.
fn why(wanted: Option<&WantedFunctions>, count: u64, any: bool) -> Option<Why> {
    let Some(wanted) = wanted else { return (count == 0).then_some(Why::NotRecorded) };
    match wanted {
        WantedFunctions { found: 0, .. } if any && count > 0 => None,
        WantedFunctions { found: 0, inlined: true, .. } => Some(Why::Inlined),
        WantedFunctions { found: 0, rigid: 1.., .. } => Some(Why::Rigid),
        WantedFunctions { found: 0, closest, .. } => Some(Why::Missing(closest.clone())),
        WantedFunctions { inlined: true, .. } => Some(Why::PartlyInlined),
        _ => (count == 0).then_some(Why::NotCalled),
    }
}

/// Parameters that a property binds and that are not passed.
fn gone(wanted: &WantedFunctions, arguments: &[Argument]) -> Vec<Why> {
    let is_bound = |position: usize| !matches!(arguments.get(position), None | Some(Argument::Any));
    let gone = wanted.gone.iter().filter(|it| is_bound(it.position));
    gone.map(|it| Why::Gone(it.function.clone(), it.name.clone())).collect()
}
