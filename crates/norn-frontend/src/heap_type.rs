//! The types of heap blocks.
//!
//! An allocation has no type. The code that accesses a block does: it reaches the block through
//! pointers, whose types debug information has ([`Symbols::accessed_objects`]). All blocks that were
//! allocated by the same calls and have the same size are taken to be of the same types; each access to one
//! of them contributes an object at some offset. A type of the program that fills the block comes
//! first, then one that it is an array of, then one somewhere in it, as in a node of a container; types
//! of libraries and plain numbers are used for the bytes that no type of the program covers.

use std::{cmp::Reverse, collections::BTreeMap};

use norn_model::{Event, Frame, MemoryAccess, Op, SiteId, StackId};
use norn_trace::Trace;
use rustc_hash::FxHashMap;

use crate::{Memory, ObjectType, Operation, Owner, Region, Symbols};

/// Maximum number of events that are examined.
const MAX_EVENTS: usize = 4_000_000;
/// Maximum number of accesses that are examined of those by one call stack.
const MAX_ACCESSES: u32 = 64;

/// The blocks of an allocation: the calls that led to it, innermost first, and the size.
type Allocation = (Vec<u64>, u64);
/// The code of an access.
type Access = (SiteId, StackId, Operation);
/// An allocation by its numbers in the trace, and an offset.
type Accessed = (SiteId, StackId, u64, u64);

/// The types of the heap blocks of a run.
#[derive(Debug, Default)]
pub struct HeapTypes {
    /// The objects in the blocks of each allocation, best first.
    objects: BTreeMap<Allocation, Vec<Placed>>,
}

/// Consecutive objects of a type in a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) of: ObjectType,
    /// Where the first begins.
    pub(crate) start: u64,
    pub(crate) count: u64,
    /// How many accesses say so. Debug information of optimised code is not always right.
    votes: u32,
}

impl Placed {
    /// One object that is a whole block.
    pub(crate) fn whole(of: ObjectType) -> Placed {
        Placed { of, start: 0, count: 1, votes: 1 }
    }

    pub(crate) fn covers(&self, offset: u64) -> bool {
        offset.checked_sub(self.start).is_some_and(|it| it < self.of.size * self.count)
    }
}

impl HeapTypes {
    /// Examines the accesses of a run.
    pub fn infer(trace: &Trace, symbols: &dyn Symbols) -> HeapTypes {
        let mut found: BTreeMap<Allocation, Vec<Placed>> = BTreeMap::new();
        let Examination { accesses, stored, .. } = Examination::new(trace, symbols);
        let accesses: BTreeMap<Access, _> = accesses.into_iter().map(|it| (it.0, it.1.1)).collect();
        for ((site, stack, operation), blocks) in accesses {
            let pointees = symbols.accessed_objects(&calls(trace, site, stack), operation);
            for (site, stack, size, offset) in blocks {
                let all = found.entry((calls(trace, site, stack), size)).or_default();
                for pointee in &pointees {
                    vote(all, place(&pointee.object, pointee.distance, size, offset));
                }
            }
        }
        for (site, stack, size, target) in stored {
            let all = found.entry((calls(trace, site, stack), size)).or_default();
            vote(all, place(&target, Some(0), size, 0));
        }
        for ((_, size), all) in &mut found {
            settle(all, *size);
        }
        HeapTypes { objects: found }
    }

    /// The objects in a block that was allocated by these calls, best first.
    pub(crate) fn objects(&self, calls: Vec<u64>, size: u64) -> &[Placed] {
        self.objects.get(&(calls, size)).map_or(&[], Vec::as_slice)
    }
}

/// What the events of a run say about its heap blocks.
#[derive(Default)]
struct Examination {
    memory: Memory,
    /// By code of an access: how often it was executed, and the blocks that it accessed.
    accesses: FxHashMap<Access, (u32, Vec<Accessed>)>,
    /// By place: how many pointers to blocks it wrote.
    stores: FxHashMap<SiteId, u32>,
    /// Blocks to which pointers with a type are written: the sites and stacks of their allocations, their
    /// sizes, and the types of the pointers' targets.
    stored: Vec<(SiteId, StackId, u64, ObjectType)>,
}

impl Examination {
    /// Goes through the run once: events of a long run take longer to decode than to examine.
    fn new(trace: &Trace, symbols: &dyn Symbols) -> Self {
        let mut examination = Examination::default();
        for event in trace.merged().take(MAX_EVENTS) {
            examination.accesses(&event);
            examination.memory.learn_blocks(&event);
            examination.store(&event, symbols);
        }
        examination
    }

