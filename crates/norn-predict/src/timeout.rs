//! Waits with a limit of time that end before what they wait for has come, or just when it comes.
//!
//! A wait that somebody ended may as well have ended by itself, if it has a limit. Then its thread
//! goes on, and what it waited for is not there yet:
//!
//! ```text
//! waiter: wait … its time runs out, goes on      waker: write x, signal
//! ```
//!
//! Or it is there in the meantime, and the thread is told nevertheless that the time has run out:
//!
//! ```text
//! waiter: wait … its time runs out      waker: write x, signal      waiter: goes on
//! ```
//!
//! A lock that is asked for with a limit is not given while another thread has it.
//!
//! What the thread makes of that is its own affair, and only the program can tell: so there is a
//! candidate for each wait that was woken, and none looks at variables.

use std::collections::VecDeque;

use norn_model::{
    Access, Candidate, CandidateKind, Event, Object, Op, Outcome, SiteId, Step, Trace,
};
use rustc_hash::FxHashMap;

use crate::{
    general::Field,
    keep::{Instance, Kept, Key, Place},
    outline::narrow,
    steal::{signals, waits},
};

/// What a thread waits for comes after its time has run out, and it has gone on.
const EARLY: u16 = 0;
/// It comes when the time has run out, and before the thread goes on.
const LATE: u16 = 1;
/// A lock is not given in time.
const LOCKED: u16 = 2;

/// A thread, counted from 0, and one of its events.
type At = (u16, u32);

/// Searches for waits whose time can run out.
pub(crate) fn timeouts(trace: &Trace, field: Field<'_>, instances: usize) -> Vec<Candidate> {
    let mut kept = Kept::new(instances);
    conditions(trace, field, |wait, signal| either_way(trace, wait, signal, &mut kept));
    semaphores(trace, |wait, post| either_way(trace, wait, post, &mut kept));
    locks(trace, |held, wanted| add(trace, LOCKED, [held, wanted], &mut kept));
    let mut all = kept.sorted();
    // Who goes on with nothing in its hands does harm more often.
    all.sort_by_key(|it| it.0.pattern == LATE);
    let each = all.into_iter().flat_map(|(key, instances)| {
        let numbered = instances.into_iter().zip(0..);
        numbered.map(|(it, number)| candidate(trace, &key, &it, number)).collect::<Vec<_>>()
    });
    each.collect()
}

fn event(trace: &Trace, (thread, index): At) -> &Event {
    &trace.threads[usize::from(thread)].events[index as usize]
}

fn either_way(trace: &Trace, wait: At, wake: At, kept: &mut Kept) {
    if wait.0 != wake.0 {
        add(trace, EARLY, [wait, wake], kept);
        add(trace, LATE, [wake, wait], kept);
    }
}

/// Waits for conditions that a signal ended, and the first that may have.
fn conditions(trace: &Trace, field: Field<'_>, mut found: impl FnMut(At, At)) {
    let signals = signals(trace, field);
    for number in 0..trace.threads.len() {
        let Ok(thread) = u16::try_from(number) else { break };
        for wait in waits(trace, field, number, &signals) {
            let limited = is_limited(event(trace, (thread, wait.begin + 1)));
            if let Some(signal) = wait.by.first().filter(|_| limited) {
                found((thread, wait.end), *signal);
            }
        }
    }
}

/// Whether an event begins a wait for some time only.
fn is_limited(event: &Event) -> bool {
    matches!(event.op, Op::Wait { timed: true, .. })
}

/// Waits for semaphores, and the posts that let them go on: the first posts the first.
fn semaphores(trace: &Trace, mut found: impl FnMut(At, At)) {
    let mut posts: FxHashMap<u64, VecDeque<Option<At>>> = FxHashMap::default();
    each(trace, |at, event| match event.op {
        Op::Init { object, class: Object::Semaphore, detail } => {
            let first = usize::try_from(detail).unwrap_or(0).min(MOST);
            posts.insert(object, vec![None; first].into());
        }
        Op::SemPost { semaphore } => posts.entry(semaphore).or_default().push_back(Some(at)),
        Op::SemWait { semaphore, timed } => {
            let post = posts.entry(semaphore).or_default().pop_front().flatten();
            if let Some(post) = post.filter(|_| timed) {
                found(at, post);
            }
        }
        _ => {}
    });
}

/// With how much a semaphore begins, at most: more than that is nobody's to wait for.
const MOST: usize = 1024;

/// Locks that are asked for with a limit, and where another thread takes them last before that or
/// first after it.
fn locks(trace: &Trace, mut found: impl FnMut(At, At)) {
    let mut taken: FxHashMap<u64, Vec<(At, bool)>> = FxHashMap::default();
    each(trace, |at, event| {
        if let Op::Acquire { lock, how, .. } = event.op {
            taken.entry(lock).or_default().push((at, how == Outcome::Timed));
        }
    });
    let mut all: Vec<_> = taken.into_iter().collect();
    all.sort_unstable_by_key(|it| it.0);
    for (_, taken) in &all {
        for (number, (at, _)) in taken.iter().enumerate().filter(|it| it.1.1) {
            let others = |it: &&(At, bool)| it.0.0 != at.0;
            let before = taken[..number].iter().rev().find(others);
            let after = taken[number + 1..].iter().find(others);
            before.into_iter().chain(after).for_each(|it| found(it.0, *at));
        }
    }
}

