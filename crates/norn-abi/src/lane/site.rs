//! The sites of an encoder: where they are, and how they predict the next site and address.

use super::Lane;
use crate::{
    codec::{DEFINE, SECOND, SITES, SLOT, Site, second_slot, slot, slot_of, tag, tag_of},
    field::difference,
};

/// A site of a lane, and its slot.
#[derive(Clone, Copy, Debug)]
pub struct Located {
    pub(super) site: *mut Site,
    pub(super) slot: u32,
}

impl Lane {
    /// The site of an access, if it is in its first slot and the chunk has room. Otherwise the caller
    /// calls [`Lane::access`].
    #[inline(always)]
    pub fn locate<const K: u16>(&mut self, pc: usize) -> Option<Located> {
        let slot = slot_of(pc, K);
        // SAFETY: the slot is below `SITES`.
        let site = unsafe { self.sites.as_mut_ptr().add(slot) };
        // SAFETY: the site is one of this lane's.
        let found = unsafe { (*site).key } == tag_of(pc, K) && !self.full();
        found.then_some(Located { site, slot: slot as u32 })
    }

    /// The site with this tag, in the slot or in its second one; none if it has no slot yet, or if
    /// the chunk is full.
    #[inline(always)]
    pub(super) fn site(&mut self, slot: usize, tag: u64) -> Option<Located> {
        let full = self.full();
        for slot in [slot, second_slot(slot)] {
            let site = &raw mut self.sites[slot % SITES];
            // SAFETY: the site is one of this lane's.
            if unsafe { (*site).key } == tag {
                return (!full).then_some(Located { site, slot: slot as u32 });
            }
        }
        None
    }

    /// Whether the next record has the predicted site and address, so that its head byte needs no bits
    /// for them. Updates the tables in that case, and otherwise changes nothing.
    ///
    /// The slot comes from the code location and not from the previous site, although that predicts
    /// it: then the processor need not wait for the tables of the previous record.
    #[inline(always)]
    pub(super) unsafe fn is_foreseen(
        &mut self,
        Located { site, slot }: Located,
        addr: usize,
    ) -> bool {
        // SAFETY: the sites are this lane's.
        unsafe {
            if (*self.prev).next != slot || (*site).foreseen() != addr as u64 {
                return false;
            }
            (*site).repeat(addr as u64);
            self.prev = site;
        }
        true
    }

    /// Writes slot and address of a record; returns the bits of the head so far and the position.
    #[inline(always)]
    pub(super) unsafe fn begin(
        &mut self,
        head: *mut u8,
        Located { site, slot }: Located,
        addr: usize,
    ) -> (u8, *mut u8) {
        // SAFETY: as in `access`.
        unsafe {
            let prev = self.prev;
            let bits = if (*prev).next == slot {
                0
            } else if (*prev).second == slot {
                SECOND
            } else {
                SLOT
            };
            (*prev).follow(slot);
            self.prev = site;
            head.add(1).cast::<u16>().write_unaligned(slot as u16);
            let at = head.add(if bits == SLOT { 3 } else { 1 });
            let (code, at) = difference(at, (*site).learn(addr as u64));
            (bits | code, at)
        }
    }

    /// Assigns the site a slot, if it has none; returns its slot. Another site loses the slot if both
    /// slots are taken.
    ///
    /// # Safety
    /// As for [`Lane::access`], and the lane is not full.
    pub unsafe fn define(&mut self, key: u64) -> usize {
        let (first, tag) = (slot(key), tag(key));
        let second = second_slot(first);
        let of = |slot: usize| self.sites[slot].key;
        if of(first) == tag {
            return first;
        }
        if of(second) == tag {
            return second;
        }
        let slot = if of(first) != 0 && of(second) == 0 { second } else { first };
        // SAFETY: eleven bytes fit into the slack.
        unsafe {
            self.settle_any();
            self.sites[slot] = Site { key: tag, ..Site::default() };
            *self.cur = DEFINE;
            self.cur.add(1).cast::<u16>().write_unaligned(slot as u16);
            self.cur.add(3).cast::<u64>().write_unaligned(key);
            self.cur = self.cur.add(11);
        }
        slot
    }
}
