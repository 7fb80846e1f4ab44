//! The scheduler's state of one thread.

use core::num::NonZeroU32;

use norn_abi::{Kind, control::class};

use crate::spin::SpinWatch;

/// No deadline.
pub const NEVER: u64 = u64::MAX;
/// Maximum length of a turn in events, and maximum number of events of a thread between two questions
/// to the scheduler, so that a spinning or endless thread is noticed.
pub(crate) const LONGEST: u64 = 4096;
/// The entry of a thread that the schedule does not name.
pub(crate) const UNNAMED: u32 = u32::MAX;

/// A task: one thread of the program, while it lives. Tasks are numbered in the order of thread
/// creation, and the number of an ended thread is reused; so numbers are the same in every run with
/// the same schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskId(NonZeroU32);

impl TaskId {
    /// The first task.
    pub(crate) const FIRST: TaskId = TaskId(NonZeroU32::MIN);

    /// The task at this index of the table.
    #[expect(clippy::cast_possible_truncation, reason = "places are below the table's length")]
    pub(crate) fn at(index: usize) -> TaskId {
        TaskId(NonZeroU32::MIN.saturating_add(index as u32))
    }

    /// Its index in a table of all tasks, from 0.
    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// Whether a wait was interrupted by a signal handler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interruption {
    /// It was not interrupted.
    #[default]
    No,
    /// It was interrupted, and restartable calls are restarted.
    Restarts,
    /// It was interrupted, and calls fail.
    Fails,
}

/// An event that a thread is about to execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its kind.
    pub kind: Kind,
    /// Its object: an address, or the number of a thread.
    pub object: usize,
    /// Its code location.
    pub pc: usize,
}

impl Event {
    /// The event of an unused task. All zero, so that a table of tasks occupies no space in a file.
    pub(crate) const NONE: Event = Event { kind: Kind::Read1, object: 0, pc: 0 };
}

/// The scheduler's state of one thread.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub(crate) struct Task {
    /// Its thread's number.
    pub(crate) thread: u32,
    /// Its thread was created by uninstrumented code, so no schedule can name it.
    pub(crate) foreign: bool,
    /// Its thread has not ended.
    pub(crate) alive: bool,
    /// It cannot continue before something happens.
    pub(crate) waiting: bool,
    /// It waits for an external event, and must check for it from time to time.
    pub(crate) outside: bool,
    /// It waited for an external event, and has not yet checked whether it happened.
    pub(crate) looks: bool,
    /// It is in uninstrumented code, and runs without the turn.
    pub(crate) away: bool,
    /// It is between two events, and its next one is not known yet: it sleeps, is in a system call
    /// or in uninstrumented code, or has continued since and has not arrived at an event.
    pub(crate) between: bool,
    /// A signal handler runs on its thread, as a task of its own: this one continues afterwards.
    pub(crate) interrupted: bool,
    /// A signal is pending, whose handler interrupts it.
    pub(crate) pends: bool,
    /// For the task of a signal handler: the task that the handler interrupts.
    pub(crate) host: Option<TaskId>,
    /// It is the task of a signal handler, and no signal is pending.
    pub(crate) dormant: bool,
    /// It is the task of a signal handler that has begun to run, or has to begin at once.
    pub(crate) handles: bool,
    /// The virtual time at which its wait ends in any case.
    pub(crate) deadline: u64,
    /// Its wait timed out.
    pub(crate) timed_out: bool,
    /// The position of the timeout in the order of waiting; 0 once it is recorded in the trace.
    pub(crate) expired: u64,
    /// Whether a signal handler has run while it waited.
    pub(crate) interruption: Interruption,
    /// Another thread has cancelled it.
    pub(crate) cancelled: bool,
    /// Its wait has ended while threads run freely: its thread must be woken.
    pub(crate) woken: bool,
    /// Number of events of all threads when it last checked the file that it waits for.
    pub(crate) file_checked: u64,
    /// The event that it waits for or is about to execute.
    pub(crate) event: Event,
    /// Its position in the order of waiting.
    pub(crate) ticket: u64,
    /// Number of its events when it got the turn.
    pub(crate) since: u64,
    /// Number of its events when it last gave the turn back.
    pub(crate) counted: u64,
    /// Number of its events when it last asked the scheduler.
    pub(crate) arrived: u64,
    /// Number of its events at the end of its turn.
    pub(crate) until: u64,
    /// For strategies with priorities: the highest runs first.
    pub(crate) priority: u64,
    /// Number of its events at the last check for fairness, and the number of consecutive checks in
    /// which it could run and had not run since the one before.
    pub(crate) checked: u64,
    pub(crate) overlooked: u32,
    /// Its entry in the schedule's table of threads.
    pub(crate) entry: u32,
    /// Whether its last event before the current one had an effect; known while it is watched.
    pub(crate) had_effect: bool,
    /// The spin detection state.
    pub(crate) spin: SpinWatch,
}

impl Task {
    /// An unused task. All zero, see [`Event::NONE`].
    pub(crate) const NEW: Task = Task {
        thread: 0,
        foreign: false,
        alive: false,
        waiting: false,
        outside: false,
        looks: false,
        away: false,
        between: false,
        interrupted: false,
        pends: false,
        host: None,
        dormant: false,
        handles: false,
        deadline: 0,
        timed_out: false,
        expired: 0,
        interruption: Interruption::No,
        cancelled: false,
        woken: false,
        file_checked: 0,
        event: Event::NONE,
        ticket: 0,
        since: 0,
        counted: 0,
        arrived: 0,
        until: 0,
        priority: 0,
        checked: 0,
        overlooked: 0,
        entry: 0,
        had_effect: false,
        spin: SpinWatch::NEW,
    };

