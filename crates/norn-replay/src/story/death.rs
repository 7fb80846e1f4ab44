//! The story of a crash: where it happened, and the values that the thread had read.

use norn_frontend::{FailureMessage, Recording};
use norn_model::{Consequence, Op, ThreadId};
use norn_report::{Address, Death, Fault, Step};
use norn_trace::Signal;

use super::{history::RunHistory, observed_value, symbolizer::Symbolizer};

/// Maximum number of values that are shown of those that the thread read last.
const MAX_READS: usize = 4;
/// An address below this is a null pointer, or a member of what a null pointer points to.
const NULL: u64 = 4096;

pub(super) fn explain(
    symbols: &Symbolizer<'_>,
    history: &RunHistory,
    consequence: &Consequence,
    recording: &Recording,
) -> Death {
    let outcome = recording.run.controlled.as_ref().map(|it| &it.outcome);
    let hit = outcome.and_then(|it| it.signal).filter(
        |it| matches!(consequence, Consequence::Signal { signal, .. } if *signal == it.number),
    );
    let thread = hit.map(|it| ThreadId(it.thread)).or_else(|| aborted(symbols, history));
    let by = match (hit, thread) {
        // A signal has the address of the instruction itself, not a return address.
        (Some(hit), Some(thread)) => Some(symbols.next(thread, hit.pc.wrapping_add(1))),
        (None, Some(thread)) => abort(symbols, history, thread, recording.message.as_ref()),
        (_, None) => None,
    };
    let reads =
        thread.and_then(|it| observed_value::reads(symbols, history, &[it], MAX_READS).remove(&it));
    Death {
        by,
        fault: hit.map(|it| Fault {
            signal: it.number,
            address: Address(it.addr),
            null: is_null(it),
        }),
        reads: reads.unwrap_or_default(),
    }
}

fn is_null(hit: Signal) -> bool {
    const SIGSEGV: i32 = 11;
    hit.number == SIGSEGV && hit.addr < NULL
}

/// The thread that aborted the program. If there is no abort event, it is the thread of the last
/// event of all: printing the failure message leaves events of libc.
fn aborted(symbols: &Symbolizer<'_>, history: &RunHistory) -> Option<ThreadId> {
    let aborts = history.last.iter().rev().find(|it| it.0.op == Op::Abort);
    let last = aborts.or_else(|| history.last.back())?;
    let role = symbols.symbolized.trace.thread(last.0.id.thread).map(|it| (it.role, it.parent));
    match role {
        Some((norn_model::Role::Handler, Some(host))) => Some(host),
        _ => Some(last.0.id.thread),
    }
}

fn abort(
    symbols: &Symbolizer<'_>,
    history: &RunHistory,
    thread: ThreadId,
    message: Option<&FailureMessage>,
) -> Option<Step> {
    let recent = &history.threads.get(&thread)?.recent;
    if let Some(event) = recent.iter().rev().find(|it| it.op == Op::Abort) {
        return Some(symbols.step(event));
    }
    // The message of an assertion has its location; the callers come from the thread's call stack.
    let mut step = symbols.next(thread, 0);
    step.stack.retain(|it| it.offset.is_none());
    if let Some(FailureMessage::Assertion { at: Some(place), .. }) = message {
        step.stack.insert(0, place.clone());
    }
    Some(step)
}
