//! The schedule that a controlled run went by, from its trace.
//!
//! All events in their order are grouped by thread. Each group is a segment; it ends before the
//! event with which its thread goes on later. Where that is, is written in two ways: by its index
//! and address, for the same build, and by operation, line and how many of these the segment has
//! had, for another one. Where the time of a wait ran out while Norn decided who goes next, the trace
//! says so, and a segment of its own, too: nothing but that decides whether a signal still comes in
//! time.

use std::collections::BTreeMap;

use norn_frontend::{Clock, PROGRAM};
use norn_model::{
    Class, Event, Op, Point, Role, Schedule, Segment, SiteId, ThreadId, Until, Visit,
};
use norn_trace::{Blocked, Kind, Site};

use crate::{
    Clip, Found, SymbolizedTrace,
    input::inputs_of,
    label::Labels,
    points::{look_up, plain},
};

/// Makes a clip of the run that left a trace.
pub fn capture(symbolized: &SymbolizedTrace) -> Clip {
    let mut labels = Labels::new(symbolized);
    let schedule = Capture::new(symbolized, &mut labels).schedule();
    let mut clip = describe(symbolized, &mut labels, schedule);
    clip.list_timeouts();
    clip.expect_all(symbolized);
    clip
}

/// A clip of a run of the same program, with a schedule whose modules have labels.
pub(crate) fn describe(
    symbolized: &SymbolizedTrace,
    labels: &mut Labels<'_>,
    schedule: Schedule,
) -> Clip {
    let run = symbolized.trace.run();
    let mut clip = Clip::new(run.command.clone(), schedule);
    clip.directory = Some(run.directory.clone().into());
    clip.process = symbolized.trace.process();
    clip.functions = run.functions.iter().map(|it| it.pattern.clone()).collect();
    clip.modules = labels.listed();
    clip.set_inputs(inputs_of(symbolized));
    clip.modules.entry(PROGRAM.to_owned()).or_insert_with(|| labels.program());
    if let Some(it) = &run.controlled {
        clip.clock = Some(Clock { realtime: it.realtime, monotonic: it.monotonic });
        clip.found = Some(Found { strategy: it.strategy, seed: it.seed });
    }
    clip
}

/// A thread, and the segment that it was last in.
#[derive(Default)]
struct Past {
    /// The number of its next event.
    next: u64,
    segment: usize,
    /// Whether that segment is over, and waits for the event with which the thread goes on.
    waits: bool,
    ended: bool,
    /// How often the thread was at which point in that segment.
    visits: BTreeMap<Point, u64>,
}

struct Capture<'a, 'b> {
    symbolized: &'a SymbolizedTrace,
    labels: &'b mut Labels<'a>,
    points: BTreeMap<SiteId, Point>,
    threads: BTreeMap<ThreadId, Past>,
    segments: Vec<Segment>,
    current: Option<ThreadId>,
    /// Whose time runs out, and when, as far as it has not yet.
    expired: &'a [(u64, ThreadId)],
}

impl<'a, 'b> Capture<'a, 'b> {
    fn new(symbolized: &'a SymbolizedTrace, labels: &'b mut Labels<'a>) -> Self {
        Capture {
            symbolized,
            labels,
            points: BTreeMap::new(),
            threads: BTreeMap::new(),
            segments: Vec::new(),
            current: None,
            expired: symbolized.trace.expired(),
        }
    }

    fn schedule(mut self) -> Schedule {
        let symbolized = self.symbolized;
        for event in symbolized.trace.merged() {
            self.run_out(&event);
            // Handlers run in the turn of the thread that they interrupt.
            if symbolized.trace.thread(event.id.thread).is_some_and(|it| it.role == Role::Thread) {
                self.step(&event);
            }
        }
        self.finish();
        Schedule { segments: self.segments }
    }