    /// Notes which code accesses which blocks, and where in them.
    fn accesses(&mut self, event: &Event) {
        for (operation, addr) in operands(event).into_iter().flatten() {
            let code = (event.site, event.stack, operation);
            let (times, blocks) = self.accesses.entry(code).or_default();
            *times = times.saturating_add(1);
            if *times > MAX_ACCESSES {
                continue;
            }
            let Some(Region::Heap { offset, size, site, stack, .. }) = self.memory.heap(addr)
            else {
                continue;
            };
            if !blocks.contains(&(site, stack, size, offset)) {
                blocks.push((site, stack, size, offset));
            }
        }
    }

    /// Notes a pointer that is written to memory.
    fn store(&mut self, event: &Event, symbols: &dyn Symbols) {
        let Some(MemoryAccess { addr, write: Some(Some(value)), .. }) = event.op.access() else {
            return;
        };
        if self.stores.get(&event.site).is_some_and(|it| *it >= MAX_ACCESSES) {
            return;
        }
        let block = u64::try_from(value).ok().and_then(|it| self.memory.heap(it));
        let Some(Region::Heap { offset: 0, size, site, stack, .. }) = block else { return };
        *self.stores.entry(event.site).or_default() += 1;
        let target = symbols.pointer_target(addr);
        self.stored.extend(target.map(|it| (site, stack, size, it)));
    }
}

/// The addresses that an event accesses, and how it gets them.
fn operands(event: &Event) -> [Option<(Operation, u64)>; 2] {
    match event.op {
        Op::Read { addr, .. } => [Some((Operation::Read, addr)), None],
        Op::Write { addr, .. } | Op::Atomic { addr, .. } => [Some((Operation::Write, addr)), None],
        Op::Free { addr } => [Some((Operation::Call(0), addr)), None],
        Op::Wait { cond, lock, .. } => {
            [Some((Operation::Call(0), cond)), Some((Operation::Call(1), lock))]
        }
        Op::WaitRelease { .. } | Op::WaitAcquire { .. } => [None, None],
        op => [op.effect().used_object().map(|it| (Operation::Call(0), it)), None],
    }
}

/// The place of an event and its callers, innermost first.
fn calls(trace: &Trace, site: SiteId, stack: StackId) -> Vec<u64> {
    let callers = trace.stack(stack).filter_map(|it| match it {
        Frame::Call(pc) => Some(pc),
        Frame::Unknown(_) => None,
    });
    trace.site(site).map(|it| it.pc).into_iter().chain(callers).collect()
}

/// An object of which an access at an offset of a block touches a part, if the block can contain it.
fn place(of: &ObjectType, distance: Option<u64>, size: u64, offset: u64) -> Option<Placed> {
    let divides = size.checked_rem(of.size)? == 0;
    let of = of.clone();
    let Some(distance) = distance else {
        // After an index, only elements that fill the block are certain.
        return divides.then(|| Placed { start: 0, count: size / of.size, of, votes: 1 });
    };
    let start = offset.checked_sub(distance).filter(|it| it + of.size <= size)?;
    Some(Placed { of, start, count: 1, votes: 1 })
}

fn vote(all: &mut Vec<Placed>, placed: Option<Placed>) {
    let Some(new) = placed else { return };
    let key = |it: &Placed| (it.of.id, it.start, it.count);
    match all.iter_mut().find(|it| key(it) == key(&new)) {
        Some(same) => same.votes = same.votes.saturating_add(new.votes),
        None => all.push(new),
    }
}

/// Sorts, best first.
fn settle(all: &mut Vec<Placed>, size: u64) {
    fill(all, size);
    all.sort_by_key(|it| rank(it, size));
    join_elements(all);
}

/// Takes objects that could be elements of an array that fills the block for that. But a block that begins with a larger
/// record of a library is a node of a container, and they are what it contains.
fn fill(all: &mut Vec<Placed>, size: u64) {
    let node = all.iter().filter(|it| is_node(it, size)).map(|it| it.of.size).max().unwrap_or(0);
    for mut placed in std::mem::take(all) {
        let element = placed.of.size;
        let can_fill = size.is_multiple_of(element) && placed.start.is_multiple_of(element);
        let is_inside = placed.of.record_of.is_some() && element < node;
        if can_fill && !is_inside {
            (placed.start, placed.count) = (0, size / element);
        }
        vote(all, Some(placed));
    }
}

/// Whether an object is a record of a library at the begin of the block, which cannot be one of several that fill it.
fn is_node(placed: &Placed, size: u64) -> bool {
    let is_library = placed.of.record_of.is_some_and(|it| it != Owner::Program);
    let is_first = placed.start == 0 && placed.count == 1;
    is_library && is_first && (placed.of.size == size || !size.is_multiple_of(placed.of.size))
}

