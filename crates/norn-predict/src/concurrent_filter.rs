//! Finds memory that threads access concurrently: two accesses, one of them a write, that no
//! synchronisation orders in every schedule.
//!
//! After Flanagan and Freund (*FastTrack*, PLDI 2009): of each granule the last write and the last
//! read are stored, as long as these follow each other in the order. Where we differ: locks order
//! nothing, since critical sections can be exchanged. Of several concurrent reads only one is
//! stored, and a later write counts as concurrent with the others. Two granules may share an entry of
//! the table. Both only make more memory seem concurrent.

use norn_model::{BlockEffect, Effect, Event, Op};

use crate::{
    granule_history::{GranuleHistory, Representatives},
    order::Order,
    shared_filter::{GRANULE, granules},
};

/// Minimum and maximum size of the table, as powers of two.
const SMALLEST: u32 = 10;
const LARGEST: u32 = 24;
/// Maximum number of granules of an allocated block that begin a new life.
const MAX_GRANULES: u64 = 1 << 16;

/// An access: the number of its thread, from 1, and how many events of the skeleton the thread had
/// executed before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stamp {
    thread: u16,
    time: u32,
}

/// The last accesses to a granule, in 20 bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    write_time: u32,
    read_time: u32,
    write_thread: u16,
    read_thread: u16,
    /// A part of the granule's hash; 0 if there was no access. The lowest bits are flags.
    tag: u32,
    history: GranuleHistory,
}

/// There are reads that are concurrent with the last one.
const OTHER_READS: u32 = 1;
/// Threads access it concurrently.
const CONCURRENT: u32 = 2;
/// Several granules share the entry.
const SEVERAL: u32 = 4;
/// Enough other granules have the same history.
const REPEATED: u32 = 8;
const FLAGS: u32 = OTHER_READS | CONCURRENT | SEVERAL | REPEATED;

/// The memory that threads access concurrently.
#[derive(Debug)]
pub(crate) struct ConcurrentFilter {
    table: Vec<Entry>,
    shift: u32,
}

impl ConcurrentFilter {
    /// Sized for a run with this many events.
    pub(crate) fn new(events: u64) -> ConcurrentFilter {
        let bits = events.next_power_of_two().ilog2().clamp(SMALLEST, LARGEST);
        ConcurrentFilter { table: vec![Entry::default(); 1 << bits], shift: u64::BITS - bits }
    }

    /// Notes an event, in recorded order. Its thread is numbered from 0 and has executed `passed`
    /// events of the skeleton before.
    #[inline]
    pub(crate) fn step(&mut self, order: &Order, thread: u16, passed: u32, event: &Event) {
        let now = Stamp { thread: thread + 1, time: passed };
        if let Op::Read { addr, size, .. } = event.op {
            for granule in granules(addr, size) {
                let entry = self.entry(granule);
                entry.read(order, now);
                entry.history.add(thread, passed, event, (addr, size));
            }
        } else if let Op::Write { addr, size, .. } = event.op {
            for granule in granules(addr, size) {
                let entry = self.entry(granule);
                entry.write(order, now);
                entry.history.add(thread, passed, event, (addr, size));
            }
        } else if let Op::Atomic { addr, size, .. } = event.op {
            // What an atomic operation does may depend on the schedule.
            for granule in granules(addr, size.into()) {
                let entry = self.entry(granule);
                entry.write(order, now);
                entry.history.add(thread, passed, event, (addr, size.into()));
            }
        } else if let Effect::Block(BlockEffect::Allocated { addr, size }) = event.op.effect() {
            self.renew(addr, size);
        } else if let Op::Begin { stack, size } = event.op {
            // Stacks grow downwards, and most of their memory is never used.
            let used = size.min(MAX_GRANULES * GRANULE);
            self.renew(stack.saturating_add(size - used), used);
        }
    }

    /// Memory that is allocated is another variable than before.
    fn renew(&mut self, addr: u64, size: u64) {
        let first = addr / GRANULE;
        let count = size.div_ceil(GRANULE).min(MAX_GRANULES);
        for granule in first..first.saturating_add(count) {
            let place = self.place(granule);
            let entry = &mut self.table[place];
            // What other granules have in the entry must stay.
            if entry.tag & (!FLAGS | SEVERAL) == tag(granule) {
                let (tag, history) = (entry.tag & !OTHER_READS, entry.history);
                *entry = Entry { tag, history, ..Entry::default() };
            }
        }
    }

    /// Marks the granules that are like others, after the last event.
    pub(crate) fn mark_repeated(&mut self) {
        let used = self.table.iter().filter(|it| it.tag != 0).count();
        let mut representatives = Representatives::new(used);
        for entry in self.table.iter_mut().filter(|it| it.tag != 0) {
            if !representatives.keeps(entry.history) {
                entry.tag |= REPEATED;
            }
        }
    }

    /// Whether enough other granules have the same history.
    #[inline]
    pub(crate) fn is_repeated(&self, granule: u64) -> bool {
        self.table[self.place(granule)].tag & REPEATED != 0
    }

    /// Whether threads access a granule concurrently.
    #[inline]
    pub(crate) fn is_concurrent(&self, granule: u64) -> bool {
        self.table[self.place(granule)].tag & CONCURRENT != 0
    }

