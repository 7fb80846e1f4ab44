//! The story of a program that died: where, and what the thread had looked at.

use norn_frontend::{FailureMessage, Recording};
use norn_model::{Consequence, Op, ThreadId};
use norn_report::{Address, Death, Fault, Step};
use norn_trace::Signal;

use super::{observed_value, past::Past, symbolizer::Symbolizer};

/// Values that the thread read last, at most.
const MOST: usize = 4;
/// An address below this is a null pointer, or a member of what a null pointer points to.
const NULL: u64 = 4096;

pub(super) fn explain(
    symbols: &Symbolizer<'_>,
    past: &Past,
    consequence: &Consequence,
    recording: &Recording,
) -> Death {
    let outcome = recording.run.controlled.as_ref().map(|it| &it.outcome);
    let hit = outcome.and_then(|it| it.signal).filter(
        |it| matches!(consequence, Consequence::Signal { signal, .. } if *signal == it.number),
    );
    let thread = hit.map(|it| ThreadId(it.thread)).or_else(|| aborted(symbols, past));
    let by = match (hit, thread) {
        // The place of a signal is that of an instruction, and not of a call's return.
        (Some(hit), Some(thread)) => Some(symbols.next(thread, hit.pc.wrapping_add(1))),
        (None, Some(thread)) => abort(symbols, past, thread, recording.message.as_ref()),
        (_, None) => None,
    };
    let reads = thread.and_then(|it| observed_value::reads(symbols, past, &[it], MOST).remove(&it));
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

/// The thread that ended the program. Printing a message leaves events of libc, so it is the
/// one that did the last event of all.
fn aborted(symbols: &Symbolizer<'_>, past: &Past) -> Option<ThreadId> {
    let aborts = past.last.iter().rev().find(|it| it.0.op == Op::Abort);
    let last = aborts.or_else(|| past.last.back())?;
    let role = symbols.symbolized.trace.thread(last.0.id.thread).map(|it| (it.role, it.parent));
    match role {
        Some((norn_model::Role::Handler, Some(host))) => Some(host),
        _ => Some(last.0.id.thread),
    }
}

fn abort(
    symbols: &Symbolizer<'_>,
    past: &Past,
    thread: ThreadId,
    message: Option<&FailureMessage>,
) -> Option<Step> {
    let recent = &past.threads.get(&thread)?.recent;
    if let Some(event) = recent.iter().rev().find(|it| it.op == Op::Abort) {
        return Some(symbols.step(event));
    }
    // The message of an assertion has its place; the calls are those that the thread is in.
    let mut step = symbols.next(thread, 0);
    step.stack.retain(|it| it.offset.is_none());
    if let Some(FailureMessage::Assertion { at: Some(place), .. }) = message {
        step.stack.insert(0, place.clone());
    }
    Some(step)
}
