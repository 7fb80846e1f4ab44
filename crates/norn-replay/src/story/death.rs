//! The story of a program that died: where, and what the thread had looked at.

use norn_model::{Consequence, Location, Op, ThreadId};
use norn_report::{Address, Death, Fault, Step};
use norn_trace::{Outcome, Signal};

use super::{observed_value, past::Past, symbolizer::Symbolizer};

/// Values that the thread read last, at most.
const MOST: usize = 4;
/// An address below this is a null pointer, or a member of what a null pointer points to.
const NULL: u64 = 4096;

pub(super) fn explain(
    symbols: &Symbolizer<'_>,
    past: &Past,
    consequence: &Consequence,
    outcome: &Outcome,
) -> Death {
    let hit = outcome.signal.filter(
        |it| matches!(consequence, Consequence::Signal { signal, .. } if *signal == it.number),
    );
    let thread = hit.map(|it| ThreadId(it.thread)).or_else(|| aborted(symbols, past));
    let by = match (hit, thread) {
        // The place of a signal is that of an instruction, and not of a call's return.
        (Some(hit), Some(thread)) => Some(symbols.next(thread, hit.pc.wrapping_add(1))),
        (None, Some(thread)) => abort(symbols, past, thread, outcome.text.as_deref()),
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
    let role = symbols.scene.trace.thread(last.0.id.thread).map(|it| (it.role, it.parent));
    match role {
        Some((norn_model::Role::Handler, Some(host))) => Some(host),
        _ => Some(last.0.id.thread),
    }
}

fn abort(
    symbols: &Symbolizer<'_>,
    past: &Past,
    thread: ThreadId,
    said: Option<&str>,
) -> Option<Step> {
    let recent = &past.threads.get(&thread)?.recent;
    if let Some(event) = recent.iter().rev().find(|it| it.op == Op::Abort) {
        return Some(symbols.step(event));
    }
    // An assertion says itself where it is; the calls are those that the thread is in.
    let mut step = symbols.next(thread, 0);
    step.stack.retain(|it| it.offset.is_none());
    if let Some(place) = said.and_then(asserted) {
        step.stack.insert(0, place);
    }
    Some(step)
}

/// The place in what `assert` says: ``file.c:12: main: Assertion `x > 0' failed.``
fn asserted(said: &str) -> Option<Location> {
    let (place, _) = said.split_once(": Assertion `")?;
    let mut parts = place.splitn(3, ':');
    let file = parts.next()?.to_owned();
    let line = parts.next()?.trim().parse().ok()?;
    let function = parts.next()?.trim();
    let function = function.split('(').next().unwrap_or(function);
    let function = function.rsplit(' ').next().unwrap_or(function).to_owned();
    Some(Location {
        function: Some(function),
        file: Some(file),
        line: Some(line),
        ..Location::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assertions_say_where_they_are() {
        let place = |said| norn_report::vocabulary::place(&asserted(said).unwrap());
        assert_eq!(place("src/a.c:12: main: Assertion `x > 0' failed."), "main a.c:12");
        let said = "a.cc:7: void ns::Bank::pay(int, long): Assertion `x > 0' failed.";
        assert_eq!(place(said), "ns::Bank::pay a.cc:7");
        assert_eq!(asserted("x > 0"), None);
    }
}
