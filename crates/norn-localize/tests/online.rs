//! Random runs: what the shadow memory of a running program collects is what the analysis of the
//! run's trace collects.
#![allow(clippy::unwrap_used, reason = "these are tests, the functions they share included")]

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering},
};

use norn_localize::{AccessKind, Collector};
use norn_model::{Event, EventId, Op, SiteId, StackId, ThreadId};
use norn_window::{Counter, LEAF_WORDS, Shadow, Shared, ThreadWord};
use proptest::prelude::*;

/// A step of a random run.
#[derive(Clone, Copy, Debug)]
enum Step {
    Access { write: bool, addr: u64, size: u64 },
    Alloc { block: u64, size: u64 },
    Free { block: u64 },
    Fork { child: u32 },
    Join { child: u32 },
}

/// The memory is at the border of two regions.
const START: u64 = (1 << 16) - 64;
const BLOCK: u64 = 24;
/// The first address of the code.
const CODE: u64 = 0x5555_5555_4000;

fn step() -> impl Strategy<Value = (u32, u32, Step)> {
    let size = prop::sample::select(vec![1u64, 2, 4, 4, 8, 8, 16, 24, 700]);
    let access = (any::<bool>(), 0u64..80, size).prop_map(|(write, at, size)| Step::Access {
        write,
        addr: START + at,
        size,
    });
    let block = (0u64..4).prop_map(|it| START + BLOCK * it);
    let step = prop_oneof![
        20 => access,
        1 => (block.clone(), 1..=BLOCK).prop_map(|(block, size)| Step::Alloc { block, size }),
        1 => block.prop_map(|block| Step::Free { block }),
        1 => (0u32..4).prop_map(|child| Step::Fork { child }),
        1 => (0u32..4).prop_map(|child| Step::Join { child }),
    ];
    (0u32..4, 0u32..6, step)
}

/// The events of a run, with the addresses that its frees get from the allocator.
fn events(steps: &[(u32, u32, Step)]) -> Vec<Event> {
    let mut indices = [0; 4];
    let event = |&(thread, site, step): &(u32, u32, Step)| {
        let index = &mut indices[thread as usize];
        *index += 1;
        let op = match step {
            Step::Access { write: true, addr, size } => {
                Op::Write { addr, size, value: None, volatile: false }
            }
            Step::Access { write: false, addr, size } => {
                Op::Read { addr, size, value: None, volatile: false }
            }
            Step::Alloc { block, size } => Op::Alloc { addr: block, size },
            Step::Free { block } => Op::Free { addr: block },
            Step::Fork { child } => Op::Fork(ThreadId(child)),
            Step::Join { child } => Op::Join(ThreadId(child)),
        };
        let id = EventId { thread: ThreadId(thread), index: *index };
        Event { id, seq: None, site: SiteId(site), stack: StackId(0), op }
    };
    steps.iter().map(event).collect()
}

/// A pattern: its kind, its sites, and the address of the variable in its first occurrence.
type Found = (&'static str, Vec<u64>, u64);

fn offline(events: &[Event], window: usize) -> (Vec<Found>, u64) {
    let mut collector = Collector::new(window);
    for event in events {
        collector.visit(event);
    }
    let collected = collector.finish();
    let found = collected.patterns.into_iter().map(|(pattern, first)| {
        let sites = pattern.sites.iter().map(|it| u64::from(it.0)).collect();
        (pattern.kind.name(), sites, first.addr)
    });
    (found.collect(), collected.sampled)
}

fn words(count: usize) -> Vec<AtomicU64> {
    (0..count).map(|_| AtomicU64::new(0)).collect()
}

fn online(events: &[Event], window: usize) -> (Vec<Found>, u64) {
    let shared = words(Shared::WORDS + 40_000);
    let (top, pool) = (words(2), words(4 * LEAF_WORDS));
    let taken = AtomicU64::new(0);
    let shared = Shared::new(&shared, |_| panic!("nobody else has a lock")).unwrap();
    shared.counter(Counter::Slots).store(window as u64, Ordering::Relaxed);
    let shadow = Shadow::new([&top, &pool], &taken, shared);
    shared.add_code(CODE, CODE + 64);
    let mut threads: Vec<_> = (0..4).filter_map(ThreadWord::new).collect();
    let mut blocks = BTreeMap::new();
    for (event, time) in events.iter().zip(1..) {
        let by = &mut threads[event.id.thread.0 as usize];
        let place = (CODE + u64::from(event.site.0), time);
        match event.op {
            Op::Read { addr, size, .. } => access(&shadow, *by, (addr, size), false, place),
            Op::Write { addr, size, .. } => access(&shadow, *by, (addr, size), true, place),
            Op::Alloc { addr, size } => {
                blocks.insert(addr, size);
                shadow.end_block(addr, size);
            }
            Op::Free { addr } => {
                if let Some(size) = blocks.remove(&addr) {
                    shadow.free_block(*by, (addr, size), place);
                }
            }
            Op::Fork(child) => *by = shadow.shared.fork(*by, child.0),
            Op::Join(child) => *by = shadow.shared.join(*by, child.0),
            _ => unreachable!(),
        }
    }
    shared.finish();
    assert_eq!(shared.counter(Counter::Missed).load(Ordering::Relaxed), 0);
    let mut found: Vec<_> = shared.patterns().collect();
    let key = |it: &norn_window::FoundPattern| {
        let sites: Vec<_> = it.accesses().iter().map(|it| shared.pc(it) - CODE).collect();
        (it.moment(), it.kind(), sites)
    };
    found.sort_by_key(key);
    let found = found.iter().map(|it| (it.kind().name(), key(it).2, it.addr)).collect();
    (found, shared.counter(Counter::Sampled).load(Ordering::Relaxed))
}

/// An access as a hook makes it: the fast path first.
fn access(
    shadow: &Shadow<'_>,
    by: ThreadWord,
    (addr, size): (u64, u64),
    write: bool,
    (pc, time): (u64, u64),
) {
    let memory = (usize::try_from(addr).unwrap(), u16::try_from(size.trailing_zeros()).unwrap());
    let is_small = size.is_power_of_two() && size <= 8;
    let code = usize::try_from(pc).unwrap();
    let sized = (memory.0, usize::try_from(size).unwrap());
    let is_done = is_small && shadow.access_private(by, memory, write, code)
        || shadow.is_kept(by, sized, write, code);
    if !is_done {
        let kind = if write { AccessKind::Write } else { AccessKind::Read };
        shadow.access(by, (addr, size), kind, (pc, time));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn both_collect_the_same_patterns(
        steps in prop::collection::vec(step(), 0..120),
        window in 3usize..8,
    ) {
        let events = events(&steps);
        prop_assert_eq!(online(&events, window), offline(&events, window));
    }
}
