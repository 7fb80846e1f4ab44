//! Memory reuse: memory that is freed and allocated again is another variable, and so is a thread's
//! stack whose memory becomes the stack of the next thread.

use norn_model::{BlockEffect, Effect, Event, Op, Trace};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::{access::Touch, outline::Outline, shared_filter::GRANULE};

/// The lifetimes of memory that was allocated more than once.
#[derive(Debug, Default)]
pub(crate) struct Lives(FxHashMap<u64, Vec<Life>>);

/// By granule that was allocated more than once: its accesses, split by lifetime. Several analyses need
/// them, and a block may have been allocated a hundred thousand times.
#[derive(Debug)]
pub(crate) struct SplitTouches(FxHashMap<u64, Split>);

/// The accesses to a granule, one lifetime after another.
#[derive(Debug)]
struct Split {
    touches: Vec<Touch>,
    /// By lifetime: the end of its accesses.
    ends: Vec<usize>,
}

impl SplitTouches {
    /// The accesses to one granule, by lifetime.
    pub(crate) fn of<'t>(&'t self, touches: &'t [Touch]) -> impl Iterator<Item = &'t [Touch]> {
        let split = touches.first().and_then(|it| self.0.get(&it.granule));
        let parts = split.into_iter().flat_map(Split::parts);
        parts.chain(Some(touches).filter(|_| split.is_none()))
    }
}

impl Split {
    fn parts(&self) -> impl Iterator<Item = &[Touch]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(from, to)| &self.touches[from..*to])
    }
}

/// A lifetime of memory as one variable, as sequence numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Life {
    pub(crate) born: u64,
    pub(crate) died: u64,
}

/// A block of memory and its lifetime.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) addr: u64,
    /// Its last byte.
    pub(crate) last: u64,
    pub(crate) life: Life,
    /// The events that freed it: number of the thread, from 0, and index. The stack of a thread is
    /// never freed.
    pub(crate) frees: SmallVec<[(u16, u32); 1]>,
}

impl Lives {
    /// The lifetimes of these granules, which are sorted; the blocks are sorted by address.
    pub(crate) fn new(blocks: &[Block], granules: &[u64]) -> Lives {
        let mut lives = FxHashMap::default();
        let mut blocks = blocks.iter().peekable();
        let mut here: Vec<&Block> = Vec::new();
        for &granule in granules {
            while let Some(block) = blocks.next_if(|it| it.addr / GRANULE <= granule) {
                here.push(block);
            }
            here.retain(|it| it.last / GRANULE >= granule);
            if here.len() > 1 {
                let mut all: Vec<_> = here.iter().map(|it| it.life).collect();
                all.sort_unstable_by_key(|it| it.born);
                lives.insert(granule, all);
            }
        }
        Lives(lives)
    }

    /// The lifetime that an access belongs to. Accesses have no number of their own, only bounds;
    /// of several lifetimes that fit, the last one is taken.
    fn of(&self, trace: &Trace, touch: &Touch) -> usize {
        let Some(lives) = self.0.get(&touch.granule) else { return 0 };
        let (after, before) = bounds(trace, touch);
        // They are sorted by birth, and memory may have been allocated a million times.
        let born = lives.partition_point(|it| it.born < before);
        let fitting = lives[..born].iter().rposition(|it| it.died > after);
        fitting.map_or(0, |at| at + 1)
    }

    /// Splits the accesses to the granules that were allocated more than once, which are sorted by granule.
    pub(crate) fn split(&self, trace: &Trace, touches: &[Touch]) -> SplitTouches {
        let granules = touches.par_chunk_by(|a, b| a.granule == b.granule);
        let several = granules.filter(|it| self.has(it[0].granule));
        SplitTouches(several.map(|it| (it[0].granule, self.split_granule(trace, it))).collect())
    }

    fn split_granule(&self, trace: &Trace, touches: &[Touch]) -> Split {
        let mut keyed: Vec<_> = touches.iter().map(|it| (self.of(trace, it), *it)).collect();
        // Stable: within a lifetime the accesses keep their order.
        keyed.sort_by_key(|it| it.0);
        let lives = keyed.chunk_by(|a, b| a.0 == b.0).scan(0, |end, it| {
            *end += it.len();
            Some(*end)
        });
        Split { ends: lives.collect(), touches: keyed.iter().map(|it| it.1).collect() }
    }

