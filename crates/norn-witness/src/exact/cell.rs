//! Memory as cells: maximal ranges of bytes that are always accessed together. So overlapping
//! accesses of different sizes need no special treatment, and most accesses have one cell.
//!
//! Cells that only one thread accesses, or that no event writes, are left out: every order gives
//! them the same values. Whether memory is allocated is a value, too, in cells of its own: an
//! allocation writes [`THERE`], a free reads that and writes [`GONE`], an access reads it.

use norn_model::Value;
use rustc_hash::FxHashMap;

use super::model::{Facet, NEVER, Node};

/// The value of allocated memory.
pub(crate) const THERE: u128 = 0;
/// The value of freed memory.
pub(crate) const GONE: u128 = 1;

/// One access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub(crate) node: Node,
    pub(crate) thread: u32,
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Whether it reads, and the value if it is known.
    pub(crate) read: Option<Value>,
    /// Whether it writes, and the value if it is known.
    pub(crate) write: Option<Value>,
}

/// A value that an event reads from a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    pub(crate) node: Node,
    pub(crate) cell: u32,
    pub(crate) value: Option<u128>,
    /// The last write before it in the recorded order; [`NEVER`] if there is none.
    pub(crate) source: Node,
    /// Whether reading from that write again is enough: the value is unknown, or was written by
    /// code without instrumentation.
    pub(crate) by_source: bool,
}

/// A value that an event writes to a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    pub(crate) node: Node,
    pub(crate) value: Option<u128>,
}

/// Bytes that are always accessed together.
#[derive(Debug, Default)]
pub(crate) struct Cell {
    /// In the recorded order.
    pub(crate) writes: Vec<Write>,
    /// Numbers of writes, by their value.
    by_value: Vec<u32>,
    /// The value before the first write, if some read saw it.
    pub(crate) first: Option<u128>,
}

impl Cell {
    /// The writes of some value, in the recorded order.
    pub(crate) fn writes_of(&self, value: u128) -> impl Iterator<Item = Node> + Clone {
        let key = |it: u32| self.writes[it as usize].value;
        let from = self.by_value.partition_point(|it| key(*it) < Some(value));
        let to = self.by_value.partition_point(|it| key(*it) <= Some(value));
        self.by_value[from..to].iter().map(|it| self.writes[*it as usize].node)
    }

    fn sort(&mut self) {
        self.by_value = (0..u32::try_from(self.writes.len()).unwrap_or(u32::MAX)).collect();
        self.by_value.sort_by_key(|it| self.writes[*it as usize].value);
    }
}

impl Read {
    /// Whether the read may see a write.
    pub(crate) fn accepts(&self, writer: Node, value: Option<u128>) -> bool {
        self.value.is_some() && value == self.value || self.by_source && writer == self.source
    }
}

/// All cells of a trace.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    pub(crate) all: Vec<Cell>,
    pub(crate) reads: Vec<Read>,
}

/// The addresses at which cells begin, in order.
struct Grid(Vec<u64>);

impl Grid {
    fn new(touches: &[Touch]) -> Self {
        let mut cuts: Vec<_> = touches.iter().flat_map(|it| [it.from, it.to]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        Grid(cuts)
    }

    /// The cells of a range: number, first byte, end.
    fn cells(&self, from: u64, to: u64) -> impl Iterator<Item = (usize, u64, u64)> {
        let first = self.0.partition_point(|it| *it <= from).saturating_sub(1);
        let last = self.0.partition_point(|it| *it < to);
        (first..last).filter_map(|at| Some((at, *self.0.get(at)?, *self.0.get(at + 1)?)))
    }
}

/// How a cell is used, which decides whether it can be left out.
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "they have nothing to do with each other")]
struct Usage {
    thread: u32,
    used: bool,
    shared: bool,
    gone: bool,
    matters: bool,
}

/// The part of a value that is in a cell.
fn part(value: Option<u128>, touch: &Touch, from: u64, to: u64) -> Option<u128> {
    let (skip, bits) = ((from.checked_sub(touch.from)?) * 8, (to - from) * 8);
    if skip + bits > 128 {
        return None;
    }
    let all = if bits == 128 { u128::MAX } else { (1 << bits) - 1 };
    value.map(|it| it >> skip & all)
}

impl Cells {
    /// Adds the accesses to memory.
    pub(crate) fn memory(
        &mut self,
        touches: &[Touch],
        fixed: bool,
        facets: &mut Vec<(Node, Facet)>,
    ) {
        let grid = Grid::new(touches);
        self.add(&grid, touches, facets, false);
        if fixed {
            for read in &mut self.reads {
                (read.value, read.by_source) = (None, true);
            }
        }
    }

    /// Adds allocations, frees, and the accesses to memory that is freed at some time.
    pub(crate) fn heap(&mut self, touches: &[Touch], facets: &mut Vec<(Node, Facet)>) {
        let blocks: Vec<_> = touches.iter().filter(|it| it.write.is_some()).copied().collect();
        let grid = Grid::new(&blocks);
        self.add(&grid, touches, facets, true);
    }

    fn add(&mut self, grid: &Grid, touches: &[Touch], facets: &mut Vec<(Node, Facet)>, heap: bool) {
        let mut usage = vec![Usage::default(); grid.0.len()];
        for touch in touches {
            for (at, ..) in grid.cells(touch.from, touch.to) {
                let it = &mut usage[at];
                it.shared |= it.used && it.thread != touch.thread;
                // The recorded run itself used it after the free: the cell must not be left out.
                it.shared |= heap && it.gone && touch.read.is_some();
                it.gone = touch.write.map_or(it.gone, |value| value == Some(GONE));
                (it.used, it.thread) = (true, touch.thread);
                it.matters |= touch.write.is_some_and(|value| !heap || value == Some(GONE));
            }
        }
        let mut numbers: FxHashMap<usize, u32> = FxHashMap::default();
        let old = self.all.len();
        for touch in touches {
            for (at, from, to) in grid.cells(touch.from, touch.to) {
                if !(usage[at].shared && usage[at].matters) {
                    continue;
                }
                let new = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
                let cell = *numbers.entry(at).or_insert(new);
                if cell == new {
                    let first = heap.then_some(THERE);
                    self.all.push(Cell { first, ..Cell::default() });
                }
                let part = |value| if heap { value } else { part(value, touch, from, to) };
                if let Some(value) = touch.read {
                    let facet = self.read(touch.node, cell, part(value), heap);
                    facets.push((touch.node, facet));
                }
                if let Some(value) = touch.write {
                    let writes = &mut self.all[cell as usize].writes;
                    let at = u32::try_from(writes.len()).unwrap_or(u32::MAX);
                    writes.push(Write { node: touch.node, value: part(value) });
                    facets.push((touch.node, Facet::Write { cell, at }));
                }
            }
        }
        self.all[old..].iter_mut().for_each(Cell::sort);
    }

    fn read(&mut self, node: Node, number: u32, value: Option<u128>, heap: bool) -> Facet {
        let cell = &mut self.all[number as usize];
        let last = cell.writes.last();
        if last.is_none() && !heap && value.is_some() {
            cell.first = value;
        }
        let same = value.is_some() && last.is_some_and(|it| it.value == value);
        let source = last.map_or(NEVER, |it| it.node);
        let read = Read { node, cell: number, value, source, by_source: !heap && !same };
        self.reads.push(read);
        Facet::Read(u32::try_from(self.reads.len() - 1).unwrap_or(u32::MAX))
    }
}
