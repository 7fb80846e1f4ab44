//! Stolen wake-ups: another thread consumes what a thread was woken for, before that thread reads
//! it.
//!
//! A woken thread has to reacquire the mutex, and another thread may be faster. Between the write
//! that it was woken for and its first read after the wait, a third thread's critical section
//! changes the same variable:
//!
//! ```text
//! woken: wait      signaller: write x, signal      third: write x      woken: read x
//! ```
//!
//! A thread that waits in a loop repeats the read before the wait, and waits again; if the trace
//! shows this, there is no candidate. Otherwise it continues as if the condition still held. The
//! third thread's write is a candidate, wherever the recorded run has it, if the happens-before
//! order permits it in between. Three threads in this order are not a two-region pattern; but like
//! those it is an unexpected access in between: an atomicity violation.

use norn_model::{Access, BugClass, Candidate, CandidateKind, Explanation, Scope, Trace};
use rayon::prelude::*;
use smallvec::SmallVec;

use super::{Analysis, AnalysisInfo, Found, KindInfo, Priority, single_step};
use crate::{
    Options,
    access::Touch,
    condition_wait::{At, Wait},
    facts::{Facts, SyncFacts},
    pattern::Action,
    top_k::{EventPlace, Instance, Key, TopK},
};

/// Maximum number of writes of a third thread examined per wake-up, and of those that are kept.
const MAX_WRITES: usize = 64;
const MAX_SITES: usize = 4;

/// Finds stolen wake-ups.
pub(super) struct StolenWakeUp;

static INFO: AnalysisInfo = AnalysisInfo {
    class: BugClass::Atomicity,
    text: Explanation {
        name: "stolen-wake-up",
        summary: "stolen wake-up: another thread consumes what a thread was woken for",
        meaning: "A thread waits for a condition and is woken. Before it reacquires the mutex, a third \
                  thread acquires it and changes the signalled condition. The woken thread does not \
                  check the condition again and continues as if it held. This is an atomicity \
                  violation: a write falls between the signal and the read.",
        example: "if (queue_empty()) pthread_cond_wait(&cv, &m);   // `if` instead of `while`\n\
                  item = queue_take();                             // another consumer was faster",
        advice: "Wait in a loop that checks the condition: while (!condition) pthread_cond_wait(&cv, &m);",
    },
    kinds: &[KindInfo {
        kind: CandidateKind::StolenWakeUp,
        title: "stolen wake-up: another thread changes {} before the woken thread reads it",
        meaning: "Between a signal and the first read of the thread that it woke, a third thread changes \
                  what is read.",
        example: "T1: wait(cv)\nT2: write x, signal(cv)\nT3: write x\nT1: read  x",
    }],
};

impl Analysis for StolenWakeUp {
    fn info(&self) -> &'static AnalysisInfo {
        &INFO
    }

    fn candidates(&self, facts: &Facts<'_>, options: &Options, found: &mut Found) {
        let waits = facts.condition_waits();
        if waits.iter().all(Vec::is_empty) {
            return;
        }
        let search = Search { sync: facts.sync, waits };
        let empty = || TopK::new(options.instances);
        let each = facts.variables().fold(empty, |mut found, touches| {
            search.variable(touches, &mut found);
            found
        });
        let all = each.reduce(empty, TopK::merge).sorted();
        found.add(Priority::Stolen, all, |key, instance, number| {
            candidate(facts.trace, key, instance, number)
        });
    }
}

/// A search for stolen wake-ups.
#[derive(Debug)]
struct Search<'a> {
    sync: SyncFacts<'a>,
    /// By thread, in program order.
    waits: &'a [Vec<Wait>],
}

