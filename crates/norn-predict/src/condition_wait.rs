//! Waits for condition variables, and the signals that may have ended them.

use norn_model::{Op, Trace, WokenBy};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::outline::{Outline, narrow};

/// Maximum number of possible signals that are examined per wait.
const SIGNALS: usize = 4;

/// A thread, numbered from 0, and one of its events.
pub(crate) type At = (u16, u32);

/// A wait that a signal ended.
#[derive(Clone, Debug)]
pub(crate) struct Wait {
    /// The events that release and reacquire the mutex.
    pub(crate) begin: u32,
    pub(crate) end: u32,
    /// The signals that may have ended it.
    pub(crate) by: SmallVec<[At; 1]>,
}

/// By condition: the signals and broadcasts in recorded order, with sequence numbers.
type Signals = FxHashMap<u64, Vec<(u64, At)>>;

/// By thread: the waits that a signal ended. If the signal is unknown, all signals since the
/// beginning of the wait are possible.
pub(crate) fn waits(trace: &Trace, outlines: &[Outline]) -> Vec<Vec<Wait>> {
    let signals = signals(trace, outlines);
    let threads = 0..trace.threads.len();
    threads.into_par_iter().map(|it| waits_of(trace, &outlines[it], it, &signals)).collect()
}

/// All signals and broadcasts.
fn signals(trace: &Trace, outlines: &[Outline]) -> Signals {
    let mut signals = Signals::default();
    for (number, thread) in trace.threads.iter().enumerate() {
        let Ok(number) = u16::try_from(number) else { break };
        for &index in &outlines[usize::from(number)].sync_points {
            let event = &thread.events[index as usize];
            if let (Op::Signal { cond } | Op::Broadcast { cond }, Some(seq)) = (event.op, event.seq)
            {
                signals.entry(cond).or_default().push((seq, (number, index)));
            }
        }
    }
    #[expect(clippy::iter_over_hash_type, reason = "each is sorted by itself")]
    for it in signals.values_mut() {
        it.sort_unstable();
    }
    signals
}

fn waits_of(trace: &Trace, outline: &Outline, number: usize, signals: &Signals) -> Vec<Wait> {
    let events = &trace.threads[number].events;
    let wait = |[begin, end]: &[u32; 2]| {
        let (first, last) = (&events[*begin as usize], &events[*end as usize]);
        let Op::WaitAcquire { cond, woken, .. } = last.op else { return None };
        let by = match woken {
            WokenBy::Event(signal) => {
                let thread = trace.threads.binary_search_by_key(&signal.thread, |it| it.id).ok()?;
                let index = narrow(usize::try_from(signal.index).ok()?);
                SmallVec::from_elem((u16::try_from(thread).ok()?, index), 1)
            }
            WokenBy::OneOf(_) => {
                let all = signals.get(&cond)?;
                let from = all.partition_point(|it| Some(it.0) < first.seq);
                let since = all[from..].iter().take_while(|it| Some(it.0) < last.seq);
                since.map(|it| it.1).take(SIGNALS).collect()
            }
            WokenBy::Nothing | WokenBy::Timeout | WokenBy::Error(_) => return None,
        };
        Some(Wait { begin: *begin, end: *end, by })
    };
    outline.bounds.array_windows().filter_map(wait).collect()
}
