//! Ends a subject that has no more to say: when the runtime has found something, when its time is
//! over, when the person has had enough.

use std::{
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};

use norn_abi::{arena::NO_PROCESS, control::verdict};

use crate::{Interrupt, Options, arena::Arena, kin};

/// Watches one subject.
#[derive(Debug)]
pub(crate) struct Watch {
    subject: i32,
    own_group: bool,
    controlled: bool,
    /// Whether what the runtime found is to be left for a debugger to look at.
    linger: bool,
    timeout: Option<Duration>,
    deadline: Option<Instant>,
    pub(crate) cut: Option<Cut>,
}

/// Why a subject was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The runtime had found something.
    Found,
    /// Its time was over.
    Timeout(Duration),
    /// This signal came.
    Interrupt(i32),
}

impl Watch {
    /// Begins now.
    pub(crate) fn new(options: &Options, subject: u32) -> Watch {
        let plan = options.control.as_ref().map(|it| it.plan);
        Watch {
            subject: subject.cast_signed(),
            own_group: options.apart,
            controlled: plan.is_some(),
            linger: plan.is_some_and(|it| it.linger != 0),
            timeout: options.timeout,
            deadline: options.timeout.and_then(|it| Instant::now().checked_add(it)),
            cut: None,
        }
    }

    /// Ends the subject if it is time to; again and again, since it may be creating processes.
    pub(crate) fn look(&mut self, arena: &Arena) {
        self.cut = self.cut.or_else(|| self.reason(arena));
        if self.cut.is_some() {
            self.kill(arena);
        }
    }

    fn reason(&self, arena: &Arena) -> Option<Cut> {
        let found = arena.control().outcome.verdict.load(Ordering::Acquire) != verdict::NONE;
        if self.controlled && found && !self.linger {
            return Some(Cut::Found);
        }
        if let Some(signal) = Interrupt::caught().filter(|_| self.controlled) {
            return Some(Cut::Interrupt(signal));
        }
        let over = self.deadline.is_some_and(|it| Instant::now() >= it);
        self.timeout.filter(|_| over).map(Cut::Timeout)
    }

    fn kill(&self, arena: &Arena) -> usize {
        let pids = arena.processes().iter().map(|it| it.pid.load(Ordering::Acquire));
        let pids = pids.filter(|&it| it != NO_PROCESS).map(u32::cast_signed);
        kin::kill(self.subject, self.own_group, pids)
    }

    /// The run is over: nobody is left behind who was to be ended, or is of a group of its own.
    /// Who has been killed may take a moment to be gone.
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
