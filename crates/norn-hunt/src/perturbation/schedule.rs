//! A perturbed run as a schedule.

use std::collections::BTreeMap;

use norn_model::{EventId, Segment, ThreadId, Until, Visit};
use norn_replay::{Clip, arrange, point};
use norn_trace::EventIndex as _;

use super::{Perturbation, Stop};
use crate::source::Source;

impl Perturbation {
    /// The schedule, and the number of its segments up to and including the last access. The thread of that
    /// access then continues until it blocks.
    pub(crate) fn clip(&self, source: &Source) -> (Clip, usize) {
        let recorded = |it: EventId| source.recorded(it);
        let exact = self.stops.iter().filter_map(|it| match *it {
            Stop::At(thread, index) => Some((thread, recorded(EventId { thread, index }).index)),
            Stop::Before(..) | Stop::After(..) => None,
        });
        let mut clip = arrange(&source.symbolized, &exact.collect::<Vec<_>>());
        let mut exact = std::mem::take(&mut clip.schedule.segments).into_iter();
        let by_place = |event: EventId, from: u64, until: fn(Visit) -> Until| {
            let site = source.trace.event(event)?.site;
            let from = recorded(EventId { index: from, ..event }).index;
            let range = from..recorded(event).index + 1;
            let visits = &source.symbolized.trace;
            let times = visits.visits(event.thread, range, &mut |it| it == site);
            let visit = Visit { point: point(&source.symbolized, site), times: times.max(1) };
            let thread = source.symbolized.thread(event.thread);
            Some(Segment { thread, until: until(visit) })
        };
        let segments = self.stops.iter().filter_map(|it| match *it {
            Stop::At(..) => exact.next(),
            Stop::Before(event, from) => by_place(event, from, Until::Before),
            Stop::After(event, from) => by_place(event, from, Until::After),
        });
        clip.schedule.segments = segments.collect();
        let needed = clip.schedule.segments.len();
        let last = clip.schedule.segments.last().map(|it| it.thread.clone());
        let rest = last.map(|thread| Segment { thread, until: Until::Blocks });
        clip.schedule.segments.extend(rest);
        clip.list_modules(&source.symbolized);
        (clip, needed)
    }

    /// For each thread, the number of its events that are those of the recorded run.
    pub(crate) fn kept(&self, source: &Source) -> BTreeMap<ThreadId, u64> {
        let recorded = |it: &Stop| match *it {
            Stop::At(thread, index) => {
                Some((thread, source.recorded(EventId { thread, index }).index))
            }
            Stop::Before(..) | Stop::After(..) => None,
        };
        self.stops.iter().filter_map(recorded).collect()
    }
}