    /// Becomes the task of a new thread. Assigns field by field: a whole value might be copied by
    /// `memcpy`, which the runtime interposes. An unrecorded timeout is kept.
    pub(crate) fn begin(&mut self, thread: u32, foreign: bool) {
        (self.thread, self.foreign) = (thread, foreign);
        (self.alive, self.away, self.between, self.interrupted) = (true, false, false, false);
        (self.host, self.dormant, self.handles, self.pends) = (None, false, false, false);
        (self.timed_out, self.cancelled, self.woken) = (false, false, false);
        self.interruption = Interruption::No;
        self.event = Event { kind: Kind::Begin, object: 0, pc: 0 };
        (self.since, self.counted, self.arrived, self.until) = (0, 0, 0, 0);
        (self.priority, self.entry) = (0, UNNAMED);
        (self.checked, self.overlooked) = (0, 0);
        self.spin.reset();
        self.release();
        self.looks = false;
    }

    /// Whether it is the task of a signal handler.
    pub(crate) fn is_handler(&self) -> bool {
        self.host.is_some()
    }

    /// Whether it could run if it had the turn.
    pub(crate) fn is_ready(&self) -> bool {
        self.alive && !self.away && !self.waiting && !self.interrupted && !self.must_handle()
    }

    /// Whether a signal handler has to run first. A thread receives a pending signal at the latest
    /// when it calls the system; until then it may execute a few instructions.
    pub(crate) fn must_handle(&self) -> bool {
        self.pends && !is_access(self.event.kind)
    }

    /// Whether it waits with a deadline.
    pub(crate) fn is_timed(&self) -> bool {
        self.alive && !self.away && self.waiting && !self.interrupted && self.deadline != NEVER
    }

    /// Whether its wait has timed out, and it has not continued since.
    pub(crate) fn is_expired(&self) -> bool {
        self.timed_out && !self.waiting
    }

    /// Whether it waits to execute `kind` on `object`.
    pub(crate) fn waits_for(&self, kind: Kind, object: usize) -> bool {
        self.alive && self.waiting && self.event.kind == kind && self.event.object == object
    }

    /// Whether it waits for a file that only the program's own threads operate on, and checks it
    /// again when one of them may have done so.
    pub(crate) fn waits_for_file(&self) -> bool {
        let file = matches!(self.event.kind, Kind::Receive | Kind::Send | Kind::Ready);
        self.alive && self.waiting && !self.outside && file
    }

    /// Whether something outside the scheduler's view must happen before it continues.
    pub(crate) fn is_outside(&self) -> bool {
        self.alive && (self.away || self.waiting && self.outside)
    }

    /// The class of its next event. A thread in or just after a condition wait will next reacquire
    /// the mutex.
    pub(crate) fn class(&self) -> u32 {
        match self.event.kind {
            Kind::Wait => Kind::WaitAcquire.class(),
            kind => kind.class(),
        }
    }

    /// Whether its wait is the event that it waits for, so that it has arrived there: a wait for a
    /// lock is; a sleep, a system call, a futex and the wait for a team of threads are not. Code of
    /// libraries waits for futexes without an event.
    pub(crate) fn waits_at_event(&self) -> bool {
        let kind = self.event.kind;
        let between = [Kind::Sleep, Kind::HappensAfter, Kind::HandlerBegin, Kind::Futex];
        !self.outside && !between.contains(&kind)
    }

    /// Ends its wait.
    pub(crate) fn release(&mut self) {
        self.looks = self.outside && !self.timed_out;
        (self.waiting, self.outside, self.deadline) = (false, false, NEVER);
    }

    /// The event count at which its thread asks the scheduler again: at the end of its turn, at its
    /// next event if it is watched or a signal is pending, or if it has not asked for long. A thread
    /// that waits or yields in each round of a loop gets a new turn each time, and would never reach
    /// the end of one.
    pub(crate) fn next_stop(&self, steps: u64) -> u64 {
        let soon = steps + u64::from(!self.between);
        let asks = self.spin.is_watched() || self.pends;
        let next = if asks { soon } else { soon.max(self.arrived + LONGEST) };
        next.min(self.until)
    }
}

/// Whether an event is an access to memory, and no call.
fn is_access(kind: Kind) -> bool {
    matches!(kind.class(), class::READ | class::WRITE | class::ATOMIC)
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
    fn a_task_that_a_handler_interrupts_neither_runs_nor_times_out() {
        let mut task = task();
        task.interrupted = true;
        assert!(!task.is_ready());
        (task.waiting, task.deadline) = (true, 5);
        assert!(!task.is_timed());
        task.interrupted = false;
        assert!(!task.is_ready() && task.is_timed());
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
        task.until = 9000;
        assert_eq!(task.next_stop(10), LONGEST, "it has not asked for long");
        assert_eq!(task.next_stop(5000), 5001);
        task.until = 50;
        task.spin.watch_for_test();
        assert_eq!(task.next_stop(10), 11);
        assert_eq!(task.next_stop(50), 50);
        task.between = true;
        assert_eq!(task.next_stop(10), 10, "its next event must be seen, too");
    }
}
