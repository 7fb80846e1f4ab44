//! Properties and their results.

use norn_property::{Bounds, Limits};
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
        incomplete: property.bounds.steps || property.bounds.instances,
        left_out: left_out(property),
        unseen: property.unseen.iter().map(unseen::unseen).collect(),
    }
}

/// What the search left out: if anything, the findings may be incomplete.
fn left_out(property: &Checked) -> Option<LeftOut> {
    let Bounds { alike, ways, steps, instances } = property.bounds;
    let untried = property.untried;
    let limits = Limits::default();
    let mut parts = Vec::new();
    if instances {
        parts.push("there are too many instances".to_owned());
    }
    if steps {
        parts.push(format!("it was given up after {} steps", limits.steps));
    }
    if alike > 0 {
        let most = limits.alike;
        parts.push(format!("of similar events only the first {most} ({alike} choices left out)"));
    }
    if ways > 0 {
        let (kept, same) = (limits.ways, limits.same);
        let kept = format!("only the cheapest {kept}, {same} of them for the same objects");
        parts.push(format!("of orders at the same places {kept} ({ways} left out)"));
    }
    if untried > 0 {
        parts.push(format!("{untried} orders were not tried (--instances)"));
    }
    let text = parts.join("; ");
    (!parts.is_empty()).then_some(LeftOut { alike, ways, steps, instances, untried, text })
}
