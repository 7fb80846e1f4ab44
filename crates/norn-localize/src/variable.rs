//! The variables of a run: memory, divided by how it is accessed, each part with its window.
//!
//! Accesses have different sizes, and a C program has no table of its variables. So memory is divided
//! as accesses show it: the parts of a granule of eight bytes are the largest ones of which each
//! access touched all bytes or none. A part that a smaller access divides becomes two, both with its
//! window. The result is the same as with a window for each byte, at a fraction of the memory.

use std::collections::BTreeMap;

use norn_model::granule::{GRANULE, granules, mask};
use norn_window::Match;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::{Access, Window, fork_join::ForkJoin};

/// Granules are grouped into pages of this many, so that freed memory is found without a search.
const PAGE: u64 = 512;

/// A part of a granule.
#[derive(Clone, Debug)]
struct Part {
    /// Its bytes, as bits.
    mask: u8,
    window: Window,
}

type Parts = SmallVec<[Part; 1]>;

/// The windows of all variables of a run.
#[derive(Debug)]
pub(crate) struct Variables {
    /// Number of slots of a window.
    size: usize,
    /// By page, then by granule.
    pages: BTreeMap<u64, FxHashMap<u64, Parts>>,
}

/// Gets a pattern and the address of its variable.
pub(crate) type Found<'a> = &'a mut dyn FnMut(u64, Match<Access>);

impl Variables {
    pub(crate) fn new(size: usize) -> Variables {
        Variables { size, pages: BTreeMap::new() }
    }

    /// Records an access to memory.
    pub(crate) fn record(
        &mut self,
        (addr, size): (u64, u64),
        access: Access,
        threads: &ForkJoin,
        found: Found<'_>,
    ) {
        for granule in granules(addr, size) {
            let page = self.pages.entry(granule / PAGE).or_default();
            let parts = page.entry(granule).or_default();
            let mask = mask(granule, addr, size);
            divide(parts, mask, access);
            for part in parts.iter_mut().filter(|it| it.mask & mask != 0) {
                let at = address(granule, part.mask);
                part.window.record(access, self.size, threads, &mut |it| found(at, it));
            }
        }
    }

    /// Records an access to all variables in a block that are known.
    pub(crate) fn record_known(
        &mut self,
        block: (u64, u64),
        access: Access,
        threads: &ForkJoin,
        found: Found<'_>,
    ) {
        let size = self.size;
        self.each_in(block, &mut |granule, parts| {
            for part in parts.iter_mut() {
                let at = address(granule, part.mask);
                part.window.record(access, size, threads, &mut |it| found(at, it));
            }
        });
    }

    /// Ends the variables in a block: its memory belongs to others from now on.
    pub(crate) fn end(&mut self, block: (u64, u64), found: Found<'_>) {
        self.each_in(block, &mut |granule, parts| drain(granule, parts, found));
    }

    /// Ends all variables.
    pub(crate) fn finish(mut self, found: Found<'_>) {
        self.end((0, u64::MAX), found);
    }

    fn each_in(&mut self, (addr, size): (u64, u64), visit: &mut dyn FnMut(u64, &mut Parts)) {
        // Allocators align blocks: the rest of a block's last granule belongs to no other block.
        let (first, end) = (addr / GRANULE, addr.saturating_add(size).div_ceil(GRANULE));
        for (_, page) in self.pages.range_mut(first / PAGE..=end / PAGE) {
            for (granule, parts) in page.iter_mut().filter(|it| (first..end).contains(it.0)) {
                visit(*granule, parts);
            }
        }
    }
}

/// The address of a part of a granule.
fn address(granule: u64, mask: u8) -> u64 {
    granule * GRANULE + u64::from(mask.trailing_zeros() % 8)
}

fn drain(granule: u64, parts: &mut Parts, found: Found<'_>) {
    for mut part in parts.drain(..) {
        let at = address(granule, part.mask);
        part.window.drain(&mut |it| found(at, it));
    }
}

/// Divides the parts of a granule so that an access touches each of them fully or not at all. Bytes
/// that were not accessed before become a part whose first access this is.
fn divide(parts: &mut Parts, mask: u8, access: Access) {
    let mut new = mask;
    for at in 0..parts.len() {
        let (inside, outside) = (parts[at].mask & mask, parts[at].mask & !mask);
        new &= !inside;
        if inside != 0 && outside != 0 {
            let other = Part { mask: outside, ..parts[at].clone() };
            parts[at].mask = inside;
            parts.push(other);
        }
    }
    if new != 0 {
        parts.push(Part { mask: new, window: Window::new(access) });
    }
}
