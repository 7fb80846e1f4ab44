//! Waits for signals that only the program itself sends: which threads sent them, and which received them
//! instead of the thread that waits.

use norn_model::{Event, Op, ThreadId};
use norn_report::{SentSignal, SignalWait, vocabulary::signal_name};
use norn_trace::{Blocked, Kind, signal};

use super::{history::RunHistory, symbolizer::Symbolizer, wait::MAX_LISTED};

/// The signals that a blocked thread waits for, if it waits for signals of the program.
pub(super) fn awaited(blocked: &Blocked) -> Option<u64> {
    let receives = Kind::from_code(blocked.kind) == Some(Kind::Receive);
    signal::awaited(blocked.object).filter(|_| receives)
}

/// The signal that an event sends or receives, and the thread that it is for if it is not for the process.
pub(super) fn of(op: &Op) -> Option<(u8, Option<ThreadId>)> {
    let (Op::Send { channel, .. } | Op::Receive { channel, .. }) = *op else { return None };
    signal::of_channel(channel).map(|(signal, thread)| (signal, thread.map(ThreadId)))
}

/// Whether a set has a signal.
pub(super) fn has(signals: u64, signal: u8) -> bool {
    signal.checked_sub(1).is_some_and(|it| signals.checked_shr(u32::from(it)).unwrap_or(0) & 1 != 0)
}

pub(super) fn wait(
    symbols: &Symbolizer<'_>,
    history: &RunHistory,
    blocked: &Blocked,
    signals: u64,
) -> SignalWait {
    let began = history.threads.get(&ThreadId(blocked.thread)).map(|it| it.last);
    let sent = |it: &&(u64, Event)| {
        matches!(it.1.op, Op::Send { .. }) && of(&it.1.op).is_some_and(|it| has(signals, it.0))
    };
    let sent: Vec<_> = history.signals.iter().filter(sent).collect();
    let listed = sent.len().min(MAX_LISTED);
    let call = |(order, event): &(u64, Event)| {
        let (signal, to) = of(&event.op).unwrap_or_default();
        SentSignal {
            step: symbols.step(event),
            signal: signal_name(signal),
            to: to.map(|it| symbols.thread(it)),
            before: began.is_none_or(|it| *order < it),
            received: receivers(history, &event.op).map(|it| symbols.thread(it)).collect(),
        }
    };
    SignalWait {
        signals: (1..=64).filter(|it| has(signals, *it)).map(signal_name).collect(),
        earlier: (sent.len() - listed) as u64,
        sent: sent[sent.len() - listed..].iter().map(|it| call(it)).collect(),
    }
}

/// The threads, or their handlers, that received what an event sent.
fn receivers(history: &RunHistory, sent: &Op) -> impl Iterator<Item = ThreadId> {
    let sent = *sent;
    history.signals.iter().filter_map(move |(_, event)| match (sent, event.op) {
        (
            Op::Send { channel, from, to },
            Op::Receive { channel: same, from: first, to: last, .. },
        ) if channel == same && first < to && from < last => Some(event.id.thread),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_have_signals_from_1_to_64() {
        assert!(has(1, 1) && has(1 << 63, 64) && has(1 << 9, 10));
        assert!(!has(1, 2) && !has(u64::MAX, 0) && !has(u64::MAX, 65));
    }

    #[test]
    fn a_thread_that_waits_for_a_file_waits_for_no_signals() {
        let blocked = |kind: Kind, object| Blocked { thread: 1, kind: kind.code(), object, pc: 0 };
        let signals = signal::wait_key(1 << 9);
        assert_eq!(awaited(&blocked(Kind::Receive, signals)), Some(1 << 9));
        assert_eq!(awaited(&blocked(Kind::Acquire, signals)), None);
        assert_eq!(awaited(&blocked(Kind::Receive, 2 << 56)), None);
    }
}
