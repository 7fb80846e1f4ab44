//! Events by thread and index, and by the visits of their thread to a place: for a trace on disk, where
//! only the chunks in question are decoded, and for one in memory.

use std::ops::Range;

use norn_model::{self as model, Event, EventId, SiteId, ThreadId};

use crate::Trace;

/// Finds events of a trace.
pub trait EventIndex {
    /// One event.
    fn event(&self, id: EventId) -> Option<Event>;

    /// The last event of a thread.
    fn last_event(&self, thread: ThreadId) -> Option<Event>;

    /// The number of events of a thread, in a range of indices, at sites for which a predicate holds.
    fn visits(
        &self,
        thread: ThreadId,
        range: Range<u64>,
        is_there: &mut dyn FnMut(SiteId) -> bool,
    ) -> u64;

    /// The event of a thread at its `number`th visit, from 0, to sites for which a predicate holds.
    fn visit(
        &self,
        thread: ThreadId,
        number: u64,
        is_there: &mut dyn FnMut(SiteId) -> bool,
    ) -> Option<Event>;
}

impl EventIndex for Trace {
    fn event(&self, id: EventId) -> Option<Event> {
        Trace::event(self, id)
    }

    fn last_event(&self, thread: ThreadId) -> Option<Event> {
        let index = self.thread(thread)?.events.checked_sub(1)?;
        Trace::event(self, EventId { thread, index })
    }

    fn visits(
        &self,
        thread: ThreadId,
        range: Range<u64>,
        is_there: &mut dyn FnMut(SiteId) -> bool,
    ) -> u64 {
        self.count_visits(thread, range, is_there)
    }

    fn visit(
        &self,
        thread: ThreadId,
        number: u64,
        is_there: &mut dyn FnMut(SiteId) -> bool,
    ) -> Option<Event> {
        self.find_visit(thread, number, is_there)
    }
}

impl EventIndex for model::Trace {
    fn event(&self, id: EventId) -> Option<Event> {
        model::Trace::event(self, id).copied()
    }

    fn last_event(&self, thread: ThreadId) -> Option<Event> {
        self.thread(thread)?.events.last().copied()
    }

    fn visits(
        &self,
        thread: ThreadId,
        range: Range<u64>,
        is_there: &mut dyn FnMut(SiteId) -> bool,
    ) -> u64 {
        let events = self.thread(thread).map_or(&[][..], |it| &it.events);
        let inside = events.iter().filter(|it| range.contains(&it.id.index));
        inside.filter(|it| is_there(it.site)).count() as u64
    }

    fn visit(
        &self,
        thread: ThreadId,
        number: u64,
        is_there: &mut dyn FnMut(SiteId) -> bool,
    ) -> Option<Event> {
        let mut visits = self.thread(thread)?.events.iter().filter(|it| is_there(it.site));
        visits.nth(usize::try_from(number).ok()?).copied()
    }
}
