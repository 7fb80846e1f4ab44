//! The sites of an encoder: where they are, and how they predict the next site and address.

use core::mem::offset_of;

use super::Lane;
use crate::{
    codec::{DEFINE, SECOND, SITES, SLOT, second_slot, slot, slot_of, tag, tag_of},
    field::difference,
};

/// The prediction state of a site: that of a [`codec::Site`](crate::codec::Site), in the form in which the hooks
/// need the fewest instructions.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Site {
    /// What identifies it; see [`tag`].
    tag: u64,
    /// The predicted next address: the last one and the stride.
    foreseen: u64,
    /// The offset in the table of the site that followed it last time; 0 also if none has.
    next: u32,
    /// The predicted difference between two successive addresses.
    stride: i32,
    /// The last difference between two successive addresses. Two equal ones become the stride.
    moved: i32,
    /// The offset of the other site that followed it last, before or after `next` did.
    second: u32,
}

impl Site {
    /// Updates the prediction with an address that is the predicted one, as [`Site::learn`] does.
    #[inline(always)]
    fn repeat(&mut self, addr: u64) {
        self.foreseen = addr.wrapping_add(self.stride as u64);
        self.moved = self.stride;
    }

    /// Updates the prediction with the offset of the site that followed it.
    #[inline(always)]
    fn follow(&mut self, offset: u32) {
        self.second = if self.next == offset { self.second } else { self.next };
        self.next = offset;
    }

    /// Updates the prediction with the actual address; returns its difference from the predicted
    /// one.
    #[inline(always)]
    fn learn(&mut self, addr: u64) -> u64 {
        let off = addr.wrapping_sub(self.foreseen);
        let moved = (off as i32).wrapping_add(self.stride);
        self.stride = if moved == self.moved { moved } else { self.stride };
        self.moved = moved;
        self.foreseen = addr.wrapping_add(self.stride as u64);
        off
    }
}

/// The offset of a site in the table.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located(u32);

impl Located {
    /// The first site.
    pub(super) const FIRST: Located = Located(0);
    /// What stands for the previous site while a write is pending: no site follows it.
    pub(super) const NOWHERE: Located = Located((SITES * size_of::<Site>()) as u32);

    #[inline(always)]
    fn of_slot(slot: usize) -> Located {
        Located((slot % SITES * size_of::<Site>()) as u32)
    }

    /// Its slot, which records contain.
    #[inline(always)]
    fn slot(self) -> u16 {
        (self.0 / size_of::<Site>() as u32) as u16
    }
}

impl Site {
    /// That of [`Located::NOWHERE`].
    pub(super) const NOWHERE: Site =
        Site { tag: 0, foreseen: 0, next: u32::MAX, stride: 0, moved: 0, second: u32::MAX };
}

impl Lane {
    #[inline(always)]
    fn site_at(&mut self, at: Located) -> *mut Site {
        // SAFETY: the offset is that of a site, or of `nowhere`, which follows the sites.
        unsafe { (&raw mut *self).byte_add(offset_of!(Lane, sites) + at.0 as usize).cast() }
    }

    /// The site of an access, if it is in its first slot and the chunk has room. Otherwise the caller
    /// calls [`Lane::access`].
    #[inline(always)]
    pub fn locate<const K: u16>(&mut self, pc: usize) -> Option<Located> {
        let at = Located::of_slot(slot_of(pc, K));
        // SAFETY: the site is one of this lane's.
        let found = unsafe { (*self.site_at(at)).tag } == tag_of(pc, K) && !self.full();
        found.then_some(at)
    }

    /// The site with this tag, in the slot or in its second one; none if it has no slot yet, or if
    /// the chunk is full.
    #[inline(always)]
    pub(super) fn site(&mut self, slot: usize, tag: u64) -> Option<Located> {
        let full = self.full();
        for slot in [slot, second_slot(slot)] {
            let at = Located::of_slot(slot);
            // SAFETY: the site is one of this lane's.
            if unsafe { (*self.site_at(at)).tag } == tag {
                return (!full).then_some(at);
            }
        }
        None
    }

    /// Whether a site is the predicted one, and nothing is pending.
    ///
    /// The site comes from the code location and not from the previous site, although that predicts
    /// it: then the processor need not wait for the tables of the previous record.
    #[inline(always)]
    pub fn is_next(&mut self, at: Located) -> bool {
        // SAFETY: the site is this lane's.
        unsafe { (*self.site_at(self.prev)).next == at.0 }
    }

    /// Whether the predicted site has the predicted address, so that the head byte needs no bits
    /// for them. Updates the tables in that case, and otherwise changes nothing.
    #[inline(always)]
    pub(super) fn is_foreseen(&mut self, at: Located, addr: usize) -> bool {
        let site = self.site_at(at);
        // SAFETY: the site is this lane's.
        unsafe {
            if (*site).foreseen != addr as u64 {
                return false;
            }
            (*site).repeat(addr as u64);
        }
        self.prev = at;
        true
    }

    /// Writes the address of a record of the predicted site; returns the bits of the head so far and the
    /// position.
    #[inline(always)]
    pub(super) unsafe fn begin_next(
        &mut self,
        head: *mut u8,
        at: Located,
        addr: usize,
    ) -> (u8, *mut u8) {
        self.prev = at;
        // SAFETY: as in `access`.
        unsafe { difference(head.add(1), (*self.site_at(at)).learn(addr as u64)) }
    }

    /// Writes slot and address of a record; returns the bits of the head so far and the position.
    #[inline(always)]
    pub(super) unsafe fn begin(
        &mut self,
        head: *mut u8,
        at: Located,
        addr: usize,
    ) -> (u8, *mut u8) {
        let (site, prev) = (self.site_at(at), self.site_at(self.prev));
        self.prev = at;
        // SAFETY: as in `access`.
        unsafe {
            let bits = if (*prev).next == at.0 {
                0
            } else if (*prev).second == at.0 {
                SECOND
            } else {
                SLOT
            };
            (*prev).follow(at.0);
            head.add(1).cast::<u16>().write_unaligned(at.slot());
            let end = head.add(if bits == SLOT { 3 } else { 1 });
            let (code, end) = difference(end, (*site).learn(addr as u64));
            (bits | code, end)
        }
    }

    /// Assigns the site a slot, if it has none; returns its slot. Another site loses the slot if both
    /// slots are taken.
    ///
    /// # Safety
    /// As for [`Lane::access`], and the lane is not full.
    pub unsafe fn define(&mut self, key: u64) -> Located {
        let (first, tag) = (slot(key), tag(key));
        let second = second_slot(first);
        let of = |slot: usize| self.sites[slot].tag;
        if of(first) == tag {
            return Located::of_slot(first);
        }
        if of(second) == tag {
            return Located::of_slot(second);
        }
        let slot = if of(first) != 0 && of(second) == 0 { second } else { first };
        // SAFETY: eleven bytes fit into the slack.
        unsafe {
            self.settle_any();
            self.sites[slot] = Site { tag, ..Site::default() };
            *self.cur = DEFINE;
            self.cur.add(1).cast::<u16>().write_unaligned(slot as u16);
            self.cur.add(3).cast::<u64>().write_unaligned(key);
            self.cur = self.cur.add(11);
        }
        Located::of_slot(slot)
    }
}
