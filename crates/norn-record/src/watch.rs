//! Ends a subject early: when the runtime has reported a failure, at the timeout, or when the user
//! interrupts.

use std::{
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};

use norn_abi::{arena::NO_PROCESS, control::verdict};
use norn_frontend::{Cancel, Cut, Interrupt, Launch};

use crate::{
    arena::{Arena, Slot},
    kin,
};

/// Watches one subject.
#[derive(Debug)]
pub(crate) struct Watch {
    subject: i32,
    own_group: bool,
    controlled: bool,
    found: Found,
    timeout: Option<Duration>,
    cancel: Cancel,
    deadline: Option<Instant>,
    pub(crate) cut: Option<Cut>,
}

/// What to do when the runtime reports a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// The subject is ended.
    End,
    /// It is left, and shown in the debugger.
    Show,
    /// That was done, of this process.
    Shown(u32),
}

impl Watch {
    /// Starts the timeout now.
    pub(crate) fn new(launch: &Launch, subject: u32) -> Watch {
        let plan = launch.plan.as_ref();
        Watch {
            subject: subject.cast_signed(),
            own_group: launch.apart,
            controlled: plan.is_some(),
            found: if plan.is_some_and(|it| it.linger) { Found::Show } else { Found::End },
            timeout: launch.timeout,
            cancel: launch.cancel.clone(),
            deadline: launch.timeout.and_then(|it| Instant::now().checked_add(it)),
            cut: None,
        }
    }

    /// Ends the subject if there is a reason to. Called repeatedly, since it may still create processes.
    pub(crate) fn look(&mut self, arena: &Arena) {
        self.cut = self.cut.or_else(|| self.reason(arena));
        if self.cut.is_some() {
            self.kill(arena);
        } else if self.found != Found::End && is_found(arena) {
            self.show(arena);
        }
    }

    fn reason(&self, arena: &Arena) -> Option<Cut> {
        if self.controlled && is_found(arena) && self.found == Found::End {
            return Some(Cut::Found);
        }
        if let Some(signal) = Interrupt::caught().filter(|_| self.controlled) {
            return Some(Cut::Interrupt(signal));
        }
        if self.cancel.is_cancelled() {
            return Some(Cut::Cancelled);
        }
        let over = self.deadline.is_some_and(|it| Instant::now() >= it);
        self.timeout.filter(|_| over).map(Cut::Timeout)
    }

    /// What the runtime found keeps the program where it is, and nothing more would happen in the
    /// debugger: the program is interrupted there, as by a key, in the thread that it is about. Once
    /// for each time that the debugger starts it.
    fn show(&mut self, arena: &Arena) {
        let outcome = &arena.control().outcome;
        let process = outcome.process.load(Ordering::Acquire);
        let Some(entry) = arena.processes().get(process as usize) else { return };
        let pid = entry.pid.load(Ordering::Acquire).cast_signed();
        if self.found == Found::Shown(process) || kin::is_gone(pid) {
            return;
        }
        let thread = outcome.thread.load(Ordering::Acquire);
        let heads = arena.slots().map(Slot::head);
        let mut heads = heads.filter(|it| it.process == process && it.thread == thread);
        let tid = heads.next().map(|it| it.tid.cast_signed());
        if kin::interrupt(self.subject, pid, tid) {
            self.found = Found::Shown(process);
        }
    }

    fn kill(&self, arena: &Arena) -> usize {
        let pids = arena.processes().iter().map(|it| it.pid.load(Ordering::Acquire));
        let pids = pids.filter(|&it| it != NO_PROCESS).map(u32::cast_signed);
        kin::kill(self.subject, self.own_group, pids)
    }

    /// The run is over: kills processes that are left of a subject that was ended, or of its own group.
    /// A killed process may take a moment to disappear.
    pub(crate) fn finish(&self, arena: &Arena) {
        const MOST: usize = 200;
        if self.own_group || self.cut.is_some() {
            for _ in 0..MOST {
                if self.kill(arena) == 0 {
                    return;
                }
                thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

fn is_found(arena: &Arena) -> bool {
    arena.control().outcome.verdict.load(Ordering::Acquire) != verdict::NONE
}
