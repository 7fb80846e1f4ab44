//! The writes of a variable that a critical read can see, and the orders in which it does.

use norn_model::{MemoryAccess, SiteId};

use crate::{
    Danger,
    access::Touch,
    benign_order::{BenignOrder, VariableHistory},
    content::Contents,
    critical_read::{MOST_TOGETHER, Stake},
    facts::Facts,
    failure_condition::ConditionResult,
    interval::Direction,
    pattern::Action,
    reads_from::{ReadsFrom, reads_from},
    timestamp::Timestamps,
    violation_groups::{How, OrderKind},
    visibility::Visibility,
};

/// Maximum numbers of reads and of writes of a variable that are compared: half of them from the beginning
/// and half from the end.
const MOST: usize = 256;

/// What a read would see: a write, or what was in memory before the first one.
pub(crate) type Instead = Option<u32>;

/// An order in which a read sees another write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The read comes after this write, which it sees.
    After(u32),
    /// The read comes before this write, which follows what it sees.
    Before(u32),
    /// What the read sees comes after the write that it saw.
    Late { seen: u32, other: u32 },
}

/// The accesses to a variable.
pub(crate) struct Variable<'a, 't> {
    facts: &'a Facts<'t>,
    visibility: Visibility<'a>,
    touches: &'a [Touch],
    contents: Contents,
    timestamps: &'a Timestamps<'t>,
    /// Its writes, in the order of time.
    writes: Vec<u32>,
}

impl<'a, 't> Variable<'a, 't> {
    pub(crate) fn new(
        facts: &'a Facts<'t>,
        visibility: Visibility<'a>,
        touches: &'a [Touch],
    ) -> Self {
        let timestamps = facts.timestamps();
        let numbered = touches.iter().zip(0..).filter(|it| it.0.kind.is(Action::Write));
        let mut writes: Vec<u32> = numbered.map(|it| it.1).collect();
        writes.sort_unstable_by_key(|it| time(timestamps, &touches[*it as usize]));
        let contents = Contents::new(facts.trace, touches);
        Variable { facts, visibility, touches, contents, timestamps, writes }
    }

