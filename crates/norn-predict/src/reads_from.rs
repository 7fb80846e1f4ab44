//! The reads-from table: for each read of a variable, the write of another thread that it saw, and
//! the writes of other threads that came after it.
//!
//! After Chang, Zhang, Lei and Zhao (*Biped: bidirectional prediction of order violations*, IEICE
//! Transactions 2015), whose definition of the two relations says "before" for both; the redefining
//! write comes after the read. Where we differ:
//!
//! - The write that a read saw is the last one before it, and counts only if it is another
//!   thread's. A thread that reads its own write expects nothing of others.
//! - Of the writes that come after, the table contains the first of *each* other thread. A barrier
//!   may exclude the first of all, but not the next one.
//! - The paper records the order of all events. Here only synchronisation may be ordered. Then the
//!   write that was seen is the last one that [can have happened before](crate::timestamp) the read
//!   and has the value that was read, as far as values are known; if there is none, the read saw a
//!   write of uninstrumented code, and has no entry. The writes after it are counted from the write
//!   that was seen.

use smallvec::SmallVec;

use crate::{
    access::Touch, content::Contents, outline::narrow, pattern::Action, timestamp::Timestamps,
};

/// A read, with the writes before and after it.
#[derive(Clone, Debug)]
pub(crate) struct ReadsFrom {
    /// The read, as an index of the accesses to the variable, like the others.
    pub(crate) read: u32,
    /// The write of its own thread that it saw.
    pub(crate) own: Option<u32>,
    /// The writes of other threads that it saw. Several if they wrote different bytes.
    pub(crate) seen: SmallVec<[Seen; 1]>,
    /// The first writes of other threads that came after it.
    pub(crate) next: SmallVec<[u32; 2]>,
}

impl ReadsFrom {
    /// A write that the read saw.
    pub(crate) fn any_seen(&self) -> Option<u32> {
        self.own.or_else(|| self.seen.first().map(|it| it.write))
    }
}

/// A write that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) write: u32,
    /// The write before that one; `None` if it is the first.
    pub(crate) older: Option<u32>,
}

/// The writes of one thread to the same bytes, in order.
struct Writes {
    thread: u16,
    mask: u8,
    /// Their positions among all accesses, in the order of time.
    places: Vec<u32>,
    /// Number of writes before the current access.
    passed: usize,
}

/// The accesses to one variable, in the order of time.
struct Table<'a> {
    timestamps: &'a Timestamps<'a>,
    touches: &'a [Touch],
    contents: &'a Contents,
    /// By position in time: the index of the access.
    order: Vec<u32>,
    writes: SmallVec<[Writes; 4]>,
}

/// The reads-from table of a variable, for all of its accesses.
pub(crate) fn reads_from(
    timestamps: &Timestamps<'_>,
    touches: &[Touch],
    contents: &Contents,
) -> Vec<ReadsFrom> {
    let mut table = Table::new(timestamps, touches, contents);
    let places = 0..narrow(touches.len());
    places.filter_map(|place| table.pass(place)).collect()
}

impl<'a> Table<'a> {
    fn new(timestamps: &'a Timestamps<'a>, touches: &'a [Touch], contents: &'a Contents) -> Self {
        let earliest = |it: &Touch| (timestamps.earliest(it.thread, it.index), it.thread, it.index);
        let mut keyed: Vec<_> = touches.iter().map(earliest).zip(0..).collect();
        keyed.sort_unstable();
        let order = keyed.into_iter().map(|it| it.1).collect();
        let mut table = Table { timestamps, touches, contents, order, writes: SmallVec::new() };
        for place in 0..narrow(touches.len()) {
            let touch = table.at(place);
            if touch.kind.is(Action::Write) {
                table.add(touch.thread, touch.mask, place);
            }
        }
        table
    }

