//! Captures the schedule of a controlled run from its trace.
//!
//! Consecutive events of one thread form a segment. A segment ends before the next event of its
//! thread. The end is written in two ways: by index and address, for the same build, and by
//! operation, line and number of visits within the segment, for another build. Where the timeout of
//! a wait expired under Norn's control, the trace records it and the schedule has a segment of its
//! own for it, because that alone decides whether a signal still arrives in time.

use std::collections::BTreeMap;

use norn_frontend::{Clock, PROGRAM};
use norn_model::{Event, Op, Role, Schedule, Segment, ThreadId, Until, Visit};
use norn_trace::{Blocked, Kind, Site};

use crate::{
    Clip, Origin, SymbolizedTrace,
    input::inputs_of,
    label::Labels,
    points::{PointNumber, PointTable},
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

/// A clip with a schedule for the program of a trace. `labels` has the modules of the schedule.
pub(crate) fn describe(
    symbolized: &SymbolizedTrace,
    labels: &mut Labels<'_>,
    schedule: Schedule,
) -> Clip {
    let run = symbolized.trace.run();
    let mut clip = Clip::new(run.command.clone(), schedule);
    clip.directory = Some(run.directory.clone());
    clip.process = symbolized.trace.process();
    clip.functions = run.functions.iter().map(|it| it.pattern.clone()).collect();
    clip.modules = labels.listed();
    clip.set_inputs(inputs_of(symbolized));
    clip.modules.entry(PROGRAM.to_owned()).or_insert_with(|| labels.program());
    if let Some(it) = &run.controlled {
        clip.clock = Some(Clock { realtime: it.realtime, monotonic: it.monotonic });
        clip.found = Some(Origin { strategy: it.strategy, seed: it.seed });
        clip.set_memory(it.memory);
    }
    clip
}

impl Clip {
    /// Lists the modules of points that were added to the schedule after the clip was made. The event before which
    /// a turn ends and the one after which the last turn ends may be in different modules: libc itself calls
    /// functions of the runtime, such as those of destructors at the end of the program.
    pub fn list_modules(&mut self, symbolized: &SymbolizedTrace) {
        let points = self.schedule.segments.iter().filter_map(|it| it.until.visit());
        let modules = points.filter_map(|it| Some(&it.point.code.as_ref()?.module));
        let mut unlisted = modules.filter(|it| !self.modules.contains_key(*it)).peekable();
        if unlisted.peek().is_none() {
            return;
        }
        let mut labels = Labels::new(symbolized);
        unlisted.for_each(|it| labels.note(it));
        self.modules.extend(labels.listed());
    }
}

/// A thread and its last segment.
#[derive(Default)]
struct Progress {
    /// The index of its next event.
    next: u64,
    segment: usize,
    /// Whether another thread runs now, so that the segment ends before this thread's next event.
    paused: bool,
    ended: bool,
    /// Whether its last event began a wait on a condition variable.
    in_wait: bool,
    /// The number of visits to each point in that segment, by the number of what of the point stays the same
    /// in another build.
    visits: BTreeMap<u32, u64>,
}

impl Progress {
    /// The number of the next visit to a point.
    fn next_visit(&self, point: PointNumber) -> u64 {
        self.visits.get(&point.plain).copied().unwrap_or(0) + 1
    }
}

struct Capture<'a, 'b> {
    symbolized: &'a SymbolizedTrace,
    points: PointTable<'a, 'b>,
    threads: BTreeMap<ThreadId, Progress>,
    segments: Vec<Segment>,
    current: Option<ThreadId>,
    /// The timeouts that expire later than the current event: when, and of which thread.
    expired: &'a [(u64, ThreadId)],
}

impl<'a, 'b> Capture<'a, 'b> {
    fn new(symbolized: &'a SymbolizedTrace, labels: &'b mut Labels<'a>) -> Self {
        Capture {
            symbolized,
            points: PointTable::new(symbolized, labels),
            threads: BTreeMap::new(),
            segments: Vec::new(),
            current: None,
            expired: symbolized.trace.expired(),
        }
    }

    fn schedule(mut self) -> Schedule {
        let symbolized = self.symbolized;
        for event in symbolized.trace.merged() {
            self.expire_timeouts(&event);
            if self.can_be_scheduled(event.id.thread) {
                self.step(&event);
            }
        }
        self.finish();
        Schedule { segments: self.segments }
    }

    /// Whether a schedule can name a thread.
    fn can_be_scheduled(&self, thread: ThreadId) -> bool {
        let role = self.symbolized.trace.thread(thread).map(|it| it.role);
        role.is_some_and(Role::can_be_scheduled)
    }

    /// Adds segments for the timeouts that expired before an event.
    fn expire_timeouts(&mut self, event: &Event) {
        let Some(seq) = event.seq else { return };
        while let [(when, id), rest @ ..] = self.expired
            && *when < seq
        {
            self.expired = rest;
            if self.can_be_scheduled(*id) {
                self.pause();
                let thread = self.symbolized.thread(*id);
                self.segments.push(Segment { thread, until: Until::Timeout });
            }
        }
    }

    /// Ends the segment of the current thread, which continues in a later segment or not at all.
    fn pause(&mut self) {
        if let Some(before) = self.current.take().and_then(|it| self.threads.get_mut(&it)) {
            before.paused = true;
        }
    }

    fn step(&mut self, event: &Event) {
        let id = event.id.thread;
        let point = self.points.number(event.site);
        if self.current != Some(id) {
            self.pause();
            self.current = Some(id);
            self.resume(event, point);
        }
        let progress = self.threads.entry(id).or_default();
        progress.next = event.id.index + 1;
        progress.ended |= event.op == Op::End;
        progress.in_wait = matches!(event.op, Op::Wait { .. });
        *progress.visits.entry(point.plain).or_default() += 1;
    }

    /// Continues a thread: its next event determines the end of its last segment, and a new segment
    /// begins.
    fn resume(&mut self, event: &Event, point: PointNumber) {
        let progress = self.threads.entry(event.id.thread).or_default();
        if progress.paused {
            let times = progress.next_visit(point);
            let at = Visit { point: self.points.point(event.site), times };
            let at = Some(at).filter(|_| !is_cancelled(self.symbolized, event));
            self.segments[progress.segment].until = Until::Event { index: event.id.index, at };
        }
        progress.paused = false;
        progress.visits.clear();
        progress.segment = self.segments.len();
        let thread = self.symbolized.thread(event.id.thread);
        self.segments.push(Segment { thread, until: Until::End });
    }

    /// Completes the last segments of threads that did not continue. Threads that stay blocked get
    /// a segment at the very end: only there are the locks that they want certainly held.
    fn finish(&mut self) {
        let number = self.symbolized.trace.process();
        let processes = &self.symbolized.trace.run().processes;
        let process = processes.iter().find(|it| it.number == number);
        let blocked: BTreeMap<_, _> = process
            .iter()
            .flat_map(|it| &it.blocked)
            .map(|it| (ThreadId(it.thread), *it))
            .collect();
        for (id, progress) in std::mem::take(&mut self.threads) {
            let stuck = blocked.get(&id);
            self.segments[progress.segment].until = match stuck {
                _ if progress.ended => Until::End,
                Some(stuck) if progress.paused => self.before(&progress, stuck),
                None if progress.paused => Until::Event { index: progress.next, at: None },
                Some(_) => Until::Blocks,
                None => Until::End,
            };
            if progress.paused && !progress.ended && stuck.is_some() {
                let thread = self.symbolized.thread(id);
                self.segments.push(Segment { thread, until: Until::Blocks });
            }
        }
    }

    /// The end of a segment before the event in which a thread is blocked. A wait on a condition
    /// variable or at a barrier begins with an event of its own, and the event that ends it has no
    /// known point. The same holds for a thread that was woken and is blocked by the mutex: whether
    /// it is woken before or after the segment ends depends on the threads that run next.
    fn before(&mut self, progress: &Progress, stuck: &Blocked) -> Until {
        let kind = Kind::from_code(stuck.kind);
        let waits = |it: &Kind| progress.in_wait || matches!(it, Kind::Wait | Kind::BarrierEnter);
        let kind = kind.filter(|it| !waits(it));
        let at = kind.map(|kind| {
            let point = self.points.look_up(Site { pc: stuck.pc, kind });
            let number = self.points.number_of(point.clone());
            Visit { times: progress.next_visit(number), point }
        });
        Until::Event { index: progress.next, at }
    }
}

/// Whether an event is the cancellation of its thread. Until another thread requests that, the thread
/// is at another event, which it never executes. No place in the code belongs to it.
fn is_cancelled(symbolized: &SymbolizedTrace, event: &Event) -> bool {
    let nowhere = symbolized.trace.site(event.site).is_none_or(|it| it.pc == 0);
    nowhere && matches!(event.op, Op::Receive { .. })
}
