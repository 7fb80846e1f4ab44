//! What a rule speaks of and the program does not show, or not always, and why.

use norn_property::{
    Rule,
    tree::{Argument, Deed, Event},
};
use norn_trace::{Run, WantedFunctions};

/// A function that a rule names, and why its calls are not seen, or not as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unseen {
    /// The event of the rule.
    pub event: String,
    /// The function as the rule names it.
    pub function: String,
    /// Why.
    pub why: Why,
}

/// Why calls of a function are not seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// There is none; perhaps this one was meant.
    Missing(Option<String>),
    /// It was inlined everywhere.
    Inlined,
    /// Some of its calls were inlined.
    PartlyInlined,
    /// It has no room for a call of the runtime at its beginning.
    Rigid,
    /// It was never called.
    NotCalled,
    /// Its calls were not recorded.
    NotRecorded,
    /// The rule binds a parameter that does not arrive: of this function, by this name.
    Gone(String, String),
}

/// What is not seen of a rule's functions in a run. By event: how often it happened.
pub(crate) fn unseen(rule: &Rule, counts: &[u64], run: &Run) -> Vec<Unseen> {
    let mut all = Vec::new();
    for (event, count) in rule.property.events.iter().zip(counts) {
        for deed in &event.deeds {
            all.extend(of(event, deed, *count, run));
        }
    }
    all
}

fn of(event: &Event, deed: &Deed, count: u64, run: &Run) -> Vec<Unseen> {
    let (Deed::Call { function, arguments } | Deed::Return { function, arguments, .. }) = deed
    else {
        return Vec::new();
    };
    let wanted = run.functions.iter().find(|it| it.pattern == function.as_str());
    let missing = why(wanted, count, function.as_str().contains('*'));
    let gone = wanted.into_iter().flat_map(|it| gone(it, arguments));
    let unseen = |why| Unseen {
        event: event.name.text.clone(),
        function: function.as_str().to_owned(),
        why,
    };
    missing.into_iter().chain(gone).map(unseen).collect()
}

/// Why an event that is a call of a function was seen so often. That there is nothing that a name
/// with `*` stands for is no wonder if the event is something else, too.
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

/// Parameters that a rule binds and that do not arrive.
fn gone(wanted: &WantedFunctions, arguments: &[Argument]) -> Vec<Why> {
    let is_bound = |position: usize| !matches!(arguments.get(position), None | Some(Argument::Any));
    let gone = wanted.gone.iter().filter(|it| is_bound(it.position));
    gone.map(|it| Why::Gone(it.function.clone(), it.name.clone())).collect()
}
