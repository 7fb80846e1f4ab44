//! The first event of a run that differs from the path of its clip.
//!
//! The trace of the run is compared with the path event by event. Two events are equal if their
//! class and place are equal. The place is the address in the same build of a module, and function,
//! file and line in another build, where lines may have moved.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use norn_model::{
    Class, Code, Departure, Event, EventId, Obstacle, Point, Role, Schedule, Segment, SiteId,
    ThreadId, ThreadName, Until, Verdict,
};
use norn_trace::{Site, class_of};

use super::{Path, ThreadPath, line::LineMap};
use crate::{Clip, SymbolizedTrace, label::Labels, points::look_up};

/// Number of events after a detour in which the thread's return to the path is searched.
const WINDOW: usize = 10_000;
/// Number of consecutive events of the path that prove the return.
const MIN_MATCH: usize = 3;

/// The first event of a run that differs from the path of its clip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detour {
    /// The thread.
    pub thread: ThreadName,
    /// The index of the thread's first unexpected event, from 0.
    pub event: u64,
    /// The expected event.
    pub expected: Point,
    /// The actual event.
    pub actual: Point,
    /// The thread's preceding event, which is as expected.
    pub last: Option<Point>,
    /// The index of the event with which the thread returned to the path, if it did. If that equals
    /// `event`, the thread only skipped events.
    pub back: Option<u64>,
}

/// The first detour of a run from the path of its clip; none if there is no detour or no path. Events
/// after the run left the schedule, according to the verdict, are ignored.
pub fn detour(clip: &Clip, symbolized: &SymbolizedTrace, verdict: &Verdict) -> Option<Detour> {
    let path = clip.path.as_ref().filter(|_| symbolized.trace.process() == clip.process)?;
    let mut comparison = Comparison::new(path, symbolized);
    let mut found = BTreeMap::new();
    for expected_path in &path.threads {
        let end = limit(&clip.schedule, verdict, &expected_path.thread);
        if let Some(other) = comparison.first(expected_path, end) {
            found.insert(other.id, (expected_path, other));
        }
    }
    let first = match found.len() {
        0 | 1 => found.keys().next().copied(),
        _ => symbolized.trace.merged().map(|it| it.id).find(|it| found.contains_key(it)),
    };
    let (expected_path, actual) = found.get(&first?)?;
    comparison.detour(expected_path, actual)
}

/// Number of events of a thread to compare: those before the run left the schedule.
fn limit(schedule: &Schedule, verdict: &Verdict, thread: &ThreadName) -> u64 {
    let (Verdict::Diverged(departure) | Verdict::Infeasible(departure)) = verdict else {
        return u64::MAX;
    };
    let Departure { segment, thread: left, why, actual } = departure;
    if left == thread {
        // The verdict itself reports the unexpected event.
        let reported = *why == Obstacle::OtherEvent;
        return actual.as_ref().map_or(u64::MAX, |it| it.index + u64::from(!reported));
    }
    let mut done = schedule.segments.iter().take(*segment as usize);
    // A thread does not advance in the segment in which its wait expires.
    let own = |it: &&Segment| it.thread == *thread && it.until != Until::Timeout;
    match done.rfind(own).map(|it| &it.until) {
        None | Some(Until::Timeout) => 0,
        Some(Until::Event { index, .. }) => *index,
        Some(Until::Before(_) | Until::After(_) | Until::Blocks | Until::End) => u64::MAX,
    }
}

/// What equal events have in common, apart from lines.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    /// An address, in an unchanged module.
    Address(Class, Code),
    /// A file and a function, in another build.
    Function(Class, FunctionName),
}

/// A file and a function, as far as they are known.
type FunctionName = (Option<String>, Option<String>);

/// The number of a key; in another build also the number of the function, and the line.
#[derive(Clone, Copy)]
struct NumberedKey {
    key: usize,
    line: Option<(usize, u32)>,
}

struct Comparison<'a> {
    path: &'a Path,
    symbolized: &'a SymbolizedTrace,
    labels: Labels<'a>,
    /// The modules whose build has not changed since the clip was made.
    same: BTreeSet<&'a str>,
    keys: HashMap<Key, usize>,
    functions: HashMap<FunctionName, usize>,
    lines: BTreeMap<usize, LineMap>,
    points: Vec<NumberedKey>,
    sites: HashMap<SiteId, NumberedKey>,
}

impl<'a> Comparison<'a> {
    fn new(path: &'a Path, symbolized: &'a SymbolizedTrace) -> Self {
        let labels = Labels::new(symbolized);
        let same = path.builds.iter().filter(|it| labels.build(it.0).as_ref() == Some(it.1));
        let mut comparison = Comparison {
            path,
            symbolized,
            same: same.map(|it| it.0.as_str()).collect(),
            labels,
            keys: HashMap::new(),
            functions: HashMap::new(),
            lines: BTreeMap::new(),
            points: Vec::new(),
            sites: HashMap::new(),
        };
        comparison.points = path.points.iter().map(|it| comparison.key(it)).collect();
        comparison
    }

    /// The first unexpected event of a thread, among its first `end` events.
    fn first(&mut self, expected_path: &ThreadPath, end: u64) -> Option<Event> {
        let mut threads =
            self.symbolized.trace.threads().iter().filter(|it| it.role == Role::Thread);
        let thread = threads.find(|it| it.name == expected_path.thread)?.id;
        let expected = expected_path.events.iter().zip(0..end);
        for ((expected, index), actual) in expected.zip(self.symbolized.trace.events(thread)) {
            // If events are missing from the trace, they are unknown and cannot be compared.
            if actual.id.index != index {
                return None;
            }
            if !self.is_same(*expected, actual.site) {
                return Some(actual);
            }
        }
        None
    }