    /// Whether the granule was ever allocated twice.
    fn has(&self, granule: u64) -> bool {
        self.0.contains_key(&granule)
    }
}

/// The sequence numbers between which an access happened.
fn bounds(trace: &Trace, touch: &Touch) -> (u64, u64) {
    let events = &trace.threads[usize::from(touch.thread)].events;
    let (before, after) = events.split_at(touch.index as usize);
    let own = after.first().and_then(|it| it.seq);
    let from = before.iter().rev().find_map(|it| it.seq).unwrap_or(0);
    let to = after.iter().find_map(|it| it.seq).unwrap_or(u64::MAX);
    own.map_or((from, to), |it| (it, it))
}

/// Tracks the sequence numbers between which a thread's events happened.
#[derive(Debug)]
pub(crate) struct Times<'a> {
    events: &'a [Event],
    /// The last number so far.
    last: u64,
    /// The next event that may have a number.
    next: usize,
}

impl<'a> Times<'a> {
    pub(crate) fn new(events: &'a [Event]) -> Self {
        Times { events, last: 0, next: 0 }
    }

    /// The bounds of an event, which must not precede the previously requested one.
    pub(crate) fn at(&mut self, index: usize) -> (u64, u64) {
        while self.next < index {
            self.last = self.events[self.next].seq.unwrap_or(self.last);
            self.next += 1;
        }
        let numbered = self.events[self.next..].iter().position(|it| it.seq.is_some());
        self.next = numbered.map_or(self.events.len(), |it| self.next + it);
        let seq = self.events.get(self.next).and_then(|it| it.seq).unwrap_or(u64::MAX);
        if self.next == index { (seq, seq) } else { (self.last, seq) }
    }
}

/// All blocks, from the allocations and frees, sorted by address. Unmapping a part of a mapping is
/// ignored.
pub(crate) fn blocks(trace: &Trace, outlines: &[Outline]) -> Vec<Block> {
    let mut steps: Vec<_> = outlines
        .iter()
        .zip(&trace.threads)
        .enumerate()
        .flat_map(|(number, (outline, thread))| {
            let number = u16::try_from(number).unwrap_or(u16::MAX);
            let event = move |index: &u32| {
                let event = &thread.events[*index as usize];
                Some((event.seq?, (number, *index), event.op))
            };
            outline.lives.iter().filter_map(event)
        })
        .collect();
    steps.sort_unstable_by_key(|it| (it.0, it.1));
    let mut blocks = Blocks::default();
    for (seq, by, op) in steps {
        if let Effect::Block(BlockEffect::Allocated { addr, size }) = op.effect() {
            blocks.born(addr, addr, size, seq);
        } else if let Effect::Block(BlockEffect::Freed { addr }) = op.effect() {
            blocks.freed(addr, seq, by);
        } else if let Op::Begin { stack, size } = op {
            blocks.born(stack_of(by.0), stack, size, seq);
        } else if op == Op::End {
            blocks.died(stack_of(by.0), seq);
        }
    }
    blocks.done.sort_unstable_by_key(|it| (it.addr, it.life.born));
    blocks.done
}

/// A number that represents the stack of a thread.
fn stack_of(thread: u16) -> u64 {
    u64::MAX - u64::from(thread)
}

#[derive(Default)]
struct Blocks {
    done: Vec<Block>,
    /// By address, or by the number that represents a thread's stack: the last block.
    last: FxHashMap<u64, usize>,
}

impl Blocks {
    fn born(&mut self, key: u64, addr: u64, size: u64, born: u64) {
        self.died(key, born);
        if size == 0 {
            self.last.remove(&key);
            return;
        }
        let last = addr.saturating_add(size - 1);
        self.last.insert(key, self.done.len());
        let life = Life { born, died: u64::MAX };
        self.done.push(Block { addr, last, life, frees: SmallVec::new() });
    }

    fn died(&mut self, key: u64, died: u64) {
        if let Some(at) = self.last.get(&key) {
            let life = &mut self.done[*at].life;
            life.died = life.died.min(died);
        }
    }

    /// A block may be freed twice.
    fn freed(&mut self, key: u64, died: u64, by: (u16, u32)) {
        self.died(key, died);
        if let Some(at) = self.last.get(&key) {
            self.done[*at].frees.push(by);
        }
    }
}
