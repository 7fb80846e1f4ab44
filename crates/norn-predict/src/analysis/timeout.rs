//! Waits with a time limit that end before the awaited event, or just when it happens.
//!
//! A wait with a time limit that a wake-up ended may as well have timed out. Then its thread
//! continues, before the awaited event:
//!
//! ```text
//! waiter: wait … times out, continues    waker: lock, write x, unlock, signal
//! ```
//!
//! Or the event happens in the meantime, and the wait nevertheless reports a timeout:
//!
//! ```text
//! waiter: wait … times out      waker: write x, signal      waiter: continues
//! ```
//!
//! A timed lock request fails while another thread holds the lock.
//!
//! Only an execution can show how a thread handles a timeout: so there is a candidate for each wait
//! that was woken, regardless of variables.

use std::collections::VecDeque;

use norn_model::{
    Access, BugClass, Candidate, CandidateKind, Effect, Event, Explanation, Op, Outcome,
    SemaphoreEffect, Trace,
};
use rustc_hash::FxHashMap;

use super::{Analysis, AnalysisInfo, Found, KindInfo, Priority, single_step};
use crate::{
    Options,
    condition_wait::At,
    facts::Facts,
    outline::narrow,
    timed_receive::timed_receives,
    top_k::{EventPlace, Instance, Key, TopK},
};

/// The awaited event comes after the wait has timed out and the thread has continued.
const EARLY: u16 = 0;
/// It comes after the wait has timed out and before the thread continues.
const LATE: u16 = 1;
/// A lock is not acquired in time.
const LOCKED: u16 = 2;

/// Finds waits that can time out.
pub(super) struct Timeout;

static INFO: AnalysisInfo = AnalysisInfo {
    class: BugClass::Order,
    text: Explanation {
        name: "timeout",
        summary: "timeout: a wait with a time limit ends before its wake-up",
        meaning: "A wait with a time limit was woken in the recorded run. On a slower machine it could \
                  have timed out instead. Norn lets it time out, and checks how the program behaves.",
        example: "pthread_cond_timedwait(&cv, &m, &in_one_second);   // result ignored\n\
                  use(result);                                       // not there yet",
        advice: "Check the result of the wait and the condition itself, and handle the timeout.",
    },
    kinds: &[
        KindInfo {
            kind: CandidateKind::Timeout,
            title: "order violation: the wait for {} times out before its wake-up",
            meaning: "A wait times out, and the thread continues before the event that it waited for. With \
                      a lock, the thread continues without it.",
            example: "T1: timedwait(cv) times out\nT1: continues\nT2: write x, signal(cv)",
        },
        KindInfo {
            kind: CandidateKind::LateWakeUp,
            title: "order violation: the wait for {} times out while its wake-up comes",
            meaning: "A wait times out just when its wake-up comes: the condition holds, but the wait \
                      reports a timeout. A program that does not check the condition again takes success \
                      for a failure.",
            example: "T1: timedwait(cv) times out\nT2: write x, signal(cv)\nT1: continues",
        },
    ],
};

impl Analysis for Timeout {
    fn info(&self) -> &'static AnalysisInfo {
        &INFO
    }

    fn candidates(&self, facts: &Facts<'_>, options: &Options, found: &mut Found) {
        let trace = facts.trace;
        let new = || TopK::new(options.instances);
        let mut timed_out = new();
        let mut woken_late = new();
        conditions(facts, |wait, change, signal| {
            if wait.0 != signal.0 {
                add(trace, EARLY, [wait, change], &mut timed_out);
                add(trace, LATE, [signal, wait], &mut woken_late);
            }
        });
        semaphores(trace, |wait, post| {
            if wait.0 != post.0 {
                add(trace, EARLY, [wait, post], &mut timed_out);
                add(trace, LATE, [post, wait], &mut woken_late);
            }
        });
        timed_receives(trace, |wait, change| add(trace, EARLY, [wait, change], &mut timed_out));
        locks(trace, |held, wanted| add(trace, LOCKED, [held, wanted], &mut timed_out));
        let make = |key: &Key, instance: &Instance, number| candidate(trace, key, instance, number);
        found.add(Priority::TimedOut, timed_out.sorted(), make);
        found.add(Priority::WokenLate, woken_late.sorted(), make);
    }
}