    fn is_same(&mut self, expected: u32, site: SiteId) -> bool {
        let actual = self.site(site);
        let expected = self.points[expected as usize];
        match (expected.line, actual.line) {
            _ if expected.key != actual.key => false,
            (Some((function, before)), Some((_, now))) => {
                self.lines.entry(function).or_default().admit(before, now)
            }
            _ => true,
        }
    }

    fn site(&mut self, site: SiteId) -> NumberedKey {
        if let Some(key) = self.sites.get(&site) {
            return *key;
        }
        // Looking up lines is slow, and unchanged modules do not need them.
        let point = self.address(site).unwrap_or_else(|| self.point(site));
        let key = self.key(&point);
        self.sites.insert(site, key);
        key
    }

    /// The class and the address of a site, in an unchanged module.
    fn address(&mut self, site: SiteId) -> Option<Point> {
        let Site { pc, kind } = self.symbolized.trace.site(site)?;
        let (module, offset) = self.labels.place(pc)?;
        let code = self.same.contains(&*module).then_some(Code { module, offset })?;
        Some(Point { code: Some(code), ..Point::anywhere(class_of(kind)) })
    }

    fn point(&mut self, site: SiteId) -> Point {
        let found = self.symbolized.trace.site(site);
        found.map_or(Point::anywhere(Class::Any), |it| {
            look_up(self.symbolized, &mut self.labels, it)
        })
    }

    fn key(&mut self, point: &Point) -> NumberedKey {
        let is_same = |it: &&Code| self.same.contains(&*it.module);
        if let Some(code) = point.code.as_ref().filter(is_same) {
            let key = number(&mut self.keys, Key::Address(point.class, code.clone()));
            return NumberedKey { key, line: None };
        }
        let function = (point.line.as_ref().map(|it| it.file.clone()), point.function.clone());
        let line = point.line.as_ref().map_or(0, |it| it.number);
        let line = Some((number(&mut self.functions, function.clone()), line));
        NumberedKey { key: number(&mut self.keys, Key::Function(point.class, function)), line }
    }

    fn detour(&mut self, expected_path: &ThreadPath, actual: &Event) -> Option<Detour> {
        let (thread, event) = (actual.id.thread, actual.id.index);
        let expected = *expected_path.events.get(usize::try_from(event).ok()?)?;
        let before = event.checked_sub(1).map(|index| EventId { thread, index });
        let before = before.and_then(|it| self.symbolized.trace.event(it));
        Some(Detour {
            thread: expected_path.thread.clone(),
            event,
            expected: self.path.points[expected as usize].clone(),
            actual: self.point(actual.site),
            last: before.map(|it| self.point(it.site)),
            back: self.back(expected_path, thread, event),
        })
    }

    /// The index of the event with which a thread returned to the path that it left at `from`.
    fn back(&mut self, expected_path: &ThreadPath, thread: ThreadId, from: u64) -> Option<u64> {
        let at = usize::try_from(from).ok()?;
        let expected = expected_path.events.get(at..)?.iter().take(WINDOW);
        let expected: Vec<_> = expected.map(|it| self.points[*it as usize].key).collect();
        let actual = self.symbolized.trace.events(thread).skip(at).take(WINDOW);
        let actual: Vec<_> = actual.map(|it| self.site(it.site).key).collect();
        rejoined(&expected, &actual).map(|it| from + it as u64)
    }
}

fn number<K: Eq + std::hash::Hash>(numbers: &mut HashMap<K, usize>, key: K) -> usize {
    let next = numbers.len();
    *numbers.entry(key).or_insert(next)
}

/// The index in `actual` from which events match the path again: [`MIN_MATCH`] consecutive events, or
/// fewer at the end of the path. The first events of both differ.
fn rejoined(expected: &[usize], actual: &[usize]) -> Option<usize> {
    (1..=MIN_MATCH.min(expected.len())).rev().find_map(|length| {
        let ends = expected.len() - length;
        let first = if length == MIN_MATCH { 0 } else { ends };
        let known: BTreeSet<_> = expected[first..].windows(length).collect();
        let mut places = actual.windows(length).enumerate();
        let place =
            places.find(|&(at, it)| known.contains(it) && (at > 0 || !expected.starts_with(it)));
        place.map(|it| it.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_return_to_the_path_is_found() {
        // One inserted event, one skipped, one replaced, one replaced by two.
        assert_eq!(rejoined(&[1, 2, 3, 4], &[9, 1, 2, 3, 4]), Some(1));
        assert_eq!(rejoined(&[1, 2, 3, 4], &[2, 3, 4]), Some(0));
        assert_eq!(rejoined(&[1, 2, 3, 4], &[9, 2, 3, 4]), Some(1));
        assert_eq!(rejoined(&[1, 2, 3, 4], &[8, 9, 2, 3, 4]), Some(2));
        // Near the end, fewer events suffice.
        assert_eq!(rejoined(&[1, 2, 3], &[9, 2, 3]), Some(1));
        assert_eq!(rejoined(&[1, 2], &[9, 2, 7]), Some(1));
        assert_eq!(rejoined(&[1], &[9, 1]), Some(1));
    }

    #[test]
    fn no_return_is_found_where_there_is_none() {
        assert_eq!(rejoined(&[1, 2, 3, 4], &[9, 9, 1, 2]), None);
        assert_eq!(rejoined(&[1, 2], &[]), None);
        assert_eq!(rejoined(&[], &[1]), None);
        // An event that differs only by its line is not a return.
        assert_eq!(rejoined(&[1], &[1]), None);
    }
}
