//! Ends a subject early: when the runtime has reported a failure, at the timeout, or when the user
//! interrupts.

use std::{
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};

use norn_abi::{arena::NO_PROCESS, control::verdict};
use norn_frontend::{Cancel, Cut, Interrupt, Launch};
use rustix::process::Pid;

use crate::{
    arena::{Arena, Slot},
    descendants,
};

/// Watches one subject.
#[derive(Debug)]
pub(crate) struct Watch {
    subject: i32,
    own_group: bool,
    controlled: bool,
    on_failure: OnFailure,
    timeout: Option<Duration>,
    cancel: Cancel,
    deadline: Option<Instant>,
    pub(crate) cut: Option<Cut>,
}

/// What to do when the runtime reports a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnFailure {
    /// End the subject.
    End,
    /// Show the failure in the debugger.
    Show,
    /// The failure of this process was shown.
    Shown(u32),
}

impl Watch {
    /// Starts the timeout now.
    pub(crate) fn new(launch: &Launch, subject: Pid) -> Watch {
        let plan = launch.plan.as_ref();
        Watch {
            subject: subject.as_raw_nonzero().get(),
            own_group: launch.apart,
            controlled: plan.is_some() || launch.apart,
            on_failure: if plan.is_some_and(|it| it.linger) {
                OnFailure::Show
            } else {
                OnFailure::End
            },
            timeout: launch.timeout,
            cancel: launch.cancel.clone(),
            deadline: launch.timeout.and_then(|it| Instant::now().checked_add(it)),
            cut: None,
        }
    }

    /// Ends the subject if there is a reason to. Called repeatedly, since it may still create processes.
    pub(crate) fn check(&mut self, arena: &Arena) {
        self.cut = self.cut.or_else(|| self.reason(arena));
        if self.cut.is_some() {
            self.kill(arena);
        } else if self.on_failure != OnFailure::End && has_failed(arena) {
            self.show(arena);
        }
    }

    fn reason(&self, arena: &Arena) -> Option<Cut> {
        if self.controlled && has_failed(arena) && self.on_failure == OnFailure::End {
            return Some(Cut::Found);
        }
        if let Some(signal) = Interrupt::caught().filter(|_| self.controlled) {
            return Some(Cut::Interrupt(signal));
        }
        if self.cancel.is_cancelled() || Interrupt::is_stopped() && self.controlled {
            return Some(Cut::Cancelled);
        }
        let over = self.deadline.is_some_and(|it| Instant::now() >= it);
        self.timeout.filter(|_| over).map(Cut::Timeout)
    }

    /// Interrupts the program in the debugger, as Ctrl-C does, in the thread of the failure. The runtime
    /// holds the program at the failure, so nothing else would return control to the debugger. This is
    /// done once for each start of the program.
    fn show(&mut self, arena: &Arena) {
        let outcome = &arena.control().outcome;
        let process = outcome.process.load(Ordering::Acquire);
        let Some(entry) = arena.processes().get(process as usize) else { return };
        let pid = entry.pid.load(Ordering::Acquire).cast_signed();
        if self.on_failure == OnFailure::Shown(process) || descendants::is_gone(pid) {
            return;
        }
        let thread = outcome.thread.load(Ordering::Acquire);
        let heads = arena.slots().map(Slot::head);
        let mut heads = heads.filter(|it| it.process == process && it.thread == thread);
        let tid = heads.next().map(|it| it.tid.cast_signed());
        if descendants::interrupt(self.subject, pid, tid) {
            self.on_failure = OnFailure::Shown(process);
        }
    }

    fn kill(&self, arena: &Arena) -> usize {
        let pids = arena.processes().iter().map(|it| it.pid.load(Ordering::Acquire));
        let pids = pids.filter(|&it| it != NO_PROCESS).map(u32::cast_signed);
        descendants::kill(self.subject, self.own_group, pids)
    }

    /// Kills the remaining processes after the run, if the subject was ended or has its own group. A
    /// killed process may take a moment to disappear.
    pub(crate) fn finish(&self, arena: &Arena) {
        const MAX_ATTEMPTS: usize = 200;
        if self.own_group || self.cut.is_some() {
            for _ in 0..MAX_ATTEMPTS {
                if self.kill(arena) == 0 {
                    return;
                }
                thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

fn has_failed(arena: &Arena) -> bool {
    arena.control().outcome.verdict.load(Ordering::Acquire) != verdict::NONE
}
