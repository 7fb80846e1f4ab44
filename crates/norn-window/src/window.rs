//! The window of a shared variable: its last accesses, of which no two adjacent ones are of the same
//! thread.
//!
//! An access of the thread that made the last one replaces it, except that a read does not replace a
//! write: both kinds of violation need a write. An access of another thread takes the next slot. If
//! there is none, the patterns that begin with the oldest access are reported, and that access is
//! evicted.
//!
//! The paper's algorithm reports patterns only when a full window slides. Then the last accesses of
//! a run would be in no pattern, and the paper's own example would not come out. So a window is
//! *drained* at its end: it slides until it is empty.
//!
//! A window that is full of reads does not take a read that it already has: their order means nothing.
//! This, too, is an addition, because threads often read the same variable again and again.
//!
//! Another addition: if a variable has been used by one thread only, and creating or joining threads
//! orders all of that before the access of another one, the variable is handed over. It begins anew
//! with that access, because no schedule can put it anywhere else.

use crate::{Access, AccessKind, Ancestry, Match, PatternKind};

/// The slots of a window, the oldest access first.
pub trait Slots {
    /// An access in a slot.
    type Access: Access;
    /// Number of accesses.
    fn len(&self) -> usize;
    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The access at a position below [`Slots::len`].
    fn get(&self, at: usize) -> Self::Access;
    /// Replaces the access at a position below [`Slots::len`].
    fn set(&mut self, at: usize, access: Self::Access);
    /// Adds an access; there is room for it.
    fn push(&mut self, access: Self::Access);
    /// Removes the oldest access, if there is one.
    fn evict(&mut self);
}

/// Adds an access to a window of `size` slots, and reports the patterns that begin with the access
/// that is evicted, if there is one.
#[inline]
pub fn record<S: Slots>(
    slots: &mut S,
    access: S::Access,
    size: usize,
    threads: &impl Ancestry,
    found: &mut impl FnMut(Match<S::Access>),
) {
    let len = slots.len();
    if len == 0 {
        return slots.push(access);
    }
    let last = slots.get(len - 1);
    if last.thread() == access.thread() {
        if let Some(successor) = successor(&last, access) {
            slots.set(len - 1, successor);
        }
    } else if len == 1 && threads.is_before(&last, &access) {
        slots.set(0, access);
    } else if len < size || !has_read(slots, &access) {
        if len >= size {
            slide(slots, found);
        }
        slots.push(access);
    }
}

/// What follows an access when its thread makes the next one; none if the first one stays. Where a
/// thread does the same again, the first time counts: that was when it completed a pattern.
fn successor<A: Access>(last: &A, access: A) -> Option<A> {
    match (last.kind(), access.kind()) {
        (AccessKind::Write, AccessKind::Read) => None,
        _ if is_repeated(last, &access) => Some(access.at(last.time())),
        _ => Some(access),
    }
}

/// Whether an access of the same thread does what the last one did.
fn is_repeated<A: Access>(last: &A, access: &A) -> bool {
    last.kind() == access.kind() && last.epoch() == access.epoch() && last.is_same_place(access)
}

/// Whether a window has only reads, and this one among them.
fn has_read<S: Slots>(slots: &S, access: &S::Access) -> bool {
    let all = || (0..slots.len()).map(|it| slots.get(it));
    access.kind() == AccessKind::Read
        && all().all(|it| it.kind() == AccessKind::Read)
        && all().any(|it| it.thread() == access.thread() && is_repeated(&it, access))
}

/// Reports all patterns that are left.
pub fn drain<S: Slots>(slots: &mut S, found: &mut impl FnMut(Match<S::Access>)) {
    while !slots.is_empty() {
        slide(slots, found);
    }
}

/// Reports the patterns that begin with the oldest access, and evicts it. A pair is reported only if
/// no triple is, because the triple already contains it.
fn slide<S: Slots>(slots: &mut S, found: &mut impl FnMut(Match<S::Access>)) {
    if !triples(slots, found) {
        pair(slots, found);
    }
    slots.evict();
}

/// Reports all unserializable triples that begin with the oldest access.
fn triples<S: Slots>(slots: &S, found: &mut impl FnMut(Match<S::Access>)) -> bool {
    let len = slots.len();
    if len < 3 {
        return false;
    }
    let first = slots.get(0);
    let mut any = false;
    for at in 2..len {
        let last = slots.get(at);
        if last.thread() != first.thread() {
            continue;
        }
        for between in 1..at {
            let remote = slots.get(between);
            if remote.thread() == first.thread() {
                continue;
            }
            if let Some(kind) = PatternKind::of_triple(first.kind(), remote.kind(), last.kind()) {
                any = true;
                found(Match::of(kind, [first, remote, last]));
            }
        }
    }
    any
}

/// Reports the oldest access and the next one, if they conflict.
fn pair<S: Slots>(slots: &S, found: &mut impl FnMut(Match<S::Access>)) {
    if slots.len() < 2 {
        return;
    }
    let (first, second) = (slots.get(0), slots.get(1));
    if let Some(kind) = PatternKind::of_pair(first.kind(), second.kind()) {
        found(Match::of(kind, [first, second, second]));
    }
}