fn event(trace: &Trace, (thread, index): At) -> &Event {
    &trace.threads[usize::from(thread)].events[index as usize]
}

/// Condition waits with a limit that a signal ended, with the change that the thread waited for, and the
/// first possible signal.
fn conditions(facts: &Facts<'_>, mut found: impl FnMut(At, At, At)) {
    for (waits, thread) in facts.condition_waits().iter().zip(0..=u16::MAX) {
        for wait in waits {
            let begin = event(facts.trace, (thread, wait.begin + 1));
            let Op::Wait { lock, timed: true, .. } = begin.op else { continue };
            if let Some(signal) = wait.by.first() {
                let change = change(facts.trace, (begin, lock), *signal);
                found((thread, wait.end), change, *signal);
            }
        }
    }
}

/// Where the waker begins to change what the thread waits for: its last critical section between the begin
/// of the wait and the signal, or else the signal. If the signal comes after the section, as it usually does in
/// Rust, a thread that only misses the signal finds the condition changed and continues without harm.
fn change(trace: &Trace, (begin, mutex): (&Event, u64), signal: At) -> At {
    let (thread, index) = signal;
    let before = &trace.threads[usize::from(thread)].events[..index as usize];
    let is_later = |it: &&Event| it.seq.is_none() || it.seq > begin.seq;
    let enters = |it: &&Event| matches!(it.op, Op::Acquire { lock, .. } if lock == mutex);
    let section = before.iter().rev().take_while(is_later).find(enters);
    let index = section.and_then(|it| usize::try_from(it.id.index).ok());
    index.map_or(signal, |it| (thread, narrow(it)))
}

/// Semaphore waits and the posts that ended them, matched in order.
fn semaphores(trace: &Trace, mut found: impl FnMut(At, At)) {
    let mut posts: FxHashMap<u64, VecDeque<Option<At>>> = FxHashMap::default();
    each(trace, |at, event| {
        let Effect::Semaphore(effect) = event.op.effect() else { return };
        match effect {
            SemaphoreEffect::Init { semaphore, value } => {
                let first = usize::try_from(value).unwrap_or(0).min(MAX_INITIAL_VALUE);
                posts.insert(semaphore, vec![None; first].into());
            }
            SemaphoreEffect::Post { semaphore } => {
                posts.entry(semaphore).or_default().push_back(Some(at));
            }
            SemaphoreEffect::Wait { semaphore, timed } => {
                let post = posts.entry(semaphore).or_default().pop_front().flatten();
                if let Some(post) = post.filter(|_| timed) {
                    found(at, post);
                }
            }
            SemaphoreEffect::Failed { .. } => {}
        }
    });
}

/// Maximum initial value of a semaphore; larger ones never make a thread wait.
const MAX_INITIAL_VALUE: usize = 1024;

/// Timed lock requests, and the last acquisition by another thread before or the first after them.
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

/// Visits all events in order.
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

fn add(trace: &Trace, pattern: u16, steps: [At; 2], found: &mut TopK) {
    let sites = steps.iter().map(|it| event(trace, *it).site.0).collect();
    let key = Key { scope: norn_model::Scope::Single, pattern, sites, locked: 0 };
    let place = |at: &At| {
        let op = event(trace, *at).op;
        // The first object of the end of a wait is the condition, not its mutex.
        let object = op.effect().objects().next();
        let addr = object.or(op.access().map(|it| it.addr)).unwrap_or(0);
        EventPlace { thread: at.0, index: at.1, addr }
    };
    let cost = steps.iter().map(|it| u64::from(it.1)).sum();
    found.add(
        key,
        Instance { ordered: true, apart: 0, cost, steps: steps.iter().map(place).collect() },
    );
}

