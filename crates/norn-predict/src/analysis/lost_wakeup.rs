//! Lost wake-ups: all signals that could end a wait come before it begins, so that it never ends.
//!
//! A thread waits in this run and is woken. In another order, each other thread may have sent its
//! last signal before the wait begins; signals that depend on the end of the wait are not sent at
//! all. Whether the waiting thread would then still wait depends on what it
//! [checks](crate::wait_check).

use std::collections::BTreeMap;

use norn_model::{
    BugClass, CandidateKind, ConditionEffect, Effect, Explanation, Op, Scope, Trace, WokenBy,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{
    Analysis, AnalysisInfo, Found, KindInfo, Priority,
    deadlock::{LOST_WAKE_UP, candidate},
};
use crate::{
    Options,
    condition_wait::At,
    facts::Facts,
    order::Order,
    outline::narrow,
    top_k::{EventPlace, Instance, Key, TopK},
    wait_check::Checks,
};

/// Finds waits whose wake-ups can all come too early.
pub(super) struct LostWakeUp;

static INFO: AnalysisInfo = AnalysisInfo {
    class: BugClass::Deadlock,
    text: Explanation {
        name: "lost-wake-up",
        summary: "lost wake-up: all signals come before the wait, which then never ends",
        meaning: "A signal on a condition variable wakes only threads that already wait. If all signals \
                  that could end a wait come before it begins, the thread waits for ever.",
        example: "T1: if (!ready)              // not under the mutex\nT2: ready = 1; signal(cv)\n\
                  T1: wait(cv)                 // no thread signals any more",
        advice: "Change the condition with the mutex held, and check it with the mutex held in a loop \
                 around the wait: while (!ready) pthread_cond_wait(&cv, &m);",
    },
    kinds: &[KindInfo {
        kind: CandidateKind::LostWakeUp,
        title: "lost wake-up: all signals on {} can come before the wait",
        meaning: "The last signal of every thread comes before the wait begins, and the waiting thread does \
                  not check whether it still has to wait.",
        example: "T1: checks the condition\nT2: signal(cv)\nT1: wait(cv)   // for ever",
    }],
};

impl Analysis for LostWakeUp {
    fn info(&self) -> &'static AnalysisInfo {
        &INFO
    }

    fn candidates(&self, facts: &Facts<'_>, options: &Options, found: &mut Found) {
        let mut top = TopK::new(options.instances);
        WakeUps::new(facts.trace, facts.sync.orders[1]).search(|key, instance| {
            top.add(key, instance);
        });
        found.add(Priority::Stuck, top.sorted(), |key, instance, number| {
            candidate(facts.trace, CandidateKind::LostWakeUp, key, instance, number)
        });
    }
}

/// Searches for wake-ups that can be lost.
struct WakeUps<'a> {
    trace: &'a Trace,
    order: &'a Order,
    /// By condition and thread: the signals.
    signals: FxHashMap<u64, Vec<(u16, Vec<u32>)>>,
    waits: Vec<Wait>,
}

/// A wait that a signal ended.
#[derive(Clone, Copy, Debug)]
struct Wait {
    thread: u16,
    cond: u64,
    lock: u64,
    /// The event that releases the mutex.
    begin: u32,
    /// The event that ends the wait.
    end: u32,
}

