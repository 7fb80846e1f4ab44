//! Stolen wake-ups: what a thread was woken for is gone when it looks.
//!
//! A thread that is woken has to take the mutex again, and another one may be faster. Between the
//! write that it was woken for and its first look after the wait, a third thread's critical section
//! changes the same variable:
//!
//! ```text
//! woken: wait      signaller: write x, signal      third: write x      woken: read x
//! ```
//!
//! Who waits in a loop looks again at the place where it looked before, and waits once more; if the
//! trace shows that, there is no candidate. Otherwise it goes on with what it was told, which is no
//! longer so. Wherever the recorded run has the third thread's write, it is one if the order of
//! meetings lets it come in between. Three threads in this order are no pattern of two
//! regions; but like those it is about what should not come in between: an atomicity violation.

use std::borrow::Cow;

use norn_model::{Access, Candidate, CandidateKind, Op, Scope, SiteId, Step, Trace, WokenBy};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::{
    access::Touch,
    general::Field,
    keep::{Instance, Kept, Key, Place},
    outline::narrow,
    pattern::Deed,
};

/// Writes of a third thread that are looked at for one wake-up, and those of them that are kept.
const LOOKED_AT: usize = 64;
const MOST: usize = 4;
/// Signals that may have ended one wait, and are looked at.
const SIGNALS: usize = 4;

/// A thread, counted from 0, and one of its events.
type At = (u16, u32);

/// A wait that somebody ended.
#[derive(Clone, Debug)]
pub(crate) struct Wait {
    /// Where the mutex is given back, and where it is taken again.
    pub(crate) begin: u32,
    pub(crate) end: u32,
    /// The signals that may have ended it.
    pub(crate) by: SmallVec<[At; 1]>,
}

/// By condition, the signals and broadcasts in the order in which they were, with their numbers.
pub(crate) type Signals = FxHashMap<u64, Vec<(u64, At)>>;

/// A search for stolen wake-ups.
#[derive(Debug)]
pub(crate) struct Steals<'a> {
    trace: &'a Trace,
    field: Field<'a>,
    /// By thread, in its order.
    waits: Vec<Vec<Wait>>,
    instances: usize,
}

impl<'a> Steals<'a> {
    pub(crate) fn new(trace: &'a Trace, field: Field<'a>, instances: usize) -> Self {
        let signals = signals(trace, field);
        let waits = (0..trace.threads.len()).map(|it| waits(trace, field, it, &signals)).collect();
        Steals { trace, field, waits, instances }
    }

    /// Searches variables, each with its accesses by thread and in each thread's order.
    pub(crate) fn search<'t>(
        &self,
        variables: impl ParallelIterator<Item = Cow<'t, [Touch]>>,
    ) -> Vec<Candidate> {
        if self.waits.iter().all(Vec::is_empty) {
            return Vec::new();
        }
        let empty = || Kept::new(self.instances);
        let kept = variables.fold(empty, |mut kept, touches| {
            self.variable(&touches, &mut kept);
            kept
        });
        let all = kept.reduce(empty, Kept::merge).sorted().into_iter();
        let each = all.flat_map(|(key, instances)| {
            let numbered = instances.into_iter().zip(0..);
            numbered.map(|(it, number)| self.candidate(&key, &it, number)).collect::<Vec<_>>()
        });
        each.collect()
    }

    fn variable(&self, touches: &[Touch], kept: &mut Kept) {
        let threads: SmallVec<[&[Touch]; 8]> =
            touches.chunk_by(|a, b| a.thread == b.thread).collect();
        if threads.len() < 3 {
            return;
        }
        for mine in &threads {
            for (at, look) in mine.iter().enumerate() {
                let before = at.checked_sub(1).map(|it| &mine[it]);
                let by = self.wait(before, look).map_or(&[][..], |it| &it.by);
                for told in by.iter().filter_map(|it| self.told(*it, look, &threads)) {
                    let third =
                        |it: &&&[Touch]| it[0].thread != look.thread && it[0].thread != told.thread;
                    threads.iter().filter(third).for_each(|it| self.steal([&told, look], it, kept));
                }
            }
        }
    }

    /// The wait after which this is the first look at the variable, unless it was also where the
    /// thread had looked before it waited.
    fn wait(&self, before: Option<&Touch>, look: &Touch) -> Option<&Wait> {
        let waits = &self.waits[usize::from(look.thread)];
        let passed = waits.partition_point(|it| it.end < look.index);
        let wait = waits[..passed].last()?;
        let again = before.is_some_and(|it| it.index > wait.begin || it.site == look.site);
        let outline = &self.field.outlines[usize::from(look.thread)];
        let together = outline.changes[outline.at(wait.end)].section == look.section;
        (look.kind.is(Deed::Read) && together && !again).then_some(wait)
    }

    /// What the thread was woken for: what the signaller has written last before it signals, or writes
    /// afterwards in the same critical section.
    fn told(&self, (thread, signal): At, look: &Touch, threads: &[&[Touch]]) -> Option<Touch> {
        let theirs = threads.iter().find(|it| it[0].thread == thread)?;
        let outline = &self.field.outlines[usize::from(thread)];
        let here = &outline.changes[outline.at(signal)];
        let inside = self.field.sets.exclude(here.set, look.set);
        let tells = |it: &&Touch| {
            let near = it.section == here.section || !inside && it.index < signal;
            near && self.may_meet(it, look)
        };
        let (earlier, later) = theirs.split_at(theirs.partition_point(|it| it.index < signal));
        earlier.iter().rev().find(tells).or_else(|| later.iter().find(tells)).copied()
    }

    /// Whether it writes what is looked at, under the same lock.
    fn may_meet(&self, write: &Touch, look: &Touch) -> bool {
        let Field { sets, .. } = self.field;
        write.kind.is(Deed::Write) && write.overlaps(look) && sets.exclude(write.set, look.set)
    }

    /// Keeps what another thread can do between being told and looking: the first write at each place.
    fn steal(&self, [told, look]: [&Touch; 2], theirs: &[Touch], kept: &mut Kept) {
        let atomic = [told, look].iter().any(|it| it.kind.is_atomic());
        let order = self.field.orders[usize::from(atomic)];
        let thread = theirs[0].thread;
        let from = order.before(told.thread, told.index, thread);
        let to = order.after(look.thread, look.index, thread);
        let begin = theirs.partition_point(|it| it.index < from);
        let possible = theirs[begin..].iter().take_while(|it| it.index < to).take(LOOKED_AT);
        let mut sites: SmallVec<[u32; MOST]> = SmallVec::new();
        for it in possible.filter(|it| self.may_meet(it, look)) {
            if sites.len() < MOST && !sites.contains(&it.site) {
                sites.push(it.site);
                add([told, it, look], kept);
            }
        }
    }

    fn candidate(&self, key: &Key, instance: &Instance, number: u32) -> Candidate {
        let accesses = [Access::Write, Access::Write, Access::Read];
        let steps = instance.steps.iter().zip(accesses).zip(&key.sites);
        let step = |((place, access), site): ((&Place, Access), &u32)| {
            let events = &self.trace.threads[usize::from(place.thread)].events;
            let event = events[place.index as usize].id;
            let region = (event.index, event.index);
            Step { event, site: SiteId(*site), addr: place.addr, access, region }
        };
        Candidate {
            kind: CandidateKind::StolenWakeUp,
            adjacent: false,
            steps: steps.map(step).collect(),
            stuck: Vec::new(),
            scope: key.scope,
            instance: number,
        }
    }
}

