//! Benign orders: orders that a program does not rely on, recognised in the trace.
//!
//! Most reads of other threads' writes may come earlier or later, and the program is prepared for
//! that: it polls a flag, waits for a condition, initialises lazily, takes whatever is in a queue.
//! Such violations are tried last, and the report states the reason.

use std::fmt;

use norn_model::{Event, Op, Trace};

use crate::{
    access::Touch, content::Contents, lockset::LockSets, outline::Outline, pattern::Action,
};

/// Why the order of a read and a write seems not to matter to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BenignOrder {
    /// The reader polls until it sees the expected value.
    SpinFlag,
    /// The reader waits for a condition until it sees the expected value.
    Condition,
    /// The thread that comes first initialises it.
    InitialiseOnce,
    /// Both modify it in turn: a counter, the end of a queue.
    InTurn,
    /// The value is the same in either order.
    SameValue,
}

impl BenignOrder {
    /// All reasons, by number.
    pub(crate) const ALL: [BenignOrder; 5] = [
        BenignOrder::SpinFlag,
        BenignOrder::Condition,
        BenignOrder::InitialiseOnce,
        BenignOrder::InTurn,
        BenignOrder::SameValue,
    ];

    /// The usual name of the idiom.
    pub fn name(self) -> &'static str {
        match self {
            BenignOrder::SpinFlag => "spin-flag",
            BenignOrder::Condition => "condition",
            BenignOrder::InitialiseOnce => "initialise-once",
            BenignOrder::InTurn => "in-turn",
            BenignOrder::SameValue => "same-value",
        }
    }
}

impl fmt::Display for BenignOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BenignOrder::SpinFlag => "the reader polls until it sees the expected value",
            BenignOrder::Condition => "the reader waits for it on a condition variable",
            BenignOrder::InitialiseOnce => "the thread that comes first initialises it",
            BenignOrder::InTurn => "both threads change it in turn",
            BenignOrder::SameValue => "the value is the same in either order",
        })
    }
}

/// Number of events that are examined around an access.
pub(crate) const NEAR: u32 = 8;

/// The accesses to a variable, by thread in program order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VariableHistory<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) outlines: &'a [Outline],
    pub(crate) sets: &'a LockSets,
    pub(crate) touches: &'a [Touch],
    pub(crate) contents: &'a Contents,
}

impl VariableHistory<'_> {
    /// Whether the reader itself is prepared for either order.
    pub(crate) fn asks(&self, read: u32) -> Option<BenignOrder> {
        let again = self.before(read).is_some_and(|it| self.asks_again(it, read))
            || self.after(read).is_some_and(|it| self.asks_again(read, it));
        if again {
            return Some(BenignOrder::SpinFlag);
        }
        self.waits(self.touch(read)).then_some(BenignOrder::Condition)
    }

    /// Whether a read is the last one of its thread in a loop: the next access is none of the loop.
    pub(crate) fn ends_spin(&self, read: u32) -> bool {
        self.after(read).is_none_or(|it| self.touch(it).site != self.touch(read).site)
    }

    /// Why the order of a read and a write seems benign, if the trace shows it. The third access is
    /// the write that the read would see instead.
    pub(crate) fn benign_order(
        &self,
        read: u32,
        write: u32,
        instead: Option<u32>,
    ) -> Option<BenignOrder> {
        if self.initialises(read, write) {
            Some(BenignOrder::InitialiseOnce)
        } else if self.in_turn(read, write) {
            Some(BenignOrder::InTurn)
        } else {
            let same = instead.is_some_and(|it| self.contents.is_same(it, read));
            same.then_some(BenignOrder::SameValue)
        }
    }

    fn touch(&self, number: u32) -> &Touch {
        &self.touches[number as usize]
    }

    /// The previous or next access of the same thread.
    fn before(&self, number: u32) -> Option<u32> {
        let before = number.checked_sub(1)?;
        (self.touch(before).thread == self.touch(number).thread).then_some(before)
    }

    fn after(&self, number: u32) -> Option<u32> {
        let after = self.touches.get(number as usize + 1)?;
        (after.thread == self.touch(number).thread).then_some(number + 1)
    }

    /// Whether a thread reads a value, and then another one at the same site, with no effect in
    /// between.
    fn asks_again(&self, first: u32, second: u32) -> bool {
        let (last, now) = (self.touch(first), self.touch(second));
        let reads = |it: &Touch| !it.kind.is(Action::Write);
        let idle = |it: &Event| {
            matches!(
                it.op,
                Op::Read { .. }
                    | Op::Atomic { .. }
                    | Op::Yield
                    | Op::Sleep { .. }
                    | Op::Acquire { .. }
                    | Op::Release { .. }
            )
        };
        let between = || {
            let events = &self.trace.threads[usize::from(now.thread)].events;
            &events[last.index as usize..now.index as usize]
        };
        last.site == now.site
            && now.index - last.index <= NEAR
            && reads(last)
            && reads(now)
            && !self.contents.saw_same(first, second)
            && between().iter().all(idle)
    }

    /// Whether the read checks the predicate of a condition wait: a wait ended directly before it,
    /// or begins directly after it, and no lock was released in between.
    fn waits(&self, read: &Touch) -> bool {
        let outline = &self.outlines[usize::from(read.thread)];
        let passed = outline.span(read.index);
        let near = |from: u32, to: u32| to - from <= NEAR && outline.at(from) == outline.at(to);
        let is = |index: u32, wait: fn(&Op) -> bool| {
            wait(&self.trace.threads[usize::from(read.thread)].events[index as usize].op)
        };
        let woken = outline.bounds[..passed].last().is_some_and(|&it| {
            near(it, read.index) && is(it, |op| matches!(op, Op::WaitAcquire { .. }))
        });
        let waiting = outline.bounds.get(passed).is_some_and(|&it| {
            near(read.index, it - 1) && is(it, |op| matches!(op, Op::WaitRelease { .. }))
        });
        woken || waiting
    }

    /// Whether the writer read it at the same site before it wrote.
    fn initialises(&self, read: u32, write: u32) -> bool {
        let (reader, writer) = (self.touch(read), self.touch(write));
        let asked = self.before(write).map(|it| self.touch(it)).is_some_and(|it| {
            it.site == reader.site && it.kind.is(Action::Read) && !it.kind.is(Action::Write)
        });
        asked && reader.site != writer.site
    }

    /// Whether both read and then write it, under a common lock or atomically.
    fn in_turn(&self, read: u32, write: u32) -> bool {
        let (reader, writer) = (self.touch(read), self.touch(write));
        let both = |it: &Touch| it.kind.is(Action::Read) && it.kind.is(Action::Write);
        if both(reader) && both(writer) {
            return true;
        }
        let together = |one: u32, other: &Touch| self.touch(one).section == other.section;
        let does = |it: u32, action: Action| self.touch(it).kind.is(action);
        let writes =
            self.after(read).is_some_and(|it| does(it, Action::Write) && together(it, reader));
        let reads =
            self.before(write).is_some_and(|it| does(it, Action::Read) && together(it, writer));
        writes && reads && self.sets.exclude(reader.set, writer.set)
    }
}
