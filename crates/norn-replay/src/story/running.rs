//! The story of a program that does not end: which threads go on, where, and what they look at.

use norn_model::{ThreadId, ThreadName};
use serde::Serialize;

use super::{
    guide::{Guide, Step},
    look::{self, Look},
    past::{self, Past},
    stuck::{self, Waiter},
};

/// So many things that a thread looked at are told.
const MOST: usize = 4;

/// Some go on, and get nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Running {
    /// Who goes on.
    pub runners: Vec<Runner>,
    /// Who waits.
    pub waiters: Vec<Waiter>,
    /// Threads that have ended.
    pub ended: Vec<ThreadName>,
}

/// A thread that goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Runner {
    /// Who, and its last event.
    #[serde(flatten)]
    pub step: Step,
    /// What it looked at last.
    pub looks: Vec<Look>,
}

pub(super) fn tell(guide: &Guide<'_>, past: &Past) -> Running {
    let blocked = past::blocked(&guide.scene.trace);
    let waits = |id: ThreadId| blocked.iter().any(|it| it.thread == id.0);
    let goes_on = past.threads.iter().filter(|it| !it.1.ended && !waits(*it.0));
    let threads: Vec<_> = goes_on.map(|it| *it.0).collect();
    let mut looks = look::looks(guide, past, &threads, MOST);
    let runner = |id: &ThreadId| {
        let last = past.threads.get(id)?.recent.back()?;
        Some(Runner { step: guide.step(last), looks: looks.remove(id).unwrap_or_default() })
    };
    Running {
        runners: threads.iter().filter_map(runner).collect(),
        waiters: blocked.iter().map(|it| stuck::waiter(guide, past, it)).collect(),
        ended: stuck::ended(guide, past),
    }
}
