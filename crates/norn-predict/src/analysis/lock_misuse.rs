//! Locks that are destroyed while a thread holds them, and condition variables while a thread waits on
//! them.
//!
//! The run destroys the object after the other thread is done with it. If nothing enforces that, the
//! destruction can come between the acquisition and the release of a lock, or between the begin of a
//! wait and the signal that ends it. What else is a misuse of a lock depends on the path of a thread
//! and not on the order of its events with those of others; the runtime detects it in every run.

use norn_model::{
    Access, BugClass, Candidate, CandidateKind, Explanation, Held, LockEffect, LockMode, Object,
    Op, Role, Scope, Thread,
};
use rustc_hash::FxHashMap;

use super::{Analysis, AnalysisInfo, Found, KindInfo, Priority, object_touch, single_step};
use crate::{
    Options,
    access::Touch,
    condition_wait::At,
    facts::Facts,
    interval::Direction,
    outline::narrow,
    top_k::{EventPlace, Instance, Key, TopK},
};

/// Finds locks that can be destroyed while they are in use.
pub(super) struct LockMisuse;

static INFO: AnalysisInfo = AnalysisInfo {
    class: BugClass::LockMisuse,
    text: Explanation {
        name: "lock-misuse",
        summary: "lock misuse: a lock is used in a way that POSIX leaves undefined",
        meaning: "A lock is released by a thread that does not hold it, locked again by its holder, \
                  destroyed while it is locked or waited on, used for a wait without being held, or held \
                  by a thread that ends. Norn predicts the destruction of objects in use, and detects the \
                  other kinds in every controlled run.",
        example: "T1: pthread_mutex_lock(&m);\nT2: pthread_mutex_destroy(&m);\nT1: pthread_mutex_unlock(&m);",
        advice: "Release a lock in the thread that took it, on every path, and destroy it after all \
                 threads that use it were joined.",
    },
    kinds: &[KindInfo {
        kind: CandidateKind::DestroyInUse,
        title: "lock misuse: {} is destroyed while it is in use",
        meaning: "A thread destroys a lock while another thread holds it, or a condition variable while \
                  another thread waits on it.",
        example: "T1: lock(m)\nT2: destroy(m)\nT1: unlock(m)",
    }],
};

/// The pattern of a lock that is destroyed while it is held.
const HELD: u16 = 0;
/// The pattern of a lock that is destroyed while it is held for reading.
const SHARED: u16 = 1;
/// The pattern of a condition variable that is destroyed while a thread waits on it.
const AWAITED: u16 = 2;

/// A use of an object that takes time: from one event of a thread to an event that ends it, which may be
/// of another thread.
#[derive(Clone, Copy, Debug)]
struct Span {
    pattern: u16,
    from: At,
    to: At,
}

impl Analysis for LockMisuse {
    fn info(&self) -> &'static AnalysisInfo {
        &INFO
    }

    fn candidates(&self, facts: &Facts<'_>, options: &Options, found: &mut Found) {
        let destroyed = destroyed(facts);
        if destroyed.is_empty() {
            return;
        }
        let spans = spans(facts, &destroyed);
        let mut in_use = TopK::new(options.instances);
        for (object, destroys) in &destroyed {
            for span in spans.get(object).into_iter().flatten() {
                if let Some(destroy) = next(facts, destroys, span, *object) {
                    add(facts, *object, span, destroy, &mut in_use);
                }
            }
        }
        found.add(Priority::Stuck, in_use.sorted(), |key, instance, number| {
            candidate(facts, key, instance, number)
        });
    }
}

/// The locks and condition variables that are destroyed, and where, in the order of addresses.
fn destroyed(facts: &Facts<'_>) -> Vec<(u64, Vec<At>)> {
    let mut all: FxHashMap<u64, Vec<At>> = FxHashMap::default();
    for ((thread, outline), number) in threads(facts).zip(facts.sync.outlines).zip(0..=u16::MAX) {
        for &index in &outline.objects {
            if let Op::Destroy { object, class } = thread.events[index as usize].op
                && matches!(class, Object::Mutex | Object::Spin | Object::RwLock | Object::Cond)
            {
                all.entry(object).or_default().push((number, index));
            }
        }
    }
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_unstable_by_key(|it| it.0);
    all
}

fn threads<'a>(facts: &Facts<'a>) -> impl Iterator<Item = &'a Thread> + use<'a> {
    facts.trace.threads.iter()
}

/// By object: the times for which threads hold it or wait on it.
fn spans(facts: &Facts<'_>, destroyed: &[(u64, Vec<At>)]) -> FxHashMap<u64, Vec<Span>> {
    let mut spans: FxHashMap<u64, Vec<Span>> = FxHashMap::default();
    let mut add = |object: u64, span: Span| {
        if destroyed.binary_search_by_key(&object, |it| it.0).is_ok() {
            spans.entry(object).or_default().push(span);
        }
    };
    for (thread, number) in threads(facts).zip(0..=u16::MAX) {
        if thread.role != Role::Handler {
            sections(thread, number, &mut add);
        }
    }
    for (waits, number) in facts.condition_waits().iter().zip(0..=u16::MAX) {
        for wait in waits {
            // The wait itself follows the release of its mutex.
            let from = (number, wait.begin + 1);
            let event = &facts.trace.threads[usize::from(number)].events[from.1 as usize];
            if let (Op::Wait { cond, .. }, [signal]) = (event.op, &wait.by[..]) {
                add(cond, Span { pattern: AWAITED, from, to: *signal });
            }
        }
    }
    spans
}

