//! Properties and their results.

use norn_property::{SearchLimits, Truncation};
use norn_report::{LeftOut, Property};

use super::unseen;
use crate::Checked;

/// A property and its results.
pub(super) fn property(property: &Checked) -> Property {
    let never = property.events.iter().filter(|it| it.1 == 0).map(|it| it.0.clone());
    Property {
        name: property.name.clone(),
        instances: property.instances,
        events: property.events.iter().cloned().collect(),
        never: never.collect(),
        candidates: property.candidates,
        incomplete: property.bounds.out_of_steps || property.bounds.too_many_instances,
        left_out: left_out(property),
        unseen: property.unseen.iter().map(unseen::unseen).collect(),
    }
}

/// What the search left out: if anything, the findings may be incomplete.
fn left_out(property: &Checked) -> Option<LeftOut> {
    let Truncation { events, candidates, out_of_steps, too_many_instances } = property.bounds;
    let untried = property.untried;
    let limits = SearchLimits::default();
    let mut parts = Vec::new();
    if too_many_instances {
        parts.push("there are too many instances".to_owned());
    }
    if out_of_steps {
        parts.push(format!("it was given up after {} steps", limits.steps));
    }
    if events > 0 {
        let most = limits.events_per_site;
        parts.push(format!("of similar events only the first {most} ({events} choices left out)"));
    }
    if candidates > 0 {
        let (kept, same) = (limits.candidates_per_finding, limits.candidates_per_instance);
        let kept = format!("only the cheapest {kept}, {same} of them for the same objects");
        parts.push(format!("of orders at the same places {kept} ({candidates} left out)"));
    }
    if untried > 0 {
        parts.push(format!("{untried} orders were not tried (--instances)"));
    }
    let text = parts.join("; ");
    (!parts.is_empty()).then_some(LeftOut {
        alike: events,
        ways: candidates,
        steps: out_of_steps,
        instances: too_many_instances,
        untried,
        text,
    })
}
