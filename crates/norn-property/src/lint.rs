//! Mistakes that are no matter of grammar: what is never used, what can never happen, what always
//! happens.

use std::collections::BTreeSet;

use crate::{
    Mistake, Property,
    tree::{Argument, Deed, Edge, Expression, Item, Kind, PropertyDefinition},
};

/// Events of a property at most, since a set of events is a bit mask.
const MOST: usize = 64;

/// What is wrong with properties that can be read.
pub(crate) fn lint(properties: &[Property]) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    for (at, property) in properties.iter().enumerate() {
        if properties[..at].iter().any(|it| it.name() == property.name()) {
            let text = format!("there is another property `{}`", property.name());
            mistakes.push(Mistake::error(property.definition.name.span, text));
        }
        mistakes.extend(events(&property.definition));
        mistakes.extend(parameters(&property.definition));
        mistakes.extend(parts(&property.definition));
        mistakes.extend(regions(property));
        mistakes.extend(order(property));
    }
    mistakes
}

fn events(definition: &PropertyDefinition) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    if let Some(event) = definition.events.get(MOST) {
        let text = format!("a property has {MOST} events at most");
        mistakes.push(Mistake::error(event.name.span, text).hint("split the property"));
    }
    let used: BTreeSet<usize> =
        definition.pattern.parts.iter().flat_map(items).map(|it| it.event).collect();
    for (at, event) in definition.events.iter().enumerate() {
        let name = &event.name;
        if definition.events[..at].iter().any(|it| it.name.text == name.text) {
            let text = format!("there is another event `{}`", name.text);
            let hint = "one event may be several things: `event e: call f(c) | call g(c)`";
            mistakes.push(Mistake::error(name.span, text).hint(hint));
        } else if !used.contains(&at) {
            let text = format!("the pattern does not use `{}`", name.text);
            mistakes.push(Mistake::warning(name.span, text));
        }
    }
    mistakes
}

fn parameters(definition: &PropertyDefinition) -> Vec<Mistake> {
    let bound: BTreeSet<usize> =
        definition.events.iter().flat_map(|it| &it.deeds).flat_map(parameters_of).collect();
    let mut mistakes = Vec::new();
    for (at, parameter) in definition.parameters.iter().enumerate() {
        if !bound.contains(&at) {
            let text = format!("no event binds `{}`", parameter.text);
            let hint = format!("an event binds it like this: `call f({})`", parameter.text);
            mistakes.push(Mistake::error(parameter.span, text).hint(hint));
        }
    }
    for event in &definition.events {
        let mut sets = event.deeds.iter().map(|it| parameters_of(it).collect::<BTreeSet<_>>());
        let first = sets.next().unwrap_or_default();
        if sets.any(|it| it != first) {
            let text =
                format!("all that `{}` may be must bind the same parameters", event.name.text);
            mistakes.push(Mistake::error(event.name.span, text));
        }
    }
    mistakes
}

/// The parameters that a deed binds.
pub(crate) fn parameters_of(deed: &Deed) -> impl Iterator<Item = usize> {
    let arguments: Vec<Argument> = match deed {
        Deed::Call { arguments, .. } => arguments.clone(),
        Deed::Return { arguments, result, .. } => [arguments.as_slice(), &[*result]].concat(),
        Deed::Touch(_, object) => object.parameter.map(Argument::Parameter).into_iter().collect(),
        Deed::Mark { object, .. } => vec![*object],
        Deed::Region(_) => Vec::new(),
    };
    arguments.into_iter().filter_map(|it| match it {
        Argument::Parameter(parameter) => Some(parameter),
        Argument::Any | Argument::Number(_) => None,
    })
}

/// What happens at the same time is done by different threads.
fn parts(definition: &PropertyDefinition) -> Option<Mistake> {
    let threads = |part: &Expression| -> BTreeSet<usize> {
        items(part).iter().filter_map(|it| it.thread).collect()
    };
    let mut seen = BTreeSet::new();
    for part in &definition.pattern.parts {
        let here = threads(part);
        if let Some(twice) = here.intersection(&seen).next() {
            let name = &definition.threads[*twice];
            let text =
                format!("`{name}` cannot take part in two things that happen at the same time");
            let hint = "another name is another thread: `a(t1) || b(t2)`";
            return Some(Mistake::error(definition.pattern.span, text).hint(hint));
        }
        seen.extend(here);
    }
    None
}

/// Regions need both edges, in their order, by one thread.
fn regions(property: &Property) -> Option<Mistake> {
    let span = property.definition.pattern.span;
    for word in &property.words {
        for (at, item) in word.items.iter().enumerate() {
            let Some((edge, region)) = item.region else { continue };
            let name = &property.definition.regions[region];
            let other = |edge| {
                let other = word.items.iter().position(|it| it.region == Some((edge, region)));
                other.filter(|it| (*it < at) == (edge == Edge::Begin))
            };
            let partner = other(if edge == Edge::Begin { Edge::End } else { Edge::Begin });
            let Some(partner) = partner else {
                let text =
                    format!("the region `{name}` has only one edge, or ends before it begins");
                let hint = format!("`begin(t1,<{name}) ... end(t1,>{name})`");
                return Some(Mistake::error(span, text).hint(hint));
            };
            if word.items[partner].thread != item.thread {
                let text = format!("one thread begins and ends the region `{name}`");
                return Some(Mistake::error(span, text));
            }
        }
    }
    None
}

/// Patterns that cannot depend on the order of threads.
fn order(property: &Property) -> Option<Mistake> {
    let span = property.definition.pattern.span;
    if property.words.iter().any(|it| it.items.len() == 1 && it.bans.is_empty()) {
        let text = "one event is enough to meet this pattern, in whatever order";
        return Some(Mistake::warning(span, text));
    }
    let alone = |it: &Item| it.thread.is_some();
    let one = property.words.iter().all(|word| {
        word.bans.is_empty()
            && word.items.iter().all(alone)
            && word.items.iter().all(|it| it.thread == word.items[0].thread)
    });
    let text = "all events are of one thread, whose order never changes";
    one.then(|| Mistake::warning(span, text).hint("another name is another thread: `a(t1) b(t2)`"))
}

/// The events of a pattern.
fn items(part: &Expression) -> Vec<Item> {
    match &part.kind {
        Kind::Event(item) => vec![*item],
        Kind::Sequence(parts) | Kind::Choice(parts) | Kind::All(parts) => {
            parts.iter().flat_map(items).collect()
        }
        Kind::Not(inner) | Kind::Repeat(inner, _) => items(inner),
    }
}
