//! Candidates in which whole functions take the place of their calls or returns. A property is
//! violated when a call comes at the wrong time; the consequence is observed when the function also
//! runs then.

use norn_model::{Candidate, Event, EventId, Op, Step, Trace};

/// The candidate with the ends of the functions that it calls, and the beginnings of those that it
/// returns from, as far as its order allows. `None` if that adds nothing.
pub(crate) fn whole_calls(trace: &Trace, candidate: &Candidate) -> Option<Candidate> {
    let mut steps: Vec<Step> = Vec::new();
    for (at, step) in candidate.steps.iter().enumerate() {
        let other = |it: EventId| {
            let site = trace.event(it).map_or(step.site, |it| it.site);
            Step { event: it, site, region: (it.index, it.index), ..*step }
        };
        let before = |it: &Step| it.event.thread == step.event.thread;
        let begin = begin_of_call(trace, step.event).filter(|begin| {
            at > 0 && steps.iter().filter(|it| before(it)).all(|it| it.event.index < begin.index)
        });
        let rest = &candidate.steps[at + 1..];
        let end = end_of_call(trace, step.event).filter(|end| {
            !rest.is_empty()
                && rest.iter().filter(|it| before(it)).all(|it| it.event.index > end.index)
        });
        steps.extend(begin.map(other));
        steps.push(*step);
        steps.extend(end.map(other));
    }
    (steps.len() > candidate.steps.len()).then(|| Candidate { steps, ..candidate.clone() })
}

/// The event at which the function that is called at an event returns.
fn end_of_call(trace: &Trace, id: EventId) -> Option<EventId> {
    let Op::Call { function: called, .. } = trace.event(id)?.op else { return None };
    let from = usize::try_from(id.index).ok()? + 1;
    let mut depth = 0_u32;
    for event in trace.thread(id.thread)?.events.get(from..)? {
        match event.op {
            Op::Call { function, .. } if function == called => depth += 1,
            Op::Return { function, .. } if function == called && depth == 0 => {
                return Some(event.id);
            }
            Op::Return { function, .. } if function == called => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The event at which the function that returns at an event was called.
fn begin_of_call(trace: &Trace, id: EventId) -> Option<EventId> {
    let Op::Return { .. } = trace.event(id)?.op else { return None };
    let until = usize::try_from(id.index).ok()?;
    let events = trace.thread(id.thread)?.events.get(..until)?;
    let is_it = |it: &&Event| end_of_call(trace, it.id) == Some(id);
    events.iter().rev().find(is_it).map(|it| it.id)
}

#[cfg(test)]
mod tests {
    use norn_model::{Access, CandidateKind, Scope, SiteId, text};

    use super::*;

    #[test]
    fn a_function_runs_where_it_is_called() {
        let trace = text::parse(
            "T0 fork T0.1\nT0 call use(c)\nT0 return use\nT0.1 call auth(c)\nT0.1 return auth\n",
        );
        let trace = trace.unwrap_or_default();
        let step = |name: &str, index| Step {
            event: EventId {
                thread: trace.thread_named(name).map(|it| it.id).unwrap_or_default(),
                index,
            },
            site: SiteId(0),
            addr: 0,
            access: Access::Event,
            region: (index, index),
        };
        let candidate = Candidate {
            kind: CandidateKind::Property(String::new()),
            adjacent: false,
            steps: vec![step("T0", 1), step("T0.1", 1)],
            stuck: Vec::new(),
            scope: Scope::Marked,
            instance: 0,
        };
        let whole = whole_calls(&trace, &candidate).map(|it| it.steps);
        let events = whole.iter().flatten().map(|it| it.event.to_string()).collect::<Vec<_>>();
        assert_eq!(events.join(" "), "t0:1 t0:2 t1:0 t1:1");
    }
}
