//! Diagnostics beyond the grammar: what is never used, what can never occur, and what always
//! occurs.

use std::collections::BTreeSet;

use crate::{
    Diagnostic, Property,
    syntax::{Action, Argument, Edge, Expression, ExpressionKind, Item, PropertyDefinition},
};

/// Lints properties that were parsed successfully.
pub(crate) fn lint(properties: &[Property]) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for (at, property) in properties.iter().enumerate() {
        if properties[..at].iter().any(|it| it.name() == property.name()) {
            let text = format!("there is another property `{}`", property.name());
            diagnostics.push(Diagnostic::error(property.definition.name.span, text));
        }
        diagnostics.extend(events(&property.definition));
        diagnostics.extend(parameters(&property.definition));
        diagnostics.extend(parts(&property.definition));
        diagnostics.extend(regions(property));
        diagnostics.extend(order(property));
    }
    diagnostics
}

fn events(definition: &PropertyDefinition) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let used: BTreeSet<usize> =
        definition.pattern.parts.iter().flat_map(items).map(|it| it.event).collect();
    for (at, event) in definition.events.iter().enumerate() {
        let name = &event.name;
        if definition.events[..at].iter().any(|it| it.name.text == name.text) {
            let text = format!("there is another event `{}`", name.text);
            let hint = "one event may be several things: `event e: call f(c) | call g(c)`";
            diagnostics.push(Diagnostic::error(name.span, text).hint(hint));
        } else if !used.contains(&at) {
            let text = format!("the pattern does not use `{}`", name.text);
            diagnostics.push(Diagnostic::warning(name.span, text));
        }
    }
    diagnostics
}

fn parameters(definition: &PropertyDefinition) -> Vec<Diagnostic> {
    let bound: BTreeSet<usize> =
        definition.events.iter().flat_map(|it| &it.actions).flat_map(parameters_of).collect();
    let mut diagnostics = Vec::new();
    for (at, parameter) in definition.parameters.iter().enumerate() {
        if !bound.contains(&at) {
            let text = format!("no event binds `{}`", parameter.text);
            let hint = format!("an event binds it like this: `call f({})`", parameter.text);
            diagnostics.push(Diagnostic::error(parameter.span, text).hint(hint));
        }
    }
    for event in &definition.events {
        let mut sets = event.actions.iter().map(|it| parameters_of(it).collect::<BTreeSet<_>>());
        let first = sets.next().unwrap_or_default();
        if sets.any(|it| it != first) {
            let text =
                format!("all that `{}` may be must bind the same parameters", event.name.text);
            diagnostics.push(Diagnostic::error(event.name.span, text));
        }
    }
    diagnostics
}

/// The parameters that an action binds.
pub(crate) fn parameters_of(action: &Action) -> impl Iterator<Item = usize> {
    let arguments: Vec<Argument> = match action {
        Action::Call { arguments, .. } => arguments.clone(),
        Action::Return { arguments, result, .. } => [arguments.as_slice(), &[*result]].concat(),
        Action::Memory(_, object) => {
            object.parameter.map(Argument::Parameter).into_iter().collect()
        }
        Action::Mark { object, .. } => vec![*object],
        Action::Region(_) => Vec::new(),
    };
    arguments.into_iter().filter_map(|it| match it {
        Argument::Parameter(parameter) => Some(parameter),
        Argument::Any | Argument::Number(_) => None,
    })
}

/// The parts of `||` must be executed by different threads.
fn parts(definition: &PropertyDefinition) -> Option<Diagnostic> {
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
            return Some(Diagnostic::error(definition.pattern.span, text).hint(hint));
        }
        seen.extend(here);
    }
    None
}

/// A region needs both edges, in their order, of one thread.
fn regions(property: &Property) -> Option<Diagnostic> {
    let span = property.definition.pattern.span;
    for linear in &property.linear_patterns {
        for (at, item) in linear.items.iter().enumerate() {
            let Some((edge, region)) = item.region else { continue };
            let name = &property.definition.regions[region];
            let other = |edge| {
                let other = linear.items.iter().position(|it| it.region == Some((edge, region)));
                other.filter(|it| (*it < at) == (edge == Edge::Begin))
            };
            let partner = other(if edge == Edge::Begin { Edge::End } else { Edge::Begin });
            let Some(partner) = partner else {
                let text =
                    format!("the region `{name}` has only one edge, or ends before it begins");
                let hint = format!("`begin(t1,<{name}) ... end(t1,>{name})`");
                return Some(Diagnostic::error(span, text).hint(hint));
            };
            if linear.items[partner].thread != item.thread {
                let text = format!("one thread begins and ends the region `{name}`");
                return Some(Diagnostic::error(span, text));
            }
        }
    }
    None
}

/// Warns about patterns that do not depend on the order of threads.
fn order(property: &Property) -> Option<Diagnostic> {
    let span = property.definition.pattern.span;
    if property.linear_patterns.iter().any(|it| it.items.len() == 1 && it.exclusions.is_empty()) {
        let text = "one event is enough to meet this pattern, in whatever order";
        return Some(Diagnostic::warning(span, text));
    }
    let alone = |it: &Item| it.thread.is_some();
    let one = property.linear_patterns.iter().all(|linear| {
        linear.exclusions.is_empty()
            && linear.items.iter().all(alone)
            && linear.items.iter().all(|it| it.thread == linear.items[0].thread)
    });
    let text = "all events are of one thread, whose order never changes";
    one.then(|| {
        Diagnostic::warning(span, text).hint("another name is another thread: `a(t1) b(t2)`")
    })
}

/// The events of a pattern.
fn items(part: &Expression) -> Vec<Item> {
    match &part.kind {
        ExpressionKind::Event(item) => vec![*item],
        ExpressionKind::Sequence(parts)
        | ExpressionKind::Choice(parts)
        | ExpressionKind::All(parts) => parts.iter().flat_map(items).collect(),
        ExpressionKind::Not(inner) | ExpressionKind::Repeat(inner, _) => items(inner),
    }
}