/// The times for which a thread holds locks.
fn sections(thread: &Thread, number: u16, add: &mut impl FnMut(u64, Span)) {
    let mut held = Held::default();
    let mut taken: FxHashMap<u64, (u16, At)> = FxHashMap::default();
    for (index, event) in thread.events.iter().enumerate() {
        let at = (number, narrow(index));
        match event.op.effect().lock() {
            Some(LockEffect::Acquire { lock, mode, .. }) => {
                let pattern = if mode == LockMode::Read { SHARED } else { HELD };
                if held.acquire(lock, mode) == 1 {
                    taken.insert(lock, (pattern, at));
                }
            }
            Some(LockEffect::Release { lock, .. }) => {
                if let (Some((_, 0)), Some((pattern, from))) =
                    (held.release(lock), taken.remove(&lock))
                {
                    add(lock, Span { pattern, from, to: at });
                }
            }
            Some(LockEffect::Failed { .. }) | None => {}
        }
    }
}

/// The first destruction after a use, if it is by another thread and can come before the end of the use.
fn next(facts: &Facts<'_>, destroys: &[At], span: &Span, object: u64) -> Option<At> {
    let time = |at: At| facts.timestamps().earliest(at.0, at.1);
    let end = time(span.to);
    let later = destroys.iter().filter(|it| time(**it) > end);
    let destroy = *later.min_by_key(|it| (time(**it), **it))?;
    let others = destroy.0 != span.from.0 && destroy.0 != span.to.0;
    let touch = |at: At| -> Touch { object_touch(facts, (at.0, at.1 as usize), object) };
    let possible = || {
        let (used, destroyed) = (touch(span.to), touch(destroy));
        facts.rules().interval(&used, &destroyed, Direction::Forward).possible
    };
    (others && possible()).then_some(destroy)
}

fn add(facts: &Facts<'_>, object: u64, span: &Span, destroy: At, found: &mut TopK) {
    let steps = [span.from, destroy, span.to];
    let event = |at: At| &facts.trace.threads[usize::from(at.0)].events[at.1 as usize];
    let sites = steps.iter().map(|it| event(*it).site.0).collect();
    let key = Key { scope: Scope::Single, pattern: span.pattern, sites, locked: 0 };
    let place = |at: &At| EventPlace { thread: at.0, index: at.1, addr: object };
    let cost = steps.iter().map(|it| u64::from(it.1)).sum();
    found.add(
        key,
        Instance { ordered: true, apart: 0, cost, steps: steps.iter().map(place).collect() },
    );
}

fn candidate(facts: &Facts<'_>, key: &Key, instance: &Instance, number: u32) -> Candidate {
    let accesses = match key.pattern {
        HELD => [Access::Acquire, Access::Destroy, Access::Release],
        SHARED => [Access::Share, Access::Destroy, Access::Release],
        _ => [Access::Wait, Access::Destroy, Access::Signal],
    };
    let steps = instance.steps.iter().zip(accesses);
    Candidate {
        kind: CandidateKind::DestroyInUse,
        adjacent: false,
        steps: steps.map(|(place, access)| single_step(facts.trace, place, access)).collect(),
        stuck: Vec::new(),
        scope: key.scope,
        instance: number,
    }
}

#[cfg(test)]
mod tests {
    use norn_model::{BugClass, text};

    use crate::{Options, predict};

    /// The candidates, by code location.
    fn found(trace: &str) -> Vec<String> {
        let trace = text::parse(trace).unwrap_or_default();
        let options = Options::default().only(&[BugClass::LockMisuse]);
        let place = |it| trace.site(it).and_then(|it| it.place.clone()).unwrap_or_default();
        let words = |it: &norn_model::Candidate| {
            it.sites().fold(it.kind.name().to_owned(), |text, it| format!("{text} {}", place(it)))
        };
        predict(&trace, &options).candidates.iter().map(words).collect()
    }

    #[test]
    fn a_lock_may_be_destroyed_before_its_release() {
        let trace = "T0 fork T1\nT1 acq m @ lock\nT1 rel m @ unlock\nT0 destroy m mutex @ destroy";
        assert_eq!(found(trace), ["destroy-in-use lock destroy unlock"]);
        let joined = "T0 fork T1\nT1 acq m\nT1 rel m\nT0 join T1\nT0 destroy m mutex";
        assert!(found(joined).is_empty());
    }

    #[test]
    fn a_condition_may_be_destroyed_before_its_signal() {
        let trace = "T1 acq m\nT1 waitrel m\nT1 wait c m @ wait\nT2 signal c @ signal\n\
                     T1 wake c m by T2:0\nT1 rel m\nT0 destroy c cond @ destroy";
        assert_eq!(found(trace), ["destroy-in-use wait destroy signal"]);
        let own = "T1 acq m\nT1 waitrel m\nT1 wait c m\nT2 signal c\nT1 wake c m by T2:0\n\
                   T1 rel m\nT2 destroy c cond";
        assert!(found(own).is_empty());
    }

    #[test]
    fn a_new_object_at_the_same_address_is_another_one() {
        let trace = "T1 acq m\nT1 rel m\nT1 destroy m mutex\nT2 init m mutex\nT2 acq m\n\
                     T2 rel m\nT2 destroy m mutex";
        assert!(found(trace).is_empty());
    }
}
