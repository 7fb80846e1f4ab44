//! Random runs: the collector finds what a simple implementation finds, which has all accesses of
//! each byte in memory.

use std::collections::{BTreeMap, BTreeSet};

use norn_localize::{Access, AccessKind, Collector, Pattern, PatternKind, Window};
use norn_model::{Event, EventId, Op, SiteId, StackId, ThreadId};
use norn_window::{Ancestry, Link};
use proptest::prelude::*;

/// A step of a random run, on memory that begins at 64.
#[derive(Clone, Copy, Debug)]
enum Step {
    Access { write: bool, addr: u64, size: u64 },
    Alloc { block: u64 },
    Free { block: u64 },
}

const START: u64 = 64;
const BLOCK: u64 = 16;

fn step() -> impl Strategy<Value = (u32, u32, Step)> {
    let access = (any::<bool>(), 0u64..40, prop::sample::select(vec![1u64, 2, 4, 8, 24]))
        .prop_map(|(write, addr, size)| Step::Access { write, addr: START + addr, size });
    let block = (0u64..2).prop_map(|it| START + BLOCK * it);
    let step = prop_oneof![
        12 => access,
        1 => block.clone().prop_map(|block| Step::Alloc { block }),
        1 => block.prop_map(|block| Step::Free { block }),
    ];
    (0u32..3, 0u32..5, step)
}

fn run() -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec(step(), 0..60).prop_map(|steps| {
        let mut indices = [0; 3];
        let event = |(thread, site, step): (u32, u32, Step)| {
            let index = &mut indices[thread as usize];
            *index += 1;
            let op = match step {
                Step::Access { write: true, addr, size } => {
                    Op::Write { addr, size, value: None, volatile: false }
                }
                Step::Access { write: false, addr, size } => {
                    Op::Read { addr, size, value: None, volatile: false }
                }
                Step::Alloc { block } => Op::Alloc { addr: block, size: BLOCK },
                Step::Free { block } => Op::Free { addr: block },
            };
            let id = EventId { thread: ThreadId(thread), index: *index };
            Event { id, seq: None, site: SiteId(site), stack: StackId(0), op }
        };
        steps.into_iter().map(event).collect()
    })
}

/// Threads of which nothing is known.
struct Strangers;

impl Ancestry for Strangers {
    fn created(&self, _: u32) -> Option<Link> {
        None
    }
    fn joined(&self, _: u32) -> Option<Link> {
        None
    }
}

type Patterns = BTreeSet<(PatternKind, Vec<SiteId>)>;

/// The accesses of each byte, from one allocation of its memory to the next.
fn lives(events: &[Event]) -> Vec<Vec<(AccessKind, ThreadId, SiteId)>> {
    let mut open: BTreeMap<u64, Vec<_>> = BTreeMap::new();
    let mut closed = Vec::new();
    let mut allocated = BTreeSet::new();
    for event in events {
        let (thread, site) = (event.id.thread, event.site);
        match event.op {
            Op::Read { addr, size, .. } => (addr..addr + size)
                .for_each(|it| open.entry(it).or_default().push((AccessKind::Read, thread, site))),
            Op::Write { addr, size, .. } => (addr..addr + size)
                .for_each(|it| open.entry(it).or_default().push((AccessKind::Write, thread, site))),
            Op::Alloc { addr, size } => {
                allocated.insert(addr);
                closed.extend((addr..addr + size).filter_map(|it| open.remove(&it)));
            }
            Op::Free { addr } if allocated.remove(&addr) => {
                let known = open.range_mut(addr..addr + BLOCK);
                known.for_each(|it| it.1.push((AccessKind::Write, thread, site)));
            }
            _ => {}
        }
    }
    closed.extend(open.into_values());
    closed
}

