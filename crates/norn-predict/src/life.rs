//! One address, several variables: memory that is freed and given out again is another variable,
//! and so is the stack of a thread whose memory becomes the stack of the next one.

use norn_model::{Op, Trace};
use rustc_hash::FxHashMap;

use crate::{access::Touch, outline::Outline, sieve::GRANULE};

/// The lives of memory that was given out more than once.
#[derive(Debug, Default)]
pub(crate) struct Lives(FxHashMap<u64, Vec<Life>>);

/// From when to when some memory was one variable, as sequence numbers.
#[derive(Clone, Copy, Debug)]
struct Life {
    born: u64,
    died: u64,
}

/// A block of memory and its life.
#[derive(Clone, Copy, Debug)]
struct Block {
    first: u64,
    last: u64,
    life: Life,
}

impl Lives {
    /// The lives of these granules, which are sorted.
    pub(crate) fn new(trace: &Trace, outlines: &[Outline], granules: &[u64]) -> Lives {
        let mut blocks = blocks(trace, outlines);
        blocks.sort_unstable_by_key(|it| (it.first, it.life.born));
        let mut lives = FxHashMap::default();
        let mut blocks = blocks.into_iter().peekable();
        let mut here: Vec<Block> = Vec::new();
        for &granule in granules {
            while let Some(block) = blocks.next_if(|it| it.first <= granule) {
                here.push(block);
            }
            here.retain(|it| it.last >= granule);
            if here.len() > 1 {
                let mut all: Vec<_> = here.iter().map(|it| it.life).collect();
                all.sort_unstable_by_key(|it| it.born);
                lives.insert(granule, all);
            }
        }
        Lives(lives)
    }

    /// In which life of its memory an access falls. Accesses have no number of their own, only
    /// bounds; of several lives that fit we take the last.
    pub(crate) fn of(&self, trace: &Trace, touch: &Touch) -> usize {
        let Some(lives) = self.0.get(&touch.granule) else { return 0 };
        let (after, before) = bounds(trace, touch);
        let fits = |it: &&Life| it.born < before && it.died > after;
        let fitting = lives.iter().rposition(|it| fits(&it));
        fitting.map_or(0, |at| at + 1)
    }

    /// Whether the granule was ever given out twice.
    pub(crate) fn has(&self, granule: u64) -> bool {
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

/// All blocks, from the events at which memory comes and goes, in their order.
fn blocks(trace: &Trace, outlines: &[Outline]) -> Vec<Block> {
    let mut steps: Vec<_> = outlines
        .iter()
        .zip(&trace.threads)
        .flat_map(|(outline, thread)| {
            let events = outline.lives.iter().map(|it| &thread.events[*it as usize]);
            events.filter_map(|it| Some((it.seq?, it.id, it.op)))
        })
        .collect();
    steps.sort_unstable_by_key(|it| (it.0, it.1));
    let mut blocks = Blocks::default();
    for (seq, id, op) in steps {
        match op {
            Op::Alloc { addr, size } | Op::Map { addr, size } => blocks.born(addr, addr, size, seq),
            Op::Free { addr } | Op::Unmap { addr, .. } => blocks.died(addr, seq),
            Op::Begin { stack, size } => {
                blocks.born(u64::MAX - u64::from(id.thread.0), stack, size, seq);
            }
            Op::End => blocks.died(u64::MAX - u64::from(id.thread.0), seq),
            _ => {}
        }
    }
    blocks.done
}

#[derive(Default)]
struct Blocks {
    done: Vec<Block>,
    /// By address, or by a number that stands for a thread's stack, which are alive.
    alive: FxHashMap<u64, usize>,
}

impl Blocks {
    fn born(&mut self, key: u64, addr: u64, size: u64, born: u64) {
        self.died(key, born);
        if size == 0 {
            return;
        }
        let last = addr.saturating_add(size - 1) / GRANULE;
        self.alive.insert(key, self.done.len());
        self.done.push(Block { first: addr / GRANULE, last, life: Life { born, died: u64::MAX } });
    }

    fn died(&mut self, key: u64, died: u64) {
        if let Some(at) = self.alive.remove(&key) {
            self.done[at].life.died = died;
        }
    }
}
