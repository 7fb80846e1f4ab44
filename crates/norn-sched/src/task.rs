//! What the scheduler knows of one thread.

use core::num::NonZeroU32;

use norn_abi::Kind;

use crate::spin::SpinWatch;

/// No deadline.
pub const NEVER: u64 = u64::MAX;
/// The entry of a thread that the schedule does not name.
pub(crate) const UNNAMED: u32 = u32::MAX;

/// A task: one thread of the program, while it lives. Tasks are numbered in the order in which
/// threads are created, and the number of a thread that has ended is used again; so numbers are the
/// same in every run that takes the same course.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskId(NonZeroU32);

impl TaskId {
    /// The first task that there is.
    pub(crate) const FIRST: TaskId = TaskId(NonZeroU32::MIN);

    /// The task at this place of the table.
    #[expect(clippy::cast_possible_truncation, reason = "places are below the table's length")]
    pub(crate) fn at(index: usize) -> TaskId {
        TaskId(NonZeroU32::MIN.saturating_add(index as u32))
    }

    /// Its place in a table of all tasks, from 0.
    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// Whether a wait was interrupted by a signal handler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interruption {
    /// It was not.
    #[default]
    No,
    /// It was, and calls that can be made again are.
    Restarts,
    /// It was, and calls fail.
    Fails,
}

/// An event that a thread is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// What it is.
    pub kind: Kind,
    /// What it is done to: an address, or the number of a thread.
    pub object: usize,
    /// Where in the code.
    pub pc: usize,
}

impl Event {
    /// Of a task that is no thread's yet. All zero, so that a table of tasks needs no room in a
    /// file.
    pub(crate) const NONE: Event = Event { kind: Kind::Read1, object: 0, pc: 0 };
}

/// One thread, as the scheduler sees it.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub(crate) struct Task {
    /// Its thread's number.
    pub(crate) thread: u32,
    /// Its thread came from code that is not instrumented, so no schedule can name it.
    pub(crate) foreign: bool,
    /// It has not ended.
    pub(crate) alive: bool,
    /// It cannot go on before something happens.
    pub(crate) waiting: bool,
    /// It waits for something outside of the program, so it must look again from time to time.
    pub(crate) outside: bool,
    /// It waited for something outside, and has not looked yet whether that has come.
    pub(crate) looks: bool,
    /// It is in code that is not instrumented, and runs without the turn.
    pub(crate) away: bool,
    /// It lets others go first, and has not come to its next event.
    pub(crate) between: bool,
    /// Signal handlers that run on it now; they run even while it waits.
    pub(crate) handlers: u32,
    /// The virtual time at which it goes on in any case.
    pub(crate) deadline: u64,
    /// It went on because of the time.
    pub(crate) timed_out: bool,
    /// When that was, in the order of waiting; 0 if it is noted in the trace.
    pub(crate) expired: u64,
    /// Whether a signal handler has run while it waited.
    pub(crate) interruption: Interruption,
    /// A thread has asked for its end.
    pub(crate) cancelled: bool,
    /// Its wait is over while nobody waits for a turn: its thread must be woken.
    pub(crate) woken: bool,
    /// What it waits for or is about to do.
    pub(crate) event: Event,
    /// In which order tasks began to wait.
    pub(crate) ticket: u64,
    /// Events that it had done when it got the turn.
    pub(crate) since: u64,
    /// Events that it had done when it last gave the turn back.
    pub(crate) counted: u64,
    /// Events that it has done when its turn is over.
    pub(crate) until: u64,
    /// For strategies that order threads: the highest goes first.
    pub(crate) priority: u64,
    /// Its entry among the schedule's names.
    pub(crate) entry: u32,
    /// Whether it spins.
    pub(crate) spin: SpinWatch,
}

impl Task {
    /// A task that is no thread's. All zero, see [`Event::NONE`].
    pub(crate) const NEW: Task = Task {
        thread: 0,
        foreign: false,
        alive: false,
        waiting: false,
        outside: false,
        looks: false,
        away: false,
        between: false,
        handlers: 0,
        deadline: 0,
        timed_out: false,
        expired: 0,
        interruption: Interruption::No,
        cancelled: false,
        woken: false,
        event: Event::NONE,
        ticket: 0,
        since: 0,
        counted: 0,
        until: 0,
        priority: 0,
        entry: 0,
        spin: SpinWatch::NEW,
    };

