//! A clip of a run that has not happened: the events of a recorded run in another schedule.

use std::collections::BTreeMap;

use norn_model::{Op, Schedule, Segment, ThreadId, Until, Visit};
use norn_trace::{EventIndex as _, ThreadPart};

use crate::{
    Clip, SymbolizedTrace,
    capture::describe,
    label::Labels,
    points::{PointNumber, PointTable},
};

/// Makes a clip from segments, each of which lets a thread run up to one of its events. If the last
/// event of a thread's last segment is an access, the segment ends after that event: the access may
/// read another value than in the recorded run, so the next event is unknown. Threads that cannot be
/// scheduled have no segments.
pub fn arrange(symbolized: &SymbolizedTrace, turns: &[(ThreadId, u64)]) -> Clip {
    let can_be_scheduled =
        |it: ThreadId| symbolized.trace.thread(it).is_some_and(|it| it.role.can_be_scheduled());
    let turns: Vec<_> = turns.iter().copied().filter(|it| can_be_scheduled(it.0)).collect();
    let mut labels = Labels::new(symbolized);
    let points = PointTable::new(symbolized, &mut labels);
    let segment = |it: &(ThreadId, u64)| (symbolized.thread(it.0), Until::End);
    let segments = turns.iter().map(segment).map(|(thread, until)| Segment { thread, until });
    let mut arranger = Arranger { symbolized, points, segments: segments.collect() };
    let mut threads: BTreeMap<ThreadId, Vec<(usize, u64)>> = BTreeMap::new();
    for (at, &(thread, index)) in turns.iter().enumerate() {
        let turns = threads.entry(thread).or_default();
        // A turn does not end before it begins.
        let begin = turns.last().map_or(0, |it| it.1);
        turns.push((at, index.max(begin)));
    }
    for (thread, turns) in threads {
        arranger.thread(thread, &turns);
    }
    let segments = arranger.segments;
    describe(symbolized, &mut labels, Schedule { segments })
}

struct Arranger<'a, 'b> {
    symbolized: &'a SymbolizedTrace,
    points: PointTable<'a, 'b>,
    segments: Vec<Segment>,
}

impl Arranger<'_, '_> {
    /// Determines the ends of the segments of a thread. These are given by their numbers in the schedule and
    /// the events before which they end.
    fn thread(&mut self, thread: ThreadId, turns: &[(usize, u64)]) {
        let ends: Vec<_> = turns.iter().map(|it| it.1).collect();
        let trace = &self.symbolized.trace;
        trace.visit_parts(thread, &ends, &mut |at, part| {
            let index = ends[at];
            let is_last = at + 1 == ends.len();
            let after = if is_last { self.after(index, part) } else { None };
            let until = after.unwrap_or_else(|| self.until(thread, index, part));
            self.segments[turns[at].0].until = until;
        });
    }

    /// The end of a segment before an event.
    fn until(&mut self, thread: ThreadId, index: u64, part: &ThreadPart<'_>) -> Until {
        let SymbolizedTrace { trace, .. } = self.symbolized;
        let Some(event) = part.next else {
            let ends = trace.last_event(thread).is_some_and(|it| it.op == Op::End);
            return if ends { Until::End } else { Until::Event { index, at: None } };
        };
        let number = self.points.number(event.site);
        let same = self.visits(part, |it| it.plain == number.plain);
        let point = self.points.point(event.site);
        Until::Event { index, at: Some(Visit { point, times: same + 1 }) }
    }

    /// The end of a segment after the access that is its last event.
    fn after(&mut self, index: u64, part: &ThreadPart<'_>) -> Option<Until> {
        let event = part.last?;
        if !matches!(event.op, Op::Read { .. } | Op::Write { .. } | Op::Atomic { .. }) {
            return None;
        }
        let number = self.points.number(event.site);
        let exactly = self.visits(part, |it| it == number);
        // If one line has several instructions for the same operation, only the index identifies it.
        let alike = self.visits(part, |it| it.plain == number.plain);
        let point = self.points.point(event.site);
        let after = || Until::After(Visit { point, times: exactly });
        Some(if exactly == alike { after() } else { Until::Event { index, at: None } })
    }

    /// The number of events of a part at points for which a predicate holds.
    fn visits(&mut self, part: &ThreadPart<'_>, is_there: impl Fn(PointNumber) -> bool) -> u64 {
        let there = part.visits().filter(|it| is_there(self.points.number(it.0)));
        there.map(|it| it.1).sum()
    }
}