    pub(crate) fn touch(&self, number: u32) -> &'a Touch {
        &self.touches[number as usize]
    }

    fn access(&self, number: u32) -> Option<MemoryAccess> {
        let it = self.touch(number);
        let event = &self.facts.trace.threads[usize::from(it.thread)].events[it.index as usize];
        event.op.access()
    }

    /// The value that a read would see, if all of its bytes are known.
    pub(crate) fn value_instead(&self, read: u32, instead: Instead) -> Option<u128> {
        let read = self.access(read)?;
        let (content, value) = match instead {
            Some(write) => {
                let write = self.access(write)?;
                (write, write.write.flatten()?)
            }
            None => self.initial(&read)?,
        };
        part(value, (content.addr, content.size), (read.addr, read.size))
    }

    /// An access that saw what was in memory before the first write.
    fn initial(&self, read: &MemoryAccess) -> Option<(MemoryAccess, u128)> {
        let first = self.touch(*self.writes.first()?);
        let until = time(self.timestamps, first);
        let numbers = (0..).take(self.touches.len());
        let early = numbers.filter(|it| time(self.timestamps, self.touch(*it)) <= until);
        let seen = |it: u32| {
            let access = self.access(it)?;
            Some((access, access.read.flatten()?))
        };
        early.filter_map(seen).find(|it| (it.0.addr, it.0.size) == (read.addr, read.size))
    }

    /// The wanted reads, with what they saw.
    pub(crate) fn rows(&self, is_wanted: impl Fn(&Touch) -> bool) -> Vec<ReadsFrom> {
        let rows = reads_from(self.timestamps, self.touches, &self.contents);
        some(rows.into_iter().filter(|it| is_wanted(self.touch(it.read))).collect())
    }

    /// What else a read can see, with another value.
    pub(crate) fn others(&self, row: &ReadsFrom) -> Vec<Instead> {
        let (read, seen) = (self.touch(row.read), row.any_seen());
        let is_other = |it: &u32| {
            let other = self.touch(*it);
            Some(*it) != seen
                && *it != row.read
                && other.overlaps(read)
                && !self.contents.is_same(*it, row.read)
                && self.visibility.can_see(self.touches, read, seen.map(|it| self.touch(it)), other)
        };
        let writes = some(self.writes.clone()).into_iter().filter(is_other);
        let mut others: Vec<Instead> = writes.map(Some).collect();
        if row.own.is_none() && row.seen.iter().any(|it| it.older.is_none()) {
            others.push(None);
        }
        others
    }

    fn history(&self) -> VariableHistory<'_> {
        VariableHistory {
            trace: self.facts.trace,
            outlines: self.facts.sync.outlines,
            sets: self.visibility.rules.sets,
            touches: self.touches,
            contents: &self.contents,
        }
    }

    /// The order in which a read sees something else, if there is one. The read of a loop has to see it
    /// in the last round, and what the loop waits for must not come later.
    pub(crate) fn way(&self, row: &ReadsFrom, instead: Instead, is_loop: bool) -> Option<Way> {
        let history = self.history();
        if is_loop {
            let other = instead?;
            let seen = row.any_seen().filter(|_| history.ends_spin(row.read))?;
            let is_later = self.is_after(other, row.read);
            return if is_later { self.after(row.read, other) } else { self.late(seen, other) };
        }
        // A thread that asks until it sees the expected value is prepared for any other.
        if history.asks(row.read).is_some() {
            return None;
        }
        let Some(other) = instead else {
            let write = row.seen.iter().find(|it| it.older.is_none())?.write;
            return self.can_precede(row.read, write).then_some(Way::Before(write));
        };
        if self.is_after(other, row.read) {
            return self.after(row.read, other);
        }
        let next = self.next(other, row.read)?;
        if self.can_precede(row.read, next) {
            return Some(Way::Before(next));
        }
        self.late(row.any_seen()?, other)
    }

    /// Whether an access comes after another one in the recorded run.
    fn is_after(&self, one: u32, other: u32) -> bool {
        time(self.timestamps, self.touch(one)) > time(self.timestamps, self.touch(other))
    }

    /// Of a write that came after a read: whether it can come before it.
    fn after(&self, read: u32, other: u32) -> Option<Way> {
        let (read, write) = (self.touch(read), self.touch(other));
        let interval = self.visibility.rules.interval(read, write, Direction::Forward);
        interval.possible.then_some(Way::After(other))
    }

    /// Of a write that came before another one: whether it can come after it.
    fn late(&self, seen: u32, other: u32) -> Option<Way> {
        let (one, two) = (self.touch(seen), self.touch(other));
        let free = one.thread != two.thread
            && self.visibility.rules.interval(two, one, Direction::Forward).possible
            && !self.visibility.happens_before(two, one);
        free.then_some(Way::Late { seen, other })
    }

    /// Whether a read can come before a write that precedes it.
    fn can_precede(&self, read: u32, write: u32) -> bool {
        let (read, write) = (self.touch(read), self.touch(write));
        read.thread != write.thread
            && !self.visibility.happens_before(write, read)
            && self.visibility.rules.interval(write, read, Direction::Backward).possible
    }

    /// The write that follows another one in the recorded run, among those that a read can see.
    fn next(&self, write: u32, read: u32) -> Option<u32> {
        let at = self.writes.iter().position(|it| *it == write)?;
        let later = self.writes[at + 1..].iter().copied();
        later.into_iter().find(|it| self.touch(*it).overlaps(self.touch(read)))
    }

    /// What is at stake if a read sees something else.
    pub(crate) fn danger(
        &self,
        row: &ReadsFrom,
        instead: Instead,
        way: &Way,
        stake: Stake,
    ) -> Danger {
        let site = |it: u32| SiteId(self.touch(it).site);
        let missed = match *way {
            Way::Before(write) => Some(site(write)),
            Way::After(_) | Way::Late { .. } => None,
        };
        Danger {
            result: ConditionResult::Unknown,
            is_known_value: false,
            stake,
            read: site(row.read),
            together: [None; MOST_TOGETHER - 1],
            expected: row.any_seen().map(site),
            instead: instead.map(site),
            missed,
        }
    }

    /// Whether another analysis finds the same order.
    pub(crate) fn is_found_elsewhere(&self, row: &ReadsFrom, way: &Way) -> bool {
        match way {
            Way::After(write) => row.next.contains(write),
            Way::Before(write) => row.seen.iter().any(|it| it.write == *write),
            // A write between a write and a read of another thread is an atomicity violation.
            Way::Late { seen, .. } => self.touch(*seen).thread == self.touch(row.read).thread,
        }
    }

    /// The kind and the events of an order violation.
    pub(crate) fn pair(
        &self,
        row: &ReadsFrom,
        way: &Way,
        write: u32,
    ) -> (OrderKind, [&'a Touch; 2]) {
        let (read, write) = (self.touch(row.read), self.touch(write));
        if matches!(way, Way::Before(_)) {
            (OrderKind::Overdue, [read, write])
        } else {
            (OrderKind::Premature, [write, read])
        }
    }

    /// Properties of an order violation.
    pub(crate) fn how(&self, row: &ReadsFrom, write: u32) -> How {
        let (read, other) = (self.touch(row.read), self.touch(write));
        let [one, two] = [read, other].map(|it| (it.thread, it.index));
        let expected = self.history().benign_order(row.read, write, None);
        How {
            early: false,
            expected: expected.filter(|it| *it != BenignOrder::SameValue),
            ordered: self.facts.recorded_order().is_ordered(one, two),
        }
    }
}

/// The bytes of a value at an address that lie in a range, each range given by its address and size.
fn part(value: u128, (addr, size): (u64, u64), (start, length): (u64, u64)) -> Option<u128> {
    let offset = start.checked_sub(addr)?;
    let is_inside = offset.checked_add(length)? <= size;
    let shifted = value.checked_shr(u32::try_from(offset.checked_mul(8)?).ok()?)?;
    let bits = u32::try_from(length.checked_mul(8)?).ok()?;
    let mask = 1_u128.checked_shl(bits).map_or(u128::MAX, |it| it - 1);
    is_inside.then_some(shifted & mask)
}

/// The position of an access in time, as far as that is known.
fn time(timestamps: &Timestamps<'_>, it: &Touch) -> (u64, u16, u32) {
    (timestamps.earliest(it.thread, it.index), it.thread, it.index)
}

/// At most [`MOST`] of some elements.
fn some<T>(mut all: Vec<T>) -> Vec<T> {
    if all.len() > MOST {
        all.drain(MOST / 2..all.len() - MOST / 2);
    }
    all
}
