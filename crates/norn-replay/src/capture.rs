//! The schedule that a controlled run went by, from its trace.
//!
//! All events in their order are grouped by thread. Each group is a segment; it ends before the
//! event with which its thread goes on later. Where that is, is written in two ways: by its index
//! and address, for the same build, and by operation, line and how many of these the segment has
//! had, for another one.

use std::collections::BTreeMap;

use norn_model::{
    Class, Code, Event, Line, Op, Point, Role, Schedule, Segment, SiteId, ThreadId, Until, Visit,
};
use norn_resolve::Frame;

use crate::{Clip, Clock, Found, PROGRAM, Scene, class, label::Labels};

/// Makes a clip of the run that left a trace.
pub fn capture(scene: &Scene) -> Clip {
    let run = scene.trace.run();
    let mut labels = Labels::new(scene);
    let schedule = Capture::new(scene, &mut labels).schedule();
    let mut clip = Clip::new(run.command.clone(), schedule);
    clip.directory = Some(run.directory.clone().into());
    clip.modules = labels.listed();
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
    scene: &'a Scene,
    labels: &'b mut Labels<'a>,
    points: BTreeMap<SiteId, Point>,
    threads: BTreeMap<ThreadId, Past>,
    segments: Vec<Segment>,
    current: Option<ThreadId>,
}

impl<'a, 'b> Capture<'a, 'b> {
    fn new(scene: &'a Scene, labels: &'b mut Labels<'a>) -> Self {
        Capture {
            scene,
            labels,
            points: BTreeMap::new(),
            threads: BTreeMap::new(),
            segments: Vec::new(),
            current: None,
        }
    }

    fn schedule(mut self) -> Schedule {
        let scene = self.scene;
        for event in scene.trace.merged() {
            // Handlers run in the turn of the thread that they interrupt.
            if scene.trace.thread(event.id.thread).is_some_and(|it| it.role == Role::Thread) {
                self.step(&event);
            }
        }
        self.finish();
        Schedule { segments: self.segments }
    }

    fn step(&mut self, event: &Event) {
        let id = event.id.thread;
        let point = self.point(event.site);
        if self.current != Some(id) {
            if let Some(before) = self.current.replace(id).and_then(|it| self.threads.get_mut(&it))
            {
                before.waits = true;
            }
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
        let thread = self.scene.thread(event.id.thread);
        self.segments.push(Segment { thread, until: Until::End });
    }

    /// The last segments of threads that did not go on.
    fn finish(&mut self) {
        let number = self.scene.trace.process();
        let processes = &self.scene.trace.run().processes;
        let blocked =
            processes.iter().find(|it| it.number == number).map_or(&[][..], |it| &it.blocked);
        for (id, past) in &self.threads {
            let segment = &mut self.segments[past.segment];
            segment.until = if past.ended {
                Until::End
            } else if blocked.iter().any(|it| it.thread == id.0) {
                Until::Blocks
            } else if past.waits {
                Until::Event { index: past.next, at: None }
            } else {
                Until::End
            };
        }
    }

    fn point(&mut self, site: SiteId) -> Point {
        if let Some(point) = self.points.get(&site) {
            return point.clone();
        }
        let point = self.look_up(site);
        self.points.insert(site, point.clone());
        point
    }

    fn look_up(&mut self, site: SiteId) -> Point {
        let Some(site) = self.scene.trace.site(site) else { return Point::anywhere(Class::Any) };
        let frames = self.scene.modules.frames(site.pc);
        let frame = frames.first();
        Point {
            class: class::of(site.kind),
            line: frame.and_then(line),
            function: frame.and_then(|it| it.function.as_deref().map(str::to_owned)),
            code: self.labels.code(site.pc),
        }
    }
}

/// What of a point stays the same in another build.
fn plain(point: &Point) -> Point {
    Point { code: None, ..point.clone() }
}

fn line(frame: &Frame) -> Option<Line> {
    let file = frame.file.as_deref()?;
    let file = file.rsplit('/').next().unwrap_or(file).to_owned();
    Some(Line { file, number: frame.line? })
}

impl Labels<'_> {
    fn code(&mut self, pc: u64) -> Option<Code> {
        self.place(pc).map(|(module, offset)| Code { module, offset })
    }
}