/// Simplifies the accesses of a byte, and looks for patterns among the next ones after each.
fn naive(events: &[Event], window: usize) -> Patterns {
    let mut found = Patterns::new();
    for life in lives(events) {
        let mut simple: Vec<(AccessKind, ThreadId, SiteId)> = Vec::new();
        for access in life {
            let recent = simple.len().checked_sub(window).map(|it| &simple[it..]);
            let is_full_of_reads = |it: &[(AccessKind, ThreadId, SiteId)]| {
                it.contains(&access) && it.iter().all(|it| it.0 == AccessKind::Read)
            };
            let is_held = recent.is_some_and(is_full_of_reads);
            match simple.last_mut() {
                Some(last) if last.1 == access.1 => {
                    if !(last.0 == AccessKind::Write && access.0 == AccessKind::Read) {
                        *last = access;
                    }
                }
                _ if is_held => {}
                _ => simple.push(access),
            }
        }
        for at in 0..simple.len() {
            let rest = &simple[at..simple.len().min(at + window)];
            found.extend(beginning(rest));
        }
    }
    found
}

fn beginning(rest: &[(AccessKind, ThreadId, SiteId)]) -> Patterns {
    let first = rest[0];
    let mut found = Patterns::new();
    for last in 1..rest.len() {
        for remote in 1..last {
            let (remote, last) = (rest[remote], rest[last]);
            let kind = PatternKind::of_triple(first.0, remote.0, last.0);
            if let Some(kind) = kind
                && last.1 == first.1
                && remote.1 != first.1
            {
                found.insert((kind, vec![first.2, remote.2, last.2]));
            }
        }
    }
    if found.is_empty()
        && let Some(second) = rest.get(1)
    {
        let kind = PatternKind::of_pair(first.0, second.0);
        found.extend(kind.map(|it| (it, vec![first.2, second.2])));
    }
    found
}

fn collected(events: &[Event], window: usize) -> norn_localize::Collected {
    let mut collector = Collector::new(window);
    for event in events {
        collector.visit(event);
    }
    collector.finish()
}

fn key(pattern: &Pattern<SiteId>) -> (PatternKind, Vec<SiteId>) {
    (pattern.kind, pattern.sites.to_vec())
}

proptest! {
    #[test]
    fn windows_find_what_a_search_in_all_accesses_finds(events in run(), window in 2usize..8) {
        let collected = collected(&events, window);
        let found: Patterns = collected.patterns.iter().map(|it| key(&it.0)).collect();
        prop_assert_eq!(found.len(), collected.patterns.len());
        prop_assert_eq!(found, naive(&events, window));
    }

    #[test]
    fn occurrences_are_accesses_of_the_pattern(events in run()) {
        let by_id: BTreeMap<_, _> = events.iter().map(|it| (it.id, it)).collect();
        for (pattern, occurrence) in collected(&events, 5).patterns {
            let sites: Vec<_> = occurrence.events.iter().map(|it| by_id[it].site).collect();
            prop_assert_eq!(sites, pattern.sites.to_vec());
            let threads: Vec<_> = occurrence.events.iter().map(|it| it.thread).collect();
            prop_assert!(threads[0] != threads[1]);
            prop_assert!(threads.get(2).is_none_or(|it| *it == threads[0]));
        }
    }

    #[test]
    fn windows_keep_their_invariants(events in run(), size in 2usize..8) {
        let accesses = events.iter().zip(0..).map(|(event, time)| Access {
            epoch: 0,
            kind: if matches!(event.op, Op::Write { .. }) { AccessKind::Write } else { AccessKind::Read },
            site: event.site,
            event: event.id,
            time,
        });
        let mut window: Option<Window> = None;
        for access in accesses {
            match &mut window {
                None => window = Some(Window::new(access)),
                Some(it) => it.record(access, size, &Strangers, &mut |_| {}),
            }
            let slots = window.as_ref().map(Window::slots).unwrap_or_default();
            prop_assert!(slots.len() <= size);
            prop_assert!(slots.is_sorted_by_key(|it| it.time));
            let adjacent = |it: &[Access]| it[0].event.thread != it[1].event.thread;
            prop_assert!(slots.windows(2).all(adjacent));
            // A window that is full of reads does not take one of them again.
            let is_last = slots.last().is_some_and(|it| it.event.thread == access.event.thread);
            let same = |it: &Access| (it.event.thread, it.site) == (access.event.thread, access.site);
            let are_reads = slots.iter().all(|it| it.kind == AccessKind::Read);
            let is_held = slots.len() == size && are_reads && slots.iter().any(same);
            prop_assert!(is_last || is_held);
        }
    }
}
