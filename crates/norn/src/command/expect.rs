//! `norn replay --expect`: a clip as a regression test.

use std::io;

use norn_replay::CriticalEvent;

use crate::{
    cli::Expect,
    exit::Exit,
    terminal::{self, line},
};

/// What a replay shows about what was expected.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Judged {
    pub(super) exit: Exit,
    /// One sentence about the result, and one for each critical event that was not reached.
    lines: Vec<String>,
}

/// Judges a replay by what was expected of it. `exit` is the status of a replay without an expectation.
pub(super) fn judge(
    expect: Expect,
    exit: Exit,
    finished: bool,
    critical: &[CriticalEvent],
) -> Judged {
    let happened = exit == Exit::Harmful;
    let missed: Vec<_> = critical.iter().filter(|it| !it.reached).collect();
    let shown = finished && missed.is_empty();
    let (exit, result) = match (expect, happened, shown) {
        (Expect::Fixed, true, _) => (Exit::Harmful, "not fixed: it happened again"),
        (Expect::Fails, true, _) => (Exit::Clean, "as expected: it happened again"),
        (Expect::Fixed, false, true) => (
            Exit::Clean,
            "fixed: the failure did not happen, and the events that led to it were reached",
        ),
        (Expect::Fails, false, true) => (
            Exit::Harmful,
            "not as expected: the failure did not happen, although the events that led to it were reached",
        ),
        (_, false, false) if !finished => {
            (Exit::Impossible, "nothing was shown: the run did not finish")
        }
        (_, false, false) => (
            Exit::Impossible,
            "nothing was shown: the failure did not happen, but not all events that led to it were reached",
        ),
    };
    let mut lines = vec![format!("norn: {result}")];
    if !happened {
        lines.extend(missed.iter().map(|it| format!("  {} never came to: {}", it.thread, it.at)));
    }
    Judged { exit, lines }
}

impl Judged {
    /// Prints the result to standard error.
    pub(super) fn say(&self) -> io::Result<()> {
        self.lines.iter().try_for_each(|it| line(&mut terminal::stderr(), it))
    }
}

#[cfg(test)]
mod tests {
    use norn_model::{ThreadName, Visit};

    use super::*;

    fn event(reached: bool) -> CriticalEvent {
        let at = "write till.c:12 in pay".parse::<Visit>().unwrap().point;
        CriticalEvent { thread: ThreadName("T0.1".to_owned()), at, reached }
    }

    #[test]
    fn a_failure_that_cannot_be_reached_is_not_fixed() {
        let judge =
            |expect, exit, reached| judge(expect, exit, true, &[event(true), event(reached)]);
        assert_eq!(judge(Expect::Fixed, Exit::Impossible, true).exit, Exit::Clean);
        assert_eq!(judge(Expect::Fixed, Exit::Clean, true).exit, Exit::Clean);
        assert_eq!(judge(Expect::Fixed, Exit::Harmful, true).exit, Exit::Harmful);
        let missed = judge(Expect::Fixed, Exit::Impossible, false);
        assert_eq!(missed.exit, Exit::Impossible);
        assert_eq!(missed.lines[1..], ["  T0.1 never came to: write till.c:12 in pay"]);
        assert_eq!(judge(Expect::Fails, Exit::Harmful, false).exit, Exit::Clean);
        assert_eq!(judge(Expect::Fails, Exit::Clean, true).exit, Exit::Harmful);
        assert_eq!(judge(Expect::Fails, Exit::Impossible, false).exit, Exit::Impossible);
    }

    #[test]
    fn a_run_that_does_not_finish_shows_nothing() {
        let judged = judge(Expect::Fixed, Exit::Impossible, false, &[event(true)]);
        assert_eq!(judged.exit, Exit::Impossible);
    }
}
