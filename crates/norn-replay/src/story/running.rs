//! The story of a program that does not end: which threads keep running, where, and what they read.

use norn_model::ThreadId;
use norn_report::{Runner, Running};

use super::{
    observed_value,
    past::{self, Past},
    stuck,
    symbolizer::Symbolizer,
};

/// Values that a thread read last, at most.
const MOST: usize = 4;

pub(super) fn explain(symbols: &Symbolizer<'_>, past: &Past) -> Running {
    let blocked = past::blocked(&symbols.symbolized.trace);
    let waits = |id: ThreadId| blocked.iter().any(|it| it.thread == id.0);
    let goes_on = past.threads.iter().filter(|it| !it.1.ended && !waits(*it.0));
    let threads: Vec<_> = goes_on.map(|it| *it.0).collect();
    let mut reads = observed_value::reads(symbols, past, &threads, MOST);
    let runner = |id: &ThreadId| {
        let last = past.threads.get(id)?.recent.back()?;
        Some(Runner { step: symbols.step(last), reads: reads.remove(id).unwrap_or_default() })
    };
    Running {
        runners: threads.iter().filter_map(runner).collect(),
        waiters: blocked.iter().map(|it| stuck::waiter(symbols, past, it)).collect(),
        ended: stuck::ended(symbols, past),
    }
}
