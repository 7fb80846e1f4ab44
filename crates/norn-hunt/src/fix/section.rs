//! Which lines of which function a critical section covers, and where a run executes them.
//!
//! A section begins as the events of one thread that belong together. It must not begin or end in the
//! middle of another critical section, since the two locks would then be acquired in both orders; so it grows until it
//! contains those sections as a whole. Its lines are those of the innermost function in which all of its events
//! happen: that is where a person would put the lock.

use std::{collections::BTreeMap, ops::RangeInclusive, sync::Arc};

use norn_model::{Event, Location, LockEffect, Thread, ThreadId, Trace};

/// The calls that lead to an event and its own place, outermost first.
pub(super) type Frames = Arc<[Location]>;

/// Lines of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lines {
    /// The function, and the first of the lines.
    pub(super) place: Location,
    /// The last of the lines.
    pub(super) last: u32,
    /// Whether it ends on an earlier line than it begins on: then it covers a loop.
    pub(super) loops: bool,
}

/// Some consecutive events of a thread, by their places in its list of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) thread: ThreadId,
    pub(super) events: RangeInclusive<usize>,
}

/// The stretch, grown so that it contains each critical section completely or not at all, or is inside of it.
pub(super) fn balanced(thread: &Thread, stretch: RangeInclusive<usize>) -> RangeInclusive<usize> {
    let (mut first, mut last) = stretch.into_inner();
    loop {
        let mut acquired: BTreeMap<u64, usize> = BTreeMap::new();
        let (mut begin, mut end) = (first, last);
        for (at, event) in thread.events.iter().enumerate() {
            match event.op.effect().lock() {
                Some(LockEffect::Release { lock, by_wait: false }) => {
                    let Some(from) = acquired.remove(&lock) else { continue };
                    if (first..=last).contains(&at) {
                        begin = begin.min(from);
                    } else if (first..=last).contains(&from) {
                        end = end.max(at);
                    }
                }
                Some(LockEffect::Acquire { lock, .. }) => {
                    acquired.entry(lock).or_insert(at);
                }
                // What a wait releases it acquires again, unless it never ends.
                Some(LockEffect::Failed { .. } | LockEffect::Release { by_wait: true, .. })
                | None => {}
            }
        }
        if (begin, end) == (first, last) {
            return first..=last;
        }
        (first, last) = (begin, end);
    }
}

/// The lines that events cover in the innermost function in which all of them happen. The steps are the first
/// and the last of them that the section is made for.
pub(super) fn lines(
    events: &[Event],
    steps: (&Event, &Event),
    frames: impl Fn(&Event) -> Frames,
) -> Option<Lines> {
    let all: Vec<_> = events.iter().map(&frames).filter(|it| !it.is_empty()).collect();
    let first = all.first()?;
    let is_common = |depth: &usize| {
        let frame = first.get(*depth);
        frame.is_some_and(|frame| all.iter().all(|it| it.get(*depth) == Some(frame)))
    };
    let common = (0..first.len()).take_while(is_common).count();
    let same_function = |it: &Frames| match (it.get(common), first.get(common)) {
        (Some(one), Some(other)) => is_same_function(one, other),
        _ => false,
    };
    let depth = if all.iter().all(same_function) { common } else { common.checked_sub(1)? };
    let lines = || all.iter().filter_map(|it| it.get(depth)?.line);
    let place = Location { line: Some(lines().min()?), column: None, ..first[depth].clone() };
    let line = |it: &Event| frames(it).get(depth).and_then(|it| it.line);
    let loops = line(steps.0) > line(steps.1);
    Some(Lines { place, last: lines().max()?, loops })
}

/// Joins sections whose lines overlap or follow each other in one function.
pub(super) fn joined(mut sections: Vec<Lines>) -> Vec<Lines> {
    sections.sort_by(|a, b| a.place.cmp(&b.place));
    let mut joined: Vec<Lines> = Vec::new();
    for section in sections {
        let touches = |it: &&mut Lines| {
            is_same_function(&it.place, &section.place)
                && section.place.line.is_some_and(|line| line <= it.last.saturating_add(1))
        };
        match joined.last_mut().filter(touches) {
            Some(it) => {
                it.last = it.last.max(section.last);
                it.loops |= section.loops;
            }
            None => joined.push(section),
        }
    }
    joined
}

impl Lines {
    /// Whether other lines are among these.
    pub(super) fn contains(&self, other: &Lines) -> bool {
        let lines = self.place.line..=Some(self.last);
        is_same_function(&self.place, &other.place) && lines.contains(&other.place.line)
    }

    /// The stretches of a run in which threads execute these lines. A thread that comes to the first event of a
    /// stretch once more executes them again, unless one of the given stretches contains both: these
    /// belong together.
    pub(super) fn stretches(
        &self,
        trace: &Trace,
        whole: &[Stretch],
        frames: impl Fn(&Event) -> Frames,
    ) -> Vec<Stretch> {
        let mut found: Vec<Stretch> = Vec::new();
        for thread in &trace.threads {
            // The first event of the stretch that the thread is in, and the calls that lead to the function.
            let mut inside: Option<(&Event, Frames)> = None;
            for (at, event) in thread.events.iter().enumerate() {
                let frames = frames(event);
                // Events without a place, such as the end of a thread, leave no function.
                if frames.is_empty() {
                    continue;
                }
                let Some(outer) = self.outer(&frames) else {
                    inside = None;
                    continue;
                };
                let belongs = |it: &Stretch| it.thread == thread.id && it.events.contains(&at);
                let kept = whole.iter().any(|it| belongs(it) && *it.events.start() < at);
                let again = |it: &Event| (it.site, it.stack) == (event.site, event.stack) && !kept;
                let continues = inside.as_ref().is_some_and(|it| it.1 == outer && !again(it.0));
                if let Some(it) = found.last_mut().filter(|_| continues) {
                    it.events = *it.events.start()..=at;
                } else {
                    inside = Some((event, outer));
                    found.push(Stretch { thread: thread.id, events: at..=at });
                }
            }
        }
        found
    }

    /// The calls that lead to the function, if an event happens on these lines.
    fn outer(&self, frames: &Frames) -> Option<Frames> {
        let lines = self.place.line?..=self.last;
        let is_here = |it: &Location| {
            is_same_function(it, &self.place) && it.line.is_some_and(|line| lines.contains(&line))
        };
        let depth = frames.iter().position(is_here)?;
        Some(Arc::from(&frames[..depth]))
    }
}

fn is_same_function(one: &Location, other: &Location) -> bool {
    (&one.function, &one.file) == (&other.function, &other.file)
}
