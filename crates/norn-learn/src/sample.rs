//! The samples of a run: what its threads read of shared memory, and what they read together.
//!
//! Reads belong together if they are in one outermost critical section, or follow each other without any
//! synchronisation in between: then the program may assume something about all of them.

use std::collections::{BTreeMap, BTreeSet};

use norn_model::{Effect, Event, LockEffect, MemoryAccess, SiteId, Thread, Trace};

use crate::ReadPoint;

/// Names for the sites and addresses of a trace.
pub trait Names {
    /// The place of a site in the source.
    fn place(&self, site: SiteId) -> Option<String>;
    /// The variable at an address.
    fn variable(&self, addr: u64, size: u64) -> Option<String>;
}

/// One read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) point: ReadPoint,
    pub(crate) addr: u64,
    pub(crate) value: i64,
    /// Whether the value looks like an address, which differs from run to run.
    pub(crate) is_address: bool,
}

/// Reads of a thread that belong together.
pub(crate) type Unit = Vec<Read>;

/// The smallest value of eight bytes that is taken for an address.
const ADDRESSES: u64 = 1 << 32;

/// The addresses that several threads access and one of them writes.
pub(crate) fn shared_addresses(trace: &Trace) -> BTreeSet<u64> {
    // The first thread that accesses an address, whether there is another, and whether one writes.
    let mut uses: BTreeMap<u64, (usize, bool, bool)> = BTreeMap::new();
    for (number, thread) in trace.threads.iter().enumerate() {
        for access in thread.events.iter().filter_map(access) {
            let (first, others, written) =
                uses.entry(access.addr).or_insert((number, false, false));
            *others |= *first != number;
            *written |= access.write.is_some();
        }
    }
    uses.into_iter().filter(|(_, it)| it.1 && it.2).map(|(addr, _)| addr).collect()
}

/// Whether an event reads one of these addresses, and how.
fn is_shared_read(event: &Event, shared: &BTreeSet<u64>) -> Option<MemoryAccess> {
    access(event).filter(|it| it.read.is_some() && shared.contains(&it.addr))
}

fn access(event: &Event) -> Option<MemoryAccess> {
    match event.op.effect() {
        Effect::Access(access) => Some(access),
        _ => None,
    }
}

/// The reads of a thread, as far as values and names are known.
pub(crate) fn units(thread: &Thread, shared: &BTreeSet<u64>, names: &dyn Names) -> Vec<Unit> {
    let mut units = vec![Unit::new()];
    let mut held = 0_usize;
    for event in &thread.events {
        if access(event).is_some() {
            let read = is_shared_read(event, shared).and_then(|it| read(event.site, it, names));
            if let (Some(read), Some(unit)) = (read, units.last_mut()) {
                unit.push(read);
            }
            continue;
        }
        let before = held;
        match event.op.effect().lock() {
            Some(LockEffect::Acquire { .. }) => held += 1,
            Some(LockEffect::Release { .. }) => held = held.saturating_sub(1),
            Some(LockEffect::Failed { .. }) | None => {}
        }
        // Inside of a section, only its end separates.
        let separates = event.op.effect() != Effect::None && (before == 0 || held == 0);
        if separates && units.last().is_some_and(|it| !it.is_empty()) {
            units.push(Unit::new());
        }
    }
    units.retain(|it| !it.is_empty());
    units
}

fn read(site: SiteId, access: MemoryAccess, names: &dyn Names) -> Option<Read> {
    let unused = 64_u32.checked_sub(u32::try_from(access.size.checked_mul(8)?).ok()?)?;
    let bits = u64::try_from(access.read??).ok()?;
    let value = (bits.checked_shl(unused)?).cast_signed() >> unused;
    let point = read_point(site, &access, names)?;
    let is_address = access.size == 8 && value.unsigned_abs() >= ADDRESSES;
    Some(Read { point, addr: access.addr, value, is_address })
}

/// The point of a read, if it has names.
pub fn read_point(site: SiteId, access: &MemoryAccess, names: &dyn Names) -> Option<ReadPoint> {
    let variable = without_index(&names.variable(access.addr, access.size)?);
    Some(ReadPoint { variable, place: names.place(site)? })
}

/// The elements of an array share one name.
fn without_index(name: &str) -> String {
    let mut result = String::new();
    let mut inside = false;
    for letter in name.chars() {
        inside &= letter != ']';
        if !inside {
            result.push(letter);
        }
        inside |= letter == '[';
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_an_array_share_a_name() {
        assert_eq!(without_index("done[12].count"), "done[].count");
        assert_eq!(without_index("total"), "total");
    }
}
