//! A clip of a run that has not happened: the events of a recorded run in another schedule.

use std::collections::BTreeMap;

use norn_model::{
    Class, Event, Op, Point, Schedule, Segment, SiteId, ThreadId, Trace, Until, Visit,
};

use crate::{
    Clip, SymbolizedTrace,
    capture::describe,
    label::Labels,
    points::{look_up, plain},
};

/// Makes a clip from segments, each of which lets a thread run up to one of its events. If the last
/// event of a thread's last segment is an access, the segment ends after that event: the access may
/// read another value than in the recorded run, so the next event is unknown.
pub fn arrange(symbolized: &SymbolizedTrace, trace: &Trace, turns: &[(ThreadId, u64)]) -> Clip {
    let labels = Labels::new(symbolized);
    let mut arranger = Arranger { symbolized, trace, labels, points: BTreeMap::new() };
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
    trace: &'a Trace,
    labels: Labels<'a>,
    points: BTreeMap<SiteId, Point>,
}

impl Arranger<'_> {
    /// The end of a segment before an event; the segment begins with event `from`.
    fn until(&mut self, thread: ThreadId, from: u64, index: u64) -> Until {
        let trace = self.trace;
        let events = trace.thread(thread).map_or(&[][..], |it| &it.events);
        let place = |index: u64| usize::try_from(index).unwrap_or(usize::MAX);
        let Some(event) = events.get(place(index)) else {
            let ends = events.last().is_some_and(|it| it.op == Op::End);
            return if ends { Until::End } else { Until::Event { index, at: None } };
        };
        let point = self.point(event);
        let turn = events.get(place(from)..place(index)).unwrap_or_default();
        let same = turn.iter().filter(|it| plain(&self.point(it)) == plain(&point)).count();
        Until::Event { index, at: Some(Visit { point, times: same as u64 + 1 }) }
    }

    /// The end of a segment after the access that is its last event.
    fn after(&mut self, thread: ThreadId, from: u64, index: u64) -> Option<Until> {
        let trace = self.trace;
        let range = usize::try_from(from).ok()?..usize::try_from(index).ok()?;
        let turn = trace.thread(thread)?.events.get(range)?;
        let event = turn.last()?;
        if !matches!(event.op, Op::Read { .. } | Op::Write { .. } | Op::Atomic { .. }) {
            return None;
        }
        let point = self.point(event);
        let visits = |this: &mut Self, same: fn(&Point, &Point) -> bool| {
            turn.iter().filter(|it| same(&this.point(it), &point)).count() as u64
        };
        let exactly = visits(self, |a, b| a == b);
        // If one line has several instructions for the same operation, only the index identifies it.
        let is_unique = exactly == visits(self, |a, b| plain(a) == plain(b));
        let after = || Until::After(Visit { point: point.clone(), times: exactly });
        Some(if is_unique { after() } else { Until::Event { index, at: None } })
    }

    fn point(&mut self, event: &Event) -> Point {
        if let Some(point) = self.points.get(&event.site) {
            return point.clone();
        }
        let site = self.symbolized.trace.site(event.site);
        let point = site.map_or(Point::anywhere(Class::Any), |it| {
            look_up(self.symbolized, &mut self.labels, it)
        });
        self.points.insert(event.site, point.clone());
        point
    }
}
