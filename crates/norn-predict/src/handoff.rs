//! Orders that a program does not rely on, recognised in the trace.
//!
//! Most reads of what other threads write may come earlier or later, and the program knows: it asks
//! again until a flag is set, waits for a condition, initialises what nobody has initialised yet,
//! takes from a queue what is there. Such violations are tried last, and the reason is told.

use std::fmt;

use norn_model::{Event, Op, Trace};

use crate::{access::Touch, lockset::Sets, pattern::Deed, usage::same_value};

/// Why the order of a read and a write seems not to matter to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HandOff {
    /// The reader asks again until it sees what it waits for.
    SpinFlag,
    /// The reader waits for a condition as long as it does not see it.
    Condition,
    /// Who comes first initialises it.
    InitialiseOnce,
    /// Both change what is there, one after the other: a counter, the end of a queue.
    InTurn,
    /// The value is the same in either order.
    SameValue,
}

impl HandOff {
    /// All of them, by number.
    pub(crate) const ALL: [HandOff; 5] = [
        HandOff::SpinFlag,
        HandOff::Condition,
        HandOff::InitialiseOnce,
        HandOff::InTurn,
        HandOff::SameValue,
    ];

    /// What programs call it.
    pub fn name(self) -> &'static str {
        match self {
            HandOff::SpinFlag => "spin-flag",
            HandOff::Condition => "condition",
            HandOff::InitialiseOnce => "initialise-once",
            HandOff::InTurn => "in-turn",
            HandOff::SameValue => "same-value",
        }
    }
}

impl fmt::Display for HandOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HandOff::SpinFlag => "the reader asks again until it is so",
            HandOff::Condition => "the reader waits for it",
            HandOff::InitialiseOnce => "who comes first initialises it",
            HandOff::InTurn => "both threads change it in turn",
            HandOff::SameValue => "the value is the same in either order",
        })
    }
}

/// Events of a thread that are looked at around an access.
const NEAR: usize = 8;

/// What is known of a variable: its accesses, by thread and in each thread's order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scenery<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) sets: &'a Sets,
    pub(crate) touches: &'a [Touch],
}

impl Scenery<'_> {
    /// Why the order of a read and a write seems not to matter, if the trace says so. The third
    /// access is the write that the read would see instead of what it saw.
    pub(crate) fn hand_off(&self, read: u32, write: u32, instead: Option<u32>) -> Option<HandOff> {
        if self.asks_again(self.before(read), Some(self.touch(read)))
            || self.asks_again(Some(self.touch(read)), self.after(read))
        {
            Some(HandOff::SpinFlag)
        } else if self.waits(self.touch(read)) {
            Some(HandOff::Condition)
        } else if self.initialises(read, write) {
            Some(HandOff::InitialiseOnce)
        } else if self.in_turn(read, write) {
            Some(HandOff::InTurn)
        } else {
            let event = |it: u32| self.event(self.touch(it));
            let same = instead.is_some_and(|it| same_value(event(it), event(read)));
            same.then_some(HandOff::SameValue)
        }
    }

    fn touch(&self, number: u32) -> &Touch {
        &self.touches[number as usize]
    }

    fn events(&self, touch: &Touch) -> &[Event] {
        &self.trace.threads[usize::from(touch.thread)].events
    }

    fn event(&self, touch: &Touch) -> &Event {
        &self.events(touch)[touch.index as usize]
    }

    /// The access of the same thread before one, or after it.
    fn before(&self, number: u32) -> Option<&Touch> {
        let before = &self.touches[number.checked_sub(1)? as usize];
        (before.thread == self.touch(number).thread).then_some(before)
    }

    fn after(&self, number: u32) -> Option<&Touch> {
        let after = self.touches.get(number as usize + 1)?;
        (after.thread == self.touch(number).thread).then_some(after)
    }

    /// Whether a thread reads something, and then something else at the same place, having done nothing
    /// in between.
    fn asks_again(&self, last: Option<&Touch>, now: Option<&Touch>) -> bool {
        let Some((last, now)) = last.zip(now).filter(|(last, now)| last.site == now.site) else {
            return false;
        };
        let between = &self.events(now)[last.index as usize..now.index as usize];
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
        between.len() <= NEAR
            && between.iter().all(idle)
            && !last.kind.is(Deed::Write)
            && !now.kind.is(Deed::Write)
            && !same_value(self.event(last), self.event(now))
    }

    /// Whether the read is what a condition wait waits for: a wait ended right before it, or begins
    /// right after it, and the lock was not given back between.
    fn waits(&self, read: &Touch) -> bool {
        let (before, after) = self.events(read).split_at(read.index as usize);
        let woken = before.iter().rev().take(NEAR).find(|it| is_lock(&it.op));
        let waiting = after.iter().skip(1).take(NEAR).find(|it| is_lock(&it.op));
        woken.is_some_and(|it| matches!(it.op, Op::WaitAcquire { .. }))
            || waiting.is_some_and(|it| matches!(it.op, Op::Wait { .. } | Op::WaitRelease { .. }))
    }

    /// Whether the writer asked at the same place before it wrote.
    fn initialises(&self, read: u32, write: u32) -> bool {
        let (reader, writer) = (self.touch(read), self.touch(write));
        let asked = self.before(write).is_some_and(|it| {
            it.site == reader.site && it.kind.is(Deed::Read) && !it.kind.is(Deed::Write)
        });
        asked && reader.site != writer.site
    }

    /// Whether both read and then write it, kept apart by a lock or in one step.
    fn in_turn(&self, read: u32, write: u32) -> bool {
        let (reader, writer) = (self.touch(read), self.touch(write));
        let both = |it: &Touch| it.kind.is(Deed::Read) && it.kind.is(Deed::Write);
        if both(reader) && both(writer) {
            return true;
        }
        let together = |one: &Touch, other: &Touch| one.section == other.section;
        let writes =
            self.after(read).is_some_and(|it| it.kind.is(Deed::Write) && together(it, reader));
        let reads =
            self.before(write).is_some_and(|it| it.kind.is(Deed::Read) && together(it, writer));
        self.sets.exclude(reader.set, writer.set) && writes && reads
    }
}

fn is_lock(op: &Op) -> bool {
    matches!(
        op,
        Op::Acquire { .. }
            | Op::Release { .. }
            | Op::Wait { .. }
            | Op::WaitRelease { .. }
            | Op::WaitAcquire { .. }
    )
}