    /// Before an event: lets those times run out that ran out before it.
    fn run_out(&mut self, event: &Event) {
        let Some(seq) = event.seq else { return };
        while let [(when, id), rest @ ..] = self.expired
            && *when < seq
        {
            self.expired = rest;
            let threads = &self.symbolized.trace;
            if threads.thread(*id).is_some_and(|it| it.role == Role::Thread) {
                self.pause();
                let thread = self.symbolized.thread(*id);
                self.segments.push(Segment { thread, until: Until::Timeout });
            }
        }
    }

    /// Ends the turn of the current thread, which continues in a later segment or not at all.
    fn pause(&mut self) {
        if let Some(before) = self.current.take().and_then(|it| self.threads.get_mut(&it)) {
            before.waits = true;
        }
    }

    fn step(&mut self, event: &Event) {
        let id = event.id.thread;
        let point = self.point(event.site);
        if self.current != Some(id) {
            self.pause();
            self.current = Some(id);
            self.resume(event, &point);
        }
        let past = self.threads.entry(id).or_default();
        past.next = event.id.index + 1;
        past.ended |= event.op == Op::End;
        *past.visits.entry(plain(&point)).or_default() += 1;
    }

    /// A thread goes on: now it is known where its last segment ended, and another one begins.
    fn resume(&mut self, event: &Event, point: &Point) {
        let past = self.threads.entry(event.id.thread).or_default();
        if past.waits {
            let times = past.visits.get(&plain(point)).copied().unwrap_or(0) + 1;
            let at = Some(Visit { point: point.clone(), times });
            self.segments[past.segment].until = Until::Event { index: event.id.index, at };
        }
        past.waits = false;
        past.visits.clear();
        past.segment = self.segments.len();
        let thread = self.symbolized.thread(event.id.thread);
        self.segments.push(Segment { thread, until: Until::End });
    }

    /// Completes the last segments of threads that did not continue. Threads that are blocked
    /// forever block only at the very end, when the locks that they want are held.
    fn finish(&mut self) {
        let number = self.symbolized.trace.process();
        let processes = &self.symbolized.trace.run().processes;
        let process = processes.iter().find(|it| it.number == number);
        let blocked: BTreeMap<_, _> = process
            .iter()
            .flat_map(|it| &it.blocked)
            .map(|it| (ThreadId(it.thread), *it))
            .collect();
        for (id, past) in std::mem::take(&mut self.threads) {
            let stuck = blocked.get(&id);
            self.segments[past.segment].until = match stuck {
                _ if past.ended => Until::End,
                Some(stuck) if past.waits => self.before(&past, stuck),
                None if past.waits => Until::Event { index: past.next, at: None },
                Some(_) => Until::Blocks,
                None => Until::End,
            };
            if past.waits && !past.ended && stuck.is_some() {
                let thread = self.symbolized.thread(id);
                self.segments.push(Segment { thread, until: Until::Blocks });
            }
        }
    }

    /// Before the event in which a thread is stuck. A wait for a condition, or at a barrier, has
    /// begun with an event of its own, and the one that would end it is still to come.
    fn before(&mut self, past: &Past, stuck: &Blocked) -> Until {
        let kind = Kind::from_code(stuck.kind);
        let kind = kind.filter(|it| !matches!(it, Kind::Wait | Kind::BarrierEnter));
        let at = kind.map(|kind| self.look_up(Site { pc: stuck.pc, kind }));
        let times = |point: &Point| past.visits.get(&plain(point)).copied().unwrap_or(0) + 1;
        let at = at.map(|point| Visit { times: times(&point), point });
        Until::Event { index: past.next, at }
    }

    fn point(&mut self, site: SiteId) -> Point {
        if let Some(point) = self.points.get(&site) {
            return point.clone();
        }
        let found = self.symbolized.trace.site(site);
        let point = found.map_or(Point::anywhere(Class::Any), |it| self.look_up(it));
        self.points.insert(site, point.clone());
        point
    }

    fn look_up(&mut self, site: Site) -> Point {
        look_up(self.symbolized, self.labels, site)
    }
}