/// What comes first describes a block best.
fn rank(placed: &Placed, size: u64) -> impl Ord + use<> {
    let Placed { of, start, count, votes } = placed;
    let is_whole = *start == 0 && of.size * count == size;
    let class = match (of.record_of, is_whole) {
        (Some(Owner::Program), true) => 0,
        (Some(Owner::Program), false) => 1,
        (Some(_), true) if *count == 1 => 2,
        (None, true) => 2,
        _ => 3,
    };
    // Among equals, the largest: it contains the others.
    (class, Reverse(*votes), *count, Reverse(of.size), of.name.to_string(), *start)
}

/// Objects of one type at several offsets are elements of an array behind a header. Those that overlap
/// contradict each other: the ones with more votes are kept.
fn join_elements(all: &mut Vec<Placed>) {
    let mut joined: Vec<Placed> = Vec::new();
    for placed in all.drain(..) {
        let Some(first) = joined.iter_mut().find(|it| it.of.id == placed.of.id) else {
            joined.push(placed);
            continue;
        };
        let Placed { start, count, .. } = *first;
        if start.abs_diff(placed.start).is_multiple_of(first.of.size) {
            let end = (start + first.of.size * count).max(placed.start + placed.of.size);
            first.start = start.min(placed.start);
            first.count = (end - first.start) / first.of.size;
        }
    }
    *all = joined;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(id: u32, name: &str, size: u64, record_of: Option<Owner>) -> ObjectType {
        ObjectType { id, name: name.into(), size, record_of }
    }

    fn best(mut all: Vec<Placed>, size: u64) -> String {
        settle(&mut all, size);
        all.first()
            .map_or_else(String::new, |it| format!("{}[{}] at {}", it.of.name, it.count, it.start))
    }

    #[test]
    fn a_type_of_the_program_that_fills_the_block_comes_first() {
        let node = of(1, "std::_List_node<Entry>", 48, Some(Owner::Library));
        let entry = of(2, "Entry", 32, Some(Owner::Program));
        let number = of(3, "int", 4, None);
        let at = |it: &ObjectType, distance| place(it, Some(distance), 48, 20).unwrap();
        assert_eq!(best(vec![at(&number, 0), at(&node, 20)], 48), "std::_List_node<Entry>[1] at 0");
        assert_eq!(best(vec![at(&node, 20), at(&entry, 4)], 48), "Entry[1] at 16");
        let account = of(4, "Account", 48, Some(Owner::Program));
        assert_eq!(best(vec![at(&entry, 4), at(&account, 20)], 48), "Account[1] at 0");
    }

    #[test]
    fn arrays_are_recognised_by_their_size() {
        let task = of(1, "Task", 16, Some(Owner::Program));
        assert_eq!(best(vec![place(&task, Some(4), 64, 36).unwrap()], 64), "Task[4] at 0");
        assert_eq!(best(vec![place(&task, None, 64, 36).unwrap()], 64), "Task[4] at 0");
        // `new Task[4]` with a destructor: the count is in front.
        let elements = [8, 24, 56].map(|it| place(&task, Some(0), 72, it).unwrap());
        assert_eq!(best(elements.into(), 72), "Task[4] at 8");
        // What most accesses say counts.
        let mut objects = Vec::new();
        for distance in [0, 16, 0, 12] {
            vote(&mut objects, place(&task, Some(distance), 40, 24));
        }
        assert_eq!(best(objects, 40), "Task[2] at 8");
    }

    #[test]
    fn what_a_node_of_a_container_contains_is_no_array() {
        let item = of(1, "Item", 8, Some(Owner::Program));
        let base = of(2, "std::_Rb_tree_node_base", 32, Some(Owner::Library));
        let node = of(3, "std::_Rb_tree_node<Item>", 72, Some(Owner::Library));
        let item = || place(&item, Some(4), 72, 68).unwrap();
        assert_eq!(best(vec![item()], 72), "Item[9] at 0");
        for library in [base, node] {
            let library = place(&library, Some(8), 72, 8).unwrap();
            assert_eq!(best(vec![item(), item(), library], 72), "Item[1] at 64");
        }
        // A lock around each element of a vector is an element, too.
        let lock = of(4, "Mutex<Item>", 24, Some(Owner::Library));
        let locks = [0, 24, 48].map(|it| place(&lock, Some(0), 72, it).unwrap());
        assert_eq!(best(locks.into(), 72), "Mutex<Item>[3] at 0");
    }

    #[test]
    fn an_object_that_does_not_fit_is_none() {
        let large = of(1, "Large", 64, Some(Owner::Program));
        assert_eq!(place(&large, Some(0), 48, 0), None);
        assert_eq!(place(&large, Some(16), 64, 8), None);
        assert_eq!(place(&large, None, 80, 24), None);
    }
}