impl Search<'_> {
    fn variable(&self, touches: &[Touch], found: &mut TopK) {
        let threads: SmallVec<[&[Touch]; 8]> =
            touches.chunk_by(|a, b| a.thread == b.thread).collect();
        if threads.len() < 3 {
            return;
        }
        for mine in &threads {
            for (at, look) in mine.iter().enumerate() {
                let before = at.checked_sub(1).map(|it| &mine[it]);
                let by = self.wait(before, look).map_or(&[][..], |it| &it.by);
                for woken_for in by.iter().filter_map(|it| self.woken_for(*it, look, &threads)) {
                    let third = |it: &&&[Touch]| {
                        it[0].thread != look.thread && it[0].thread != woken_for.thread
                    };
                    threads
                        .iter()
                        .filter(third)
                        .for_each(|it| self.writes_between([&woken_for, look], it, found));
                }
            }
        }
    }

    /// The wait after which this is the first read of the variable, unless it repeats the thread's
    /// last read before the wait.
    fn wait(&self, before: Option<&Touch>, look: &Touch) -> Option<&Wait> {
        let waits = &self.waits[usize::from(look.thread)];
        let passed = waits.partition_point(|it| it.end < look.index);
        let wait = waits[..passed].last()?;
        let again = before.is_some_and(|it| it.index > wait.begin || it.site == look.site);
        let outline = &self.sync.outlines[usize::from(look.thread)];
        let together = outline.changes[outline.at(wait.end)].section == look.section;
        (look.kind.is(Action::Read) && together && !again).then_some(wait)
    }

    /// What the thread was woken for: the signaller's last write before the signal, or its write
    /// afterwards in the same critical section.
    fn woken_for(&self, (thread, signal): At, look: &Touch, threads: &[&[Touch]]) -> Option<Touch> {
        let theirs = threads.iter().find(|it| it[0].thread == thread)?;
        let outline = &self.sync.outlines[usize::from(thread)];
        let here = &outline.changes[outline.at(signal)];
        let inside = self.sync.sets.exclude(here.set, look.set);
        let is_reason = |it: &&Touch| {
            let near = it.section == here.section || !inside && it.index < signal;
            near && self.may_conflict(it, look)
        };
        let (earlier, later) = theirs.split_at(theirs.partition_point(|it| it.index < signal));
        earlier.iter().rev().find(is_reason).or_else(|| later.iter().find(is_reason)).copied()
    }

    /// Whether it writes what is read, under the same lock.
    fn may_conflict(&self, write: &Touch, look: &Touch) -> bool {
        let SyncFacts { sets, .. } = self.sync;
        write.kind.is(Action::Write) && write.overlaps(look) && sets.exclude(write.set, look.set)
    }

    /// Keeps the writes of another thread that can come between the write and the read: the first
    /// one at each site.
    fn writes_between(&self, [woken_for, look]: [&Touch; 2], theirs: &[Touch], found: &mut TopK) {
        let atomic = [woken_for, look].iter().any(|it| it.kind.is_atomic());
        let order = self.sync.orders[usize::from(atomic)];
        let thread = theirs[0].thread;
        let from = order.before(woken_for.thread, woken_for.index, thread);
        let to = order.after(look.thread, look.index, thread);
        let begin = theirs.partition_point(|it| it.index < from);
        let possible = theirs[begin..].iter().take_while(|it| it.index < to).take(MAX_WRITES);
        let mut sites: SmallVec<[u32; MAX_SITES]> = SmallVec::new();
        for it in possible.filter(|it| self.may_conflict(it, look)) {
            if sites.len() < MAX_SITES && !sites.contains(&it.site) {
                sites.push(it.site);
                add([woken_for, it, look], found);
            }
        }
    }
}

fn candidate(trace: &Trace, key: &Key, instance: &Instance, number: u32) -> Candidate {
    let accesses = [Access::Write, Access::Write, Access::Read];
    let steps = instance.steps.iter().zip(accesses);
    Candidate {
        kind: CandidateKind::StolenWakeUp,
        adjacent: false,
        steps: steps.map(|(place, access)| single_step(trace, place, access)).collect(),
        stuck: Vec::new(),
        scope: key.scope,
        instance: number,
    }
}

fn add(touches: [&Touch; 3], found: &mut TopK) {
    let locked = touches.iter().rev().fold(0, |bits, it| bits << 1 | u16::from(it.set != 0));
    let sites = touches.iter().map(|it| it.site).collect();
    let key = Key { scope: Scope::Single, pattern: 0, sites, locked };
    let place =
        |it: &&Touch| EventPlace { thread: it.thread, index: it.index, addr: it.addr(touches[2]) };
    let cost = touches.iter().map(|it| u64::from(it.index)).sum();
    found.add(
        key,
        Instance { ordered: true, apart: 0, cost, steps: touches.iter().map(place).collect() },
    );
}