fn add(touches: [&Touch; 3], kept: &mut Kept) {
    let locked = touches.iter().rev().fold(0, |bits, it| bits << 1 | u16::from(it.set != 0));
    let sites = touches.iter().map(|it| it.site).collect();
    let key = Key { scope: Scope::Single, pattern: 0, sites, locked };
    let place =
        |it: &&Touch| Place { thread: it.thread, index: it.index, addr: it.addr(touches[2]) };
    let cost = touches.iter().map(|it| u64::from(it.index)).sum();
    kept.add(key, Instance { apart: 0, cost, steps: touches.iter().map(place).collect() });
}

/// All signals and broadcasts.
pub(crate) fn signals(trace: &Trace, field: Field<'_>) -> Signals {
    let mut signals = Signals::default();
    for (number, thread) in trace.threads.iter().enumerate() {
        let Ok(number) = u16::try_from(number) else { break };
        for &index in &field.outlines[usize::from(number)].meetings {
            let event = &thread.events[index as usize];
            if let (Op::Signal { cond } | Op::Broadcast { cond }, Some(seq)) = (event.op, event.seq)
            {
                signals.entry(cond).or_default().push((seq, (number, index)));
            }
        }
    }
    #[expect(clippy::iter_over_hash_type, reason = "each is sorted by itself")]
    for it in signals.values_mut() {
        it.sort_unstable();
    }
    signals
}

/// The waits of a thread that a signal ended. If it is not known which, it was one that came after
/// the wait began.
pub(crate) fn waits(
    trace: &Trace,
    field: Field<'_>,
    number: usize,
    signals: &Signals,
) -> Vec<Wait> {
    let events = &trace.threads[number].events;
    let wait = |[begin, end]: &[u32; 2]| {
        let (first, last) = (&events[*begin as usize], &events[*end as usize]);
        let by = match last.op {
            Op::WaitAcquire { woken: WokenBy::Event(signal), .. } => {
                let thread = trace.threads.binary_search_by_key(&signal.thread, |it| it.id).ok()?;
                let index = narrow(usize::try_from(signal.index).ok()?);
                SmallVec::from_elem((u16::try_from(thread).ok()?, index), 1)
            }
            Op::WaitAcquire { cond, woken: WokenBy::OneOf(_), .. } => {
                let all = signals.get(&cond)?;
                let from = all.partition_point(|it| Some(it.0) < first.seq);
                let since = all[from..].iter().take_while(|it| Some(it.0) < last.seq);
                since.map(|it| it.1).take(SIGNALS).collect()
            }
            _ => return None,
        };
        Some(Wait { begin: *begin, end: *end, by })
    };
    field.outlines[number].bounds.array_windows().filter_map(wait).collect()
}