    fn at(&self, place: u32) -> &'a Touch {
        &self.touches[self.order[place as usize] as usize]
    }

    fn add(&mut self, thread: u16, mask: u8, place: u32) {
        let known = self.writes.iter_mut().find(|it| it.thread == thread && it.mask == mask);
        match known {
            Some(it) => it.places.push(place),
            None => {
                self.writes.push(Writes { thread, mask, places: vec![place], passed: 0 });
            }
        }
    }

    /// Advances by one access.
    fn pass(&mut self, place: u32) -> Option<ReadsFrom> {
        for it in &mut self.writes {
            it.passed += usize::from(it.places.get(it.passed).is_some_and(|it| *it < place));
        }
        let read = self.at(place);
        if !read.kind.is(Action::Read) {
            return None;
        }
        let (mut seen, mut from) =
            (self.last(read, |it| it.places[..it.passed].last().copied()), place);
        if !self.timestamps.total && seen.iter().any(|it| !self.fits(place, *it)) {
            let write = self.other(read, place);
            from = write.unwrap_or(place);
            seen = write.into_iter().collect();
        }
        let is_own = |it: &&u32| self.at(**it).thread == read.thread;
        let own = seen.iter().find(is_own).map(|it| self.order[*it as usize]);
        let foreign = seen.iter().filter(|it| !is_own(it));
        let seen = foreign.map(|it| self.seen(read, *it)).collect();
        let next = self.next(read, from);
        Some(ReadsFrom { read: self.order[place as usize], own, seen, next })
    }

    fn seen(&self, read: &Touch, write: u32) -> Seen {
        let common = Touch { mask: read.mask & self.at(write).mask, ..*read };
        let older = self.last(&common, |it| it.before(write)).first().copied();
        let number = |place: u32| self.order[place as usize];
        Seen { write: number(write), older: older.map(number) }
    }

    /// The last write to each byte of a read, of one candidate per thread.
    fn last(&self, read: &Touch, of: impl Fn(&Writes) -> Option<u32>) -> SmallVec<[u32; 1]> {
        let meets = |it: &&Writes| it.mask & read.mask != 0;
        let each = self.writes.iter().filter(meets).filter_map(|it| Some((of(it)?, it.mask)));
        let mut each: SmallVec<[(u32, u8); 4]> = each.collect();
        each.sort_unstable_by(|a, b| b.cmp(a));
        let mut left = read.mask;
        let visible = each.into_iter().filter(|(_, mask)| {
            let sees = left & mask != 0;
            left &= !mask;
            sees
        });
        visible.map(|it| it.0).collect()
    }

    /// In a trace without a total order: the last write that can have happened before a read and
    /// has the value that was read.
    fn other(&self, read: &Touch, place: u32) -> Option<u32> {
        let latest = self.timestamps.latest(read.thread, read.index);
        let possible = |it: &u32| {
            let write = self.at(*it);
            let begun = self.timestamps.earliest(write.thread, write.index) < latest;
            let own_later = write.thread == read.thread && write.index >= read.index;
            *it != place && begun && !own_later && self.fits(place, *it)
        };
        let meets = |it: &&Writes| it.mask & read.mask != 0;
        let later = self.writes.iter().filter(meets).filter_map(|it| {
            it.places[it.passed..].iter().copied().take(MAX_WRITES).find(possible)
        });
        let earlier = self.writes.iter().filter(meets).filter_map(|it| {
            it.places[..it.passed].iter().rev().copied().take(MAX_WRITES).find(possible)
        });
        earlier.max().or_else(|| later.min())
    }

    /// Whether a read can have seen a write, by their values.
    fn fits(&self, read: u32, write: u32) -> bool {
        self.contents.fits(self.order[write as usize], self.order[read as usize])
    }

    /// The first writes of other threads after a place.
    fn next(&self, read: &Touch, from: u32) -> SmallVec<[u32; 2]> {
        let others = self.writes.iter().filter(|it| it.thread != read.thread);
        let meets = others.filter(|it| it.mask & read.mask != 0);
        meets.filter_map(|it| Some(self.order[it.after(from)? as usize])).collect()
    }
}

/// Maximum number of writes per thread that are examined when values decide.
const MAX_WRITES: usize = 64;

impl Writes {
    fn before(&self, place: u32) -> Option<u32> {
        let upto = self.places.partition_point(|it| *it < place);
        self.places[..upto].last().copied()
    }

    fn after(&self, place: u32) -> Option<u32> {
        self.places.get(self.places.partition_point(|it| *it <= place)).copied()
    }
}