/// Goes through all events in their order.
fn each(trace: &Trace, mut visit: impl FnMut(At, &Event)) {
    let numbers: FxHashMap<_, _> =
        trace.threads.iter().zip(0..=u16::MAX).map(|(it, number)| (it.id, number)).collect();
    for event in trace.merged() {
        if let Some(number) = numbers.get(&event.id.thread) {
            let index = usize::try_from(event.id.index).unwrap_or(usize::MAX);
            visit((*number, narrow(index)), &event);
        }
    }
}

fn add(trace: &Trace, pattern: u16, steps: [At; 2], kept: &mut Kept) {
    let sites = steps.iter().map(|it| event(trace, *it).site.0).collect();
    let key = Key { scope: norn_model::Scope::Single, pattern, sites, locked: 0 };
    let place = |at: &At| {
        let addr = object(&event(trace, *at).op);
        Place { thread: at.0, index: at.1, addr }
    };
    let cost = steps.iter().map(|it| u64::from(it.1)).sum();
    kept.add(key, Instance { apart: 0, cost, steps: steps.iter().map(place).collect() });
}

/// What is waited for.
fn object(op: &Op) -> u64 {
    match *op {
        Op::WaitAcquire { cond, .. } | Op::Signal { cond } | Op::Broadcast { cond } => cond,
        Op::SemWait { semaphore, .. } | Op::SemPost { semaphore } => semaphore,
        Op::Acquire { lock, .. } => lock,
        _ => 0,
    }
}

fn candidate(trace: &Trace, key: &Key, instance: &Instance, number: u32) -> Candidate {
    let (kind, accesses) = match key.pattern {
        EARLY => (CandidateKind::Timeout, [Access::Wait, Access::Signal]),
        LATE => (CandidateKind::LateWakeUp, [Access::Signal, Access::Wait]),
        _ => (CandidateKind::Timeout, [Access::Acquire, Access::Wait]),
    };
    let steps = instance.steps.iter().zip(accesses).zip(&key.sites);
    let step = |((place, access), site): ((&Place, Access), &u32)| {
        let event = event(trace, (place.thread, place.index)).id;
        let region = (event.index, event.index);
        Step { event, site: SiteId(*site), addr: place.addr, access, region }
    };
    Candidate {
        kind,
        adjacent: false,
        steps: steps.map(step).collect(),
        stuck: Vec::new(),
        scope: key.scope,
        instance: number,
    }
}

#[cfg(test)]
mod tests {
    use norn_model::text;

    use crate::{Options, Prediction, predict};

    /// The candidates, by their patterns and places.
    fn found(trace: &str) -> Vec<String> {
        let trace = text::parse(trace).unwrap_or_default();
        let options = Options { patterns: Vec::new(), deadlocks: false, ..Options::default() };
        let Prediction { candidates, .. } = predict(&trace, &options);
        let place = |it| trace.site(it).and_then(|it| it.place.clone()).unwrap_or_default();
        let words = |it: &norn_model::Candidate| {
            it.sites().fold(it.kind.name().to_owned(), |text, it| format!("{text} {}", place(it)))
        };
        candidates.iter().map(words).collect()
    }

    #[test]
    fn a_wait_that_was_woken_may_end_by_itself() {
        let trace = |how: &str| {
            format!(
                "T1 acq m\nT1 waitrel m\nT1 wait c m{how}\nT2 acq m\nT2 signal c @ signal\n\
                 T2 rel m\nT1 wake c m by T2:1 @ wake\nT1 rel m"
            )
        };
        assert_eq!(found(&trace(" timed")), ["timeout wake signal", "late-wake-up signal wake"]);
        assert!(found(&trace("")).is_empty());
    }

    #[test]
    fn a_wait_that_ended_by_itself_did_so_already() {
        let trace = "T1 acq m\nT1 waitrel m\nT1 wait c m timed\nT1 wake c m timeout\nT2 signal c";
        assert!(found(trace).is_empty());
    }

    #[test]
    fn each_post_lets_one_go_on() {
        let trace = "T0 init s semaphore 1\nT2 post s @ post\nT1 down s timed @ free\n\
                     T1 down s timed @ down\nT2 post s @ later";
        assert_eq!(found(trace), ["timeout down post", "late-wake-up post down"]);
    }

    #[test]
    fn a_lock_that_another_thread_has() {
        let trace = "T1 acq m @ one\nT1 rel m\nT2 acq m mutex timed @ limited\nT2 rel m\n\
                     T1 acq m @ other\nT1 rel m";
        assert_eq!(found(trace), ["timeout one limited", "timeout other limited"]);
    }
}
