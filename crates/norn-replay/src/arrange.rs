//! A clip of a run that has not happened: the events of a recorded run in another schedule.

use std::collections::BTreeMap;

use norn_model::{Class, EventId, Op, Point, Schedule, Segment, SiteId, ThreadId, Until, Visit};
use norn_trace::EventIndex;

use crate::{
    Clip, SymbolizedTrace,
    capture::describe,
    label::Labels,
    points::{look_up, plain},
};

/// Makes a clip from segments, each of which lets a thread run up to one of its events. If the last
/// event of a thread's last segment is an access, the segment ends after that event: the access may
/// read another value than in the recorded run, so the next event is unknown.
pub fn arrange(symbolized: &SymbolizedTrace, turns: &[(ThreadId, u64)]) -> Clip {
    let labels = Labels::new(symbolized);
    let mut arranger = Arranger { symbolized, labels, points: BTreeMap::new() };
    let mut done: BTreeMap<ThreadId, u64> = BTreeMap::new();
    let mut segments = Vec::new();
    for (at, &(thread, index)) in turns.iter().enumerate() {
        let from = done.insert(thread, index).unwrap_or(0);
        let last = turns[at + 1..].iter().all(|it| it.0 != thread);
        let after = if last { arranger.after(thread, from, index) } else { None };
        let until = after.unwrap_or_else(|| arranger.until(thread, from, index));
        segments.push(Segment { thread: symbolized.thread(thread), until });
    }
    describe(symbolized, &mut arranger.labels, Schedule { segments })
}

struct Arranger<'a> {
    symbolized: &'a SymbolizedTrace,
    labels: Labels<'a>,
    points: BTreeMap<SiteId, Point>,
}

impl Arranger<'_> {
    /// The end of a segment before an event; the segment begins with event `from`.
    fn until(&mut self, thread: ThreadId, from: u64, index: u64) -> Until {
        let SymbolizedTrace { trace, .. } = self.symbolized;
        let Some(event) = trace.event(EventId { thread, index }) else {
            let ends = trace.last_event(thread).is_some_and(|it| it.op == Op::End);
            return if ends { Until::End } else { Until::Event { index, at: None } };
        };
        let point = self.point(event.site);
        let same = self.visits(thread, (from, index), |it| plain(it) == plain(&point));
        Until::Event { index, at: Some(Visit { point, times: same + 1 }) }
    }

    /// The end of a segment after the access that is its last event.
    fn after(&mut self, thread: ThreadId, from: u64, index: u64) -> Option<Until> {
        let last = index.checked_sub(1).filter(|it| *it >= from)?;
        let event = self.symbolized.trace.event(EventId { thread, index: last })?;
        if !matches!(event.op, Op::Read { .. } | Op::Write { .. } | Op::Atomic { .. }) {
            return None;
        }
        let point = self.point(event.site);
        let exactly = self.visits(thread, (from, index), |it| *it == point);
        // If one line has several instructions for the same operation, only the index identifies it.
        let alike = self.visits(thread, (from, index), |it| plain(it) == plain(&point));
        let after = || Until::After(Visit { point: point.clone(), times: exactly });
        Some(if exactly == alike { after() } else { Until::Event { index, at: None } })
    }

    /// The number of events of a thread, in a range of indices, at points for which a predicate holds.
    fn visits(
        &mut self,
        thread: ThreadId,
        (from, to): (u64, u64),
        is_there: impl Fn(&Point) -> bool,
    ) -> u64 {
        let symbolized = self.symbolized;
        symbolized.trace.visits(thread, from..to, &mut |site| is_there(&self.point(site)))
    }

    fn point(&mut self, site: SiteId) -> Point {
        if let Some(point) = self.points.get(&site) {
            return point.clone();
        }
        let found = self.symbolized.trace.site(site);
        let point = found.map_or(Point::anywhere(Class::Any), |it| {
            look_up(self.symbolized, &mut self.labels, it)
        });
        self.points.insert(site, point.clone());
        point
    }
}
