//! The story of a program that does not end: which threads keep running, where, and what they read.

use norn_model::ThreadId;
use norn_report::{Runner, Running};

use super::{
    history::{self, RunHistory},
    observed_value, stuck,
    symbolizer::Symbolizer,
};

/// Maximum number of values that are shown of those that a thread read last.
const MAX_READS: usize = 4;

pub(super) fn explain(symbols: &Symbolizer<'_>, history: &RunHistory) -> Running {
    let blocked = history::blocked(&symbols.symbolized.trace);
    let waits = |id: ThreadId| blocked.iter().any(|it| it.thread == id.0);
    let running = history.threads.iter().filter(|it| !it.1.ended && !waits(*it.0));
    let threads: Vec<_> = running.map(|it| *it.0).collect();
    let mut reads = observed_value::reads(symbols, history, &threads, MAX_READS);
    let runner = |id: &ThreadId| {
        let last = history.threads.get(id)?.recent.back()?;
        Some(Runner { step: symbols.step(last), reads: reads.remove(id).unwrap_or_default() })
    };
    Running {
        runners: threads.iter().filter_map(runner).collect(),
        waiters: blocked.iter().map(|it| stuck::waiter(symbols, history, it)).collect(),
        ended: stuck::ended(symbols, history),
    }
}
