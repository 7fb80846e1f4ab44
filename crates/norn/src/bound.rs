//! What the search for property violations left out, for people and for programs.

use norn_hunt::Checked;
use norn_property::{Bounds, Limits};
use serde_json::{Value, json};

/// One line, if anything was left out: what was found is then not all that may be.
pub(crate) fn words(property: &Checked) -> Option<String> {
    let Bounds { alike, ways, steps, instances } = property.bounds;
    let limits = Limits::default();
    let mut parts = Vec::new();
    if instances {
        parts.push("there are too many instances".to_owned());
    }
    if steps {
        parts.push(format!("the search was given up after {} steps", limits.steps));
    }
    if alike > 0 {
        let most = limits.alike;
        parts.push(format!("of events alike only the first {most} ({alike} choices left out)"));
    }
    if ways > 0 {
        let (ways_kept, same) = (limits.ways, limits.same);
        let kept = format!("only the cheapest {ways_kept}, {same} of them for the same objects");
        parts.push(format!("of ways at the same places {kept} ({ways} left out)"));
    }
    if property.untried > 0 {
        parts.push(format!("{} ways were not tried (--instances)", property.untried));
    }
    let all = parts.join("; ");
    (!parts.is_empty()).then(|| format!("{}: not all was looked at: {all}", property.name))
}

/// The same for programs; null if nothing was left out.
pub(crate) fn json(property: &Checked) -> Value {
    let Bounds { alike, ways, steps, instances } = property.bounds;
    if !property.bounds.is_met() && property.untried == 0 {
        return Value::Null;
    }
    let untried = property.untried;
    json!({
        "alike": alike, "ways": ways, "steps": steps, "instances": instances, "untried": untried
    })
}