    /// Becomes the task of a new thread. Field by field: a whole one might be copied by `memcpy`,
    /// which the runtime interposes. A time that ran out and was not noted yet stays so.
    pub(crate) fn begin(&mut self, thread: u32, foreign: bool) {
        (self.thread, self.foreign) = (thread, foreign);
        (self.alive, self.away, self.between, self.handlers) = (true, false, false, 0);
        (self.timed_out, self.cancelled, self.woken) = (false, false, false);
        self.interruption = Interruption::No;
        self.event = Event { kind: Kind::Begin, object: 0, pc: 0 };
        (self.since, self.counted, self.until) = (0, 0, 0);
        (self.priority, self.entry) = (0, UNNAMED);
        self.spin.reset();
        self.release();
        self.looks = false;
    }

    /// Whether it could go on if it had the turn.
    pub(crate) fn is_ready(&self) -> bool {
        self.alive && !self.away && (!self.waiting || self.handlers > 0)
    }

    /// Whether it waits for a time, and only that time must come.
    pub(crate) fn is_timed(&self) -> bool {
        self.alive && !self.away && self.waiting && self.handlers == 0 && self.deadline != NEVER
    }

    /// Whether the time of its wait has run out, and it has not gone on since.
    pub(crate) fn is_expired(&self) -> bool {
        self.timed_out && !self.waiting
    }

    /// Whether it waits to do `kind` on `object`.
    pub(crate) fn waits_for(&self, kind: Kind, object: usize) -> bool {
        self.alive && self.waiting && self.event.kind == kind && self.event.object == object
    }

    /// Whether something outside of the scheduler's view must happen before it goes on.
    pub(crate) fn is_outside(&self) -> bool {
        self.alive && (self.away || self.waiting && self.outside)
    }

    /// The class of its next event. A thread that waits for a condition, or just did, will next
    /// take the mutex again.
    pub(crate) fn class(&self) -> u32 {
        match self.event.kind {
            Kind::Wait => Kind::WaitAcquire.class(),
            kind => kind.class(),
        }
    }

    /// Whether it is between two events, and the next one is not known yet.
    pub(crate) fn is_between(&self) -> bool {
        let unknown = self.outside || matches!(self.event.kind, Kind::Sleep | Kind::Futex);
        self.away || self.between || self.waiting && unknown
    }

    /// It need not wait any longer.
    pub(crate) fn release(&mut self) {
        self.looks = self.outside && !self.timed_out;
        (self.waiting, self.outside, self.deadline) = (false, false, NEVER);
    }

    /// The event count at which its thread asks the scheduler again: at the end of its turn, or at
    /// its next event if each is looked at.
    pub(crate) fn next_stop(&self, steps: u64) -> u64 {
        let next = if self.spin.is_watched() { steps + 1 } else { self.until };
        next.min(self.until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> Task {
        let mut task = Task::NEW;
        task.begin(7, false);
        task
    }

    #[test]
    fn a_new_task_is_ready_and_unnamed() {
        let task = task();
        assert!(task.is_ready() && !task.is_timed() && !task.is_expired());
        assert_eq!((task.thread, task.entry), (7, UNNAMED));
    }

    #[test]
    fn a_handler_makes_a_waiting_task_ready() {
        let mut task = task();
        (task.waiting, task.deadline) = (true, 5);
        assert!(!task.is_ready() && task.is_timed());
        task.handlers = 1;
        assert!(task.is_ready() && !task.is_timed());
    }

    #[test]
    fn a_released_task_looks_if_it_waited_for_the_outside() {
        let mut task = task();
        (task.waiting, task.outside) = (true, true);
        task.release();
        assert!(task.looks && !task.waiting && !task.outside);
        (task.waiting, task.outside, task.timed_out) = (true, true, true);
        task.release();
        assert!(!task.looks, "its time has run out, so it will not look");
    }

    #[test]
    fn ids_lead_back_to_places() {
        assert!((0..100).all(|index| TaskId::at(index).index() == index));
        assert_eq!(TaskId::FIRST.index(), 0);
        assert_eq!(size_of::<Option<TaskId>>(), 4);
    }

    #[test]
    fn a_watched_task_stops_at_its_next_event() {
        let mut task = task();
        task.until = 50;
        assert_eq!(task.next_stop(10), 50);
        task.spin.watch_for_test();
        assert_eq!(task.next_stop(10), 11);
        assert_eq!(task.next_stop(50), 50);
    }
}
