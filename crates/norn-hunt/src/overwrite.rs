//! What must not come between a write and the read that is to see it.
//!
//! An order of a few events does not say what the reads see: `open = 1`, then a read, leaves room for `open = 0` between the two. A
//! schedule with that write in between preserves all values, so the engines would prefer it, and it shows nothing. In
//! a combination all reads must see their writes, so the other writes of the same memory are kept out. If a wake-up
//! is stolen, nobody but the thief changes what the thread was woken for: a second item in the queue would replace the
//! stolen one.

use norn_model::{
    Access, Apart, Candidate, CandidateKind, EventId, MemoryAccess, Step, ThreadId, Trace,
};

/// A part of an order in which the memory of a read is not written by others.
struct Undisturbed<'a> {
    from: EventId,
    read: &'a Step,
    /// The thread that may write all the same.
    except: Option<ThreadId>,
}

/// The events that must stay apart from a candidate: none, unless it is a combination or a stolen wake-up.
pub(crate) fn aparts(trace: &Trace, candidate: &Candidate) -> Vec<Apart> {
    let parts = undisturbed(candidate);
    if parts.is_empty() {
        return Vec::new();
    }
    let mut aparts = Vec::new();
    for event in trace.threads.iter().flat_map(|it| &it.events) {
        let Some(access) = event.op.access().filter(|it| it.write.is_some()) else { continue };
        let MemoryAccess { addr, size, .. } = access;
        let overwrites = |it: &&Undisturbed<'_>| {
            let EventId { thread, index } = event.id;
            let is_early = thread == it.from.thread && index <= it.from.index;
            let is_late = thread == it.read.event.thread && index >= it.read.event.index;
            let is_same = addr <= it.read.addr && it.read.addr - addr < size;
            is_same && !is_early && !is_late && it.except != Some(thread)
        };
        let kept_out = parts.iter().filter(overwrites);
        aparts.extend(kept_out.map(|it| Apart {
            event: event.id,
            after: Some(it.from),
            before: it.read.event,
        }));
    }
    aparts
}

fn undisturbed(candidate: &Candidate) -> Vec<Undisturbed<'_>> {
    let steps = candidate.steps.as_slice();
    match (&candidate.kind, steps) {
        (CandidateKind::PrematureUse | CandidateKind::OverdueUse, [_, _, _, ..]) => {
            let seen = |(at, read): (usize, &Step)| {
                let is_seen = |it: &&Step| it.access == Access::Write && it.addr == read.addr;
                steps[..at].iter().rev().find(is_seen).map(|it| it.event)
            };
            let reads = steps.iter().enumerate().filter(|it| it.1.access == Access::Read);
            let part = |it| Some(Undisturbed { from: seen(it)?, read: it.1, except: None });
            reads.filter_map(part).collect()
        }
        (CandidateKind::StolenWakeUp, [woken_for, thief, read]) => {
            let except = Some(thief.event.thread);
            vec![Undisturbed { from: woken_for.event, read, except }]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use norn_model::{EventId, text};
    use norn_witness::Engines;

    use super::*;
    use crate::engine::CachedWitnesses;

    /// Two valves are opened and closed again, and a guard looks at both.
    const VALVES: &str = "
        order global
        T1 acq l
        T1 r a 0 @ sees-a
        T1 r b 0 @ sees-b
        T1 rel l
        T2 acq l
        T2 w a 1 @ opens-a
        T2 rel l
        T2 acq l
        T2 w a 0 @ closes-a
        T2 rel l
        T3 acq l
        T3 w b 1 @ opens-b
        T3 rel l
        T3 acq l
        T3 w b 0 @ closes-b
        T3 rel l
    ";

    fn candidate(trace: &Trace, places: &[&str]) -> Candidate {
        let step = |place: &&str| {
            let is_there = |it: &&norn_model::Event| {
                trace.site(it.site).and_then(|it| it.place.as_deref()) == Some(place)
            };
            let event = trace.threads.iter().flat_map(|it| &it.events).find(is_there).unwrap();
            let access = event.op.access().unwrap();
            let kind = if access.read.is_some() { Access::Read } else { Access::Write };
            let region = (event.id.index, event.id.index);
            Step { event: event.id, site: event.site, addr: access.addr, access: kind, region }
        };
        Candidate {
            kind: CandidateKind::PrematureUse,
            adjacent: false,
            steps: places.iter().map(step).collect(),
            stuck: Vec::new(),
            scope: norn_model::Scope::Single,
            instance: 0,
        }
    }

    #[test]
    fn what_overwrites_a_combination_is_kept_out() {
        let trace = text::parse(VALVES).unwrap();
        let both = candidate(&trace, &["opens-a", "opens-b", "sees-a", "sees-b"]);
        let [closes_a, closes_b] =
            ["closes-a", "closes-b"].map(|it| candidate(&trace, &[it]).steps[0].event);
        let kept_out: Vec<EventId> = aparts(&trace, &both).iter().map(|it| it.event).collect();
        assert_eq!(kept_out, [closes_a, closes_b]);
        assert!(aparts(&trace, &candidate(&trace, &["opens-a", "sees-a"])).is_empty());
    }

    /// T1 is woken for the first item, and T2 may take it before T3 brings the second one.
    #[test]
    fn only_the_thief_of_a_wake_up_changes_what_the_thread_was_woken_for() {
        let queue = "
            order global
            T3 w items 1 @ first
            T3 w items 2 @ second
            T2 r items 2 @ checks
            T2 w items 1 @ takes
            T1 r items 1 @ looks
            T1 w items 0 @ takes-too
        ";
        let trace = text::parse(queue).unwrap();
        let steps = candidate(&trace, &["first", "takes", "looks"]).steps;
        let stolen = Candidate { kind: CandidateKind::StolenWakeUp, ..candidate(&trace, &[]) };
        let kept_out = aparts(&trace, &Candidate { steps, ..stolen });
        let second = candidate(&trace, &["second"]).steps[0].event;
        assert_eq!(kept_out.iter().map(|it| it.event).collect::<Vec<_>>(), [second]);
    }

    #[test]
    fn the_schedule_of_a_combination_shows_it() {
        let trace = text::parse(VALVES).unwrap();
        let both = candidate(&trace, &["opens-a", "opens-b", "sees-a", "sees-b"]);
        let witnesses = CachedWitnesses::new(&trace, Engines::default());
        let witness = witnesses.witness(&both).unwrap();
        let differing = witness.differing.len();
        assert_eq!(differing, 2, "{witness:?}");
    }
}
