//! Which memory has been given back in the course of a schedule.

use std::collections::BTreeMap;

use norn_model::Op;
use rustc_hash::FxHashMap;

/// Which memory has been given back.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    /// By address: the size of what is given out.
    given: FxHashMap<u64, u64>,
    /// By address: the end of what was given back.
    gone: BTreeMap<u64, u64>,
}

impl Heap {
    /// Memory is given out.
    pub(crate) fn give(&mut self, addr: u64, size: u64) {
        self.given.insert(addr, size);
        let end = addr.saturating_add(size);
        let last = self.gone.range(..end).rev();
        let gone: Vec<_> = last.take_while(|it| *it.1 > addr).map(|it| *it.0).collect();
        for addr in gone {
            self.gone.remove(&addr);
        }
    }

    /// Memory is given back; whether it was already.
    pub(crate) fn take(&mut self, addr: u64) -> bool {
        if let Some(size) = self.given.remove(&addr) {
            self.gone.insert(addr, addr.saturating_add(size));
            return false;
        }
        self.gone.contains_key(&addr)
    }

    /// Whether an access is to memory that was given back.
    pub(crate) fn is_gone(&self, op: &Op) -> bool {
        let (Op::Read { addr, .. } | Op::Write { addr, .. } | Op::Atomic { addr, .. }) = *op else {
            return false;
        };
        self.gone.range(..=addr).next_back().is_some_and(|it| *it.1 > addr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_out_again_is_there() {
        let read = |addr| Op::Read { addr, size: 1, value: None, volatile: false };
        let mut heap = Heap::default();
        heap.give(0x100, 0x40);
        assert!(!heap.is_gone(&read(0x120)));
        assert!(!heap.take(0x100));
        assert!(heap.take(0x100));
        assert!(heap.is_gone(&read(0x13f)));
        assert!(!heap.is_gone(&read(0x140)));
        heap.give(0x120, 0x10);
        assert!(!heap.is_gone(&read(0x120)));
    }
}
