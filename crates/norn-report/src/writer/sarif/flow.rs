//! Code flows: the order that makes a bug happen and the recorded one, thread by thread.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::location::Locations;
use crate::{
    EventRow,
    writer::{entry::Entry, event_text, timeline::lanes},
};

/// Events of one order. A service shows 1,000 in all flows of a result.
const MAX_EVENTS: usize = 500;

/// The code flows of an entry.
pub(super) fn code_flows(entry: &Entry<'_>, locations: &Locations) -> Vec<Value> {
    let (forced, recorded) = entry.orders();
    let flows = [("the order that makes it happen", forced), ("the recorded order", recorded)];
    let flows = flows.into_iter().filter(|it| !it.1.is_empty());
    flows.map(|(text, rows)| code_flow(text, rows, locations)).collect()
}

fn code_flow(text: &str, rows: &[EventRow], locations: &Locations) -> Value {
    let kept = kept(rows);
    let text = match rows.len() - kept.len() {
        0 => text.to_owned(),
        more => format!("{text}, without {more} events that are further away"),
    };
    let thread = |name: &norn_model::ThreadName| {
        let own = kept.iter().filter(|at| rows[**at].thread == *name);
        let events: Vec<_> = own.map(|at| event(*at, &rows[*at], locations)).collect();
        json!({ "id": name.0, "message": { "text": format!("thread {name}") }, "locations": events })
    };
    let shown = kept.iter().map(|at| &rows[*at]);
    let threads: Vec<_> = lanes(shown).into_iter().map(thread).collect();
    json!({ "message": { "text": text }, "threadFlows": threads })
}

/// The events that are nearest to those of the finding, if there are too many; of a failure, the last.
fn kept(rows: &[EventRow]) -> Vec<usize> {
    let steps: Vec<_> = (0..rows.len()).filter(|at| rows[*at].step.is_some()).collect();
    let distance = |at: &usize| {
        let nearest = steps.iter().map(|it| it.abs_diff(*at)).min();
        nearest.unwrap_or(rows.len() - at)
    };
    let mut all: Vec<_> = (0..rows.len()).collect();
    all.sort_by_key(distance);
    all.truncate(MAX_EVENTS);
    all.into_iter().collect::<BTreeSet<_>>().into_iter().collect()
}

fn event(at: usize, row: &EventRow, locations: &Locations) -> Value {
    let text = event_text(row);
    let location = row.at.as_ref().and_then(|it| locations.location(it, Some(&text)));
    let importance = if row.step.is_some() { "essential" } else { "important" };
    let mut event = json!({
        "location": location.unwrap_or_else(|| json!({ "message": { "text": text } })),
        "executionOrder": at + 1,
        "importance": importance,
        "kinds": [row.action],
    });
    let value = row.shown.clone().or_else(|| row.value.map(|it| it.to_string()));
    if let (Some(object), Some(value)) = (&row.object, value) {
        event["state"] = json!({ object.as_str(): { "text": value } });
    }
    event
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, writer::sample::row};

    #[test]
    fn of_many_events_the_nearest_are_kept() {
        let mut rows = vec![row("T0.1", Action::Read, "x", 1, None); 2000];
        rows[300].step = Some(0);
        rows[1500].step = Some(1);
        let kept = kept(&rows);
        assert_eq!(kept.len(), MAX_EVENTS);
        assert!(kept.contains(&300) && kept.contains(&1500) && !kept.contains(&900), "{kept:?}");
        assert!(kept.is_sorted());
    }
}