fn candidate(trace: &Trace, key: &Key, instance: &Instance, number: u32) -> Candidate {
    let of = |place: &EventPlace| event(trace, (place.thread, place.index)).op;
    let awaited = match instance.steps.last().map(of) {
        Some(Op::Acquire { .. }) => Access::Acquire,
        Some(op) if op.access().is_some() => Access::Write,
        _ => Access::Signal,
    };
    let (kind, accesses) = match key.pattern {
        EARLY => (CandidateKind::Timeout, [Access::Wait, awaited]),
        LATE => (CandidateKind::LateWakeUp, [Access::Signal, Access::Wait]),
        _ => (CandidateKind::Timeout, [Access::Acquire, Access::Wait]),
    };
    let steps = instance.steps.iter().zip(accesses);
    Candidate {
        kind,
        adjacent: false,
        steps: steps.map(|(place, access)| single_step(trace, place, access)).collect(),
        stuck: Vec::new(),
        scope: key.scope,
        instance: number,
    }
}

#[cfg(test)]
mod tests {
    use norn_model::{BugClass, text};

    use crate::{Options, Prediction, predict};

    /// The candidates, by pattern and code location.
    fn found(trace: &str) -> Vec<String> {
        let trace = text::parse(trace).unwrap_or_default();
        let options = Options::default().only(&[BugClass::Order]);
        let Prediction { candidates, .. } = predict(&trace, &options);
        let place = |it| trace.site(it).and_then(|it| it.place.clone()).unwrap_or_default();
        let words = |it: &norn_model::Candidate| {
            it.sites().fold(it.kind.name().to_owned(), |text, it| format!("{text} {}", place(it)))
        };
        candidates.iter().map(words).collect()
    }

    #[test]
    fn a_wait_that_was_woken_may_time_out() {
        let trace = |how: &str| {
            format!(
                "T1 acq m\nT1 waitrel m\nT1 wait c m{how}\nT2 acq m @ lock\nT2 signal c @ signal\n\
                 T2 rel m\nT1 wake c m by T2:1 @ wake\nT1 rel m"
            )
        };
        assert_eq!(found(&trace(" timed")), ["timeout wake lock", "late-wake-up signal wake"]);
        assert!(found(&trace("")).is_empty());
    }

    #[test]
    fn a_wait_times_out_before_the_change_and_not_only_before_the_signal() {
        let trace = |change: &str| {
            format!(
                "T2 acq m @ unrelated\nT2 rel m\nT1 acq m\nT1 waitrel m\nT1 wait c m timed\n{change}\
                 T2 signal c @ signal\nT1 wake c m any 1 @ wake\nT1 rel m"
            )
        };
        let late = "late-wake-up signal wake";
        assert_eq!(found(&trace("T2 acq m @ lock\nT2 rel m\n")), ["timeout wake lock", late]);
        assert_eq!(found(&trace("")), ["timeout wake signal", late]);
    }

    #[test]
    fn a_receive_times_out_before_what_the_receiver_looks_at_is_changed() {
        let trace = |timed: &str, look: &str| {
            format!(
                "T1 r x 0 @ looks\nT2 r z 0\nT2 w y 1 @ other\nT2 w x 1 @ change\nT2 send 7 0 1 @ send\n\
                 T1 receive 7 0 1{timed} @ wait\nT1 r {look} 1 @ again"
            )
        };
        let timeouts = |timed, look| {
            let all = found(&trace(timed, look)).into_iter();
            all.filter(|it| it.starts_with("timeout")).collect::<Vec<_>>()
        };
        assert_eq!(timeouts(" timed", "x"), ["timeout wait change"]);
        assert_eq!(timeouts(" timed", "u"), ["timeout wait send"]);
        assert!(timeouts("", "x").is_empty());
    }

    #[test]
    fn a_wait_that_timed_out_is_no_candidate() {
        let trace = "T1 acq m\nT1 waitrel m\nT1 wait c m timed\nT1 wake c m timeout\nT2 signal c";
        assert!(found(trace).is_empty());
    }

    #[test]
    fn each_post_ends_one_wait() {
        let trace = "T0 init s semaphore 1\nT2 post s @ post\nT1 down s timed @ free\n\
                     T1 down s timed @ down\nT2 post s @ later";
        assert_eq!(found(trace), ["timeout down post", "late-wake-up post down"]);
    }

    #[test]
    fn a_lock_request_times_out_while_the_lock_is_held() {
        let trace = "T1 acq m @ one\nT1 rel m\nT2 acq m mutex timed @ limited\nT2 rel m\n\
                     T1 acq m @ other\nT1 rel m";
        assert_eq!(found(trace), ["timeout one limited", "timeout other limited"]);
    }
}