    #[inline]
    fn entry(&mut self, granule: u64) -> &mut Entry {
        let place = self.place(granule);
        let (entry, tag) = (&mut self.table[place], tag(granule));
        match entry.tag & !FLAGS {
            0 => entry.tag = tag,
            known if known == tag => {}
            _ => entry.tag |= SEVERAL,
        }
        entry
    }

    #[inline]
    fn place(&self, granule: u64) -> usize {
        // Fibonacci hashing: the high bits of the product depend on all bits of the granule.
        let hash = granule.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift;
        usize::try_from(hash).unwrap_or(0)
    }
}

impl Entry {
    #[inline]
    fn read(&mut self, order: &Order, now: Stamp) {
        if !self.last_write().is_before(order, now) {
            self.tag |= CONCURRENT;
        } else if self.last_read().is_before(order, now) {
            (self.read_thread, self.read_time) = (now.thread, now.time);
        } else {
            self.tag |= OTHER_READS;
        }
    }

    #[inline]
    fn write(&mut self, order: &Order, now: Stamp) {
        let reads = self.last_read().is_before(order, now) && self.tag & OTHER_READS == 0;
        if reads && self.last_write().is_before(order, now) {
            (self.write_thread, self.write_time) = (now.thread, now.time);
            self.read_thread = 0;
        } else {
            self.tag |= CONCURRENT;
        }
    }

    fn last_write(&self) -> Stamp {
        Stamp { thread: self.write_thread, time: self.write_time }
    }

    fn last_read(&self) -> Stamp {
        Stamp { thread: self.read_thread, time: self.read_time }
    }
}

/// Tells most granules that share an entry apart.
#[inline]
fn tag(granule: u64) -> u32 {
    let hash = granule.wrapping_mul(0xd6e8_feb8_6659_fd93) >> u32::BITS;
    u32::try_from(hash).unwrap_or(0) & !FLAGS | (FLAGS + 1)
}

impl Stamp {
    /// Whether an earlier access comes before a later one in every schedule.
    #[inline]
    fn is_before(self, order: &Order, now: Stamp) -> bool {
        if self.thread == 0 || self.thread == now.thread {
            return true;
        }
        // The access comes before the next event of the skeleton of its thread, if that does.
        let last = now.time.checked_sub(1);
        last.is_some_and(|it| self.time < order.before(now.thread - 1, it, self.thread - 1))
    }
}

#[cfg(test)]
mod tests {
    use norn_model::{Trace, text};

    use super::*;
    use crate::{
        facts::outlines, order::SyncEdges, relevance::Relevance, shared_filter::SharedFilter,
    };

    /// Whether the variable `x` at 0x1000 is accessed concurrently.
    fn is_concurrent(text: &str) -> bool {
        let trace = text::parse(text).unwrap();
        let mut skeleton = trace.clone();
        for thread in &mut skeleton.threads {
            thread.events.retain(Relevance::is_skeleton);
        }
        let (outlines, _) = outlines(&skeleton, &SharedFilter::new(0));
        let order = Order::new(&skeleton, &outlines, SyncEdges::Forced);
        let mut filter = ConcurrentFilter::new(0);
        let mut passed = vec![0; trace.threads.len()];
        let number = |trace: &Trace, event: &Event| {
            trace.threads.iter().position(|it| it.id == event.id.thread).unwrap()
        };
        for event in trace.merged() {
            let thread = number(&trace, &event);
            filter.step(&order, u16::try_from(thread).unwrap(), passed[thread], &event);
            passed[thread] += u32::from(Relevance::is_skeleton(&event));
        }
        filter.is_concurrent(0x1000 / GRANULE)
    }

    #[test]
    fn what_a_fork_or_join_orders_is_not_concurrent() {
        let run = |ours: &str| {
            is_concurrent(&format!(
                "order global\nT0 w 0x1000\nT0 fork T1\n{ours}\nT1 begin\nT1 r 0x1000\nT1 w 0x1000\n\
                 T1 end\nT0 join T1\nT0 r 0x1000"
            ))
        };
        assert!(!run("T0 r 0x2000"));
        assert!(run("T0 r 0x1000"));
        assert!(run("T0 w 0x1000"));
    }

    #[test]
    fn an_allocation_renews_nothing_but_its_own_memory() {
        // So many granules that every entry of the table is shared.
        let block = |it| format!("T0 alloc {:#x} 4096", 0x10_0000 + it * 4096);
        let blocks = (0..64).map(block).collect::<Vec<_>>().join("\n");
        assert!(is_concurrent(&format!("order global\nT1 w 0x1000\n{blocks}\nT2 w 0x1000")));
    }

    #[test]
    fn entries_are_small() {
        assert_eq!(size_of::<Entry>(), 20);
    }

    #[test]
    fn locks_order_nothing() {
        let section = |it: &str| format!("{it} acq m\n{it} w 0x1000\n{it} rel m\n");
        assert!(is_concurrent(&format!("order global\n{}{}", section("T1"), section("T2"))));
    }

    #[test]
    fn memory_that_is_allocated_again_is_another_variable() {
        let life = |it: &str| format!("{it} alloc 0x1000 16\n{it} w 0x1000\n{it} free 0x1000\n");
        assert!(!is_concurrent(&format!("order global\n{}{}", life("T1"), life("T2"))));
    }
}