impl<'a> WakeUps<'a> {
    fn new(trace: &'a Trace, order: &'a Order) -> Self {
        let (signals, waits) = (FxHashMap::default(), Vec::new());
        let mut wake_ups = WakeUps { trace, order, signals, waits };
        for (number, thread) in trace.threads.iter().enumerate() {
            let Ok(number) = u16::try_from(number) else { break };
            let mut begin = None;
            for (index, event) in thread.events.iter().enumerate() {
                let index = narrow(index);
                if let Op::WaitRelease { .. } = event.op {
                    begin = Some(index);
                }
                let Effect::Condition(effect) = event.op.effect() else { continue };
                match effect {
                    // A wait with a time limit ends without a signal.
                    ConditionEffect::Wait { timed: true, .. } => begin = None,
                    ConditionEffect::Wait { timed: false, .. } => {}
                    ConditionEffect::Wake { cond, lock, woken } => {
                        let woken = matches!(woken, WokenBy::Event(_) | WokenBy::OneOf(_));
                        if let Some(begin) = begin.take().filter(|_| woken) {
                            let wait = Wait { thread: number, cond, lock, begin, end: index };
                            wake_ups.waits.push(wait);
                        }
                    }
                    ConditionEffect::Signal { cond, .. } => wake_ups.signal(cond, number, index),
                }
            }
        }
        wake_ups
    }

    fn signal(&mut self, cond: u64, thread: u16, index: u32) {
        let signals = self.signals.entry(cond).or_default();
        match signals.last_mut() {
            Some((last, indices)) if *last == thread => indices.push(index),
            _ => signals.push((thread, vec![index])),
        }
    }

    /// Reports every wait whose wake-ups can all come too early.
    fn search(&self, mut found: impl FnMut(Key, Instance)) {
        let mut checks = Checks::new(self.trace);
        for (wait, last) in self.chosen() {
            let begin = (wait.thread, wait.begin);
            if !last.iter().any(|signal| checks.would_prevent(begin, wait.lock, *signal)) {
                let (key, instance) = self.instance(wait, &last);
                found(key, instance);
            }
        }
    }

    /// Of all waits at one site with the same last wake-ups: the first, which is the cheapest, and
    /// the last, which is the most likely, because the fewest wake-ups come earlier than recorded.
    fn chosen(&self) -> impl Iterator<Item = (&Wait, Vec<At>)> {
        let mut chosen: BTreeMap<(u16, u32, Vec<At>), (&Wait, &Wait)> = BTreeMap::new();
        for wait in &self.waits {
            let last = self.last(wait);
            if !last.is_empty() {
                let key = (wait.thread, self.site(wait.thread, wait.begin), last);
                chosen.entry(key).and_modify(|it| it.1 = wait).or_insert((wait, wait));
            }
        }
        chosen.into_iter().flat_map(|((.., signals), (first, last))| {
            let last = (first.begin != last.begin).then(|| (last, signals.clone()));
            [(first, signals)].into_iter().chain(last)
        })
    }

    /// The last wake-up of each other thread that does not depend on the end of the wait.
    fn last(&self, wait: &Wait) -> Vec<At> {
        let signals = self.signals.get(&wait.cond).map_or(&[][..], Vec::as_slice);
        let others = signals.iter().filter(|it| it.0 != wait.thread);
        let last = others.filter_map(|(thread, indices)| {
            let never = self.order.after(wait.thread, wait.end, *thread);
            let at = indices.partition_point(|it| *it < never).checked_sub(1)?;
            Some((*thread, indices[at]))
        });
        last.collect()
    }

    fn instance(&self, wait: &Wait, last: &[At]) -> (Key, Instance) {
        let Wait { thread, cond, lock, begin, end } = *wait;
        let place = |thread: u16, index: u32, addr: u64| EventPlace { thread, index, addr };
        let mut steps = SmallVec::from_iter([place(thread, end, cond)]);
        steps.extend(last.iter().map(|it| place(it.0, it.1, cond)));
        steps.push(place(thread, begin, lock));
        let sites = steps.iter().map(|it: &EventPlace| self.site(it.thread, it.index)).collect();
        let key = Key { scope: Scope::Single, pattern: LOST_WAKE_UP, sites, locked: 1 };
        let cost = steps.iter().map(|it| u64::from(it.index)).sum();
        (key, Instance { ordered: true, apart: 0, cost, steps })
    }

    fn site(&self, thread: u16, index: u32) -> u32 {
        self.trace.threads[usize::from(thread)].events[index as usize].site.0
    }
}
