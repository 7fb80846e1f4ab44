//! Where a run first did something else than the path of its clip says.
//!
//! The run's trace is compared with the path, event by event. Two events are
//! the same if they are of one class and at one place: in the same build of a module by their
//! address, in another one by function, file and line, where lines may have moved.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use norn_model::{
    Class, Code, Departure, Event, EventId, Obstacle, Point, Role, Schedule, Segment, SiteId,
    ThreadId, ThreadName, Until, Verdict,
};
use norn_trace::{Site, class_of};

use super::{Course, Path, line::Lines};
use crate::{Clip, SymbolizedTrace, label::Labels, points::look_up};

/// Events in which a thread that left the path is looked for on it again.
const WINDOW: usize = 10_000;
/// Events on the path, one after another, by which it is known to be there.
const SURE: usize = 3;

/// Where a run first did something else than its clip expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detour {
    /// Which thread.
    pub thread: ThreadName,
    /// Which of its events is the first that is not as expected, from 0.
    pub event: u64,
    /// What was expected.
    pub expected: Point,
    /// What it did.
    pub actual: Point,
    /// The thread's event before, which is as expected.
    pub last: Option<Point>,
    /// With which of its events it came back to the path, if it was seen to. If that is the first
    /// that is not as expected, it has only left something out.
    pub back: Option<u64>,
}

/// Where a run of a clip first left its path; nothing if it did not, or if there is no path. What
/// comes after the schedule was left, as the verdict says, does not count.
pub fn detour(clip: &Clip, symbolized: &SymbolizedTrace, verdict: &Verdict) -> Option<Detour> {
    let path = clip.path.as_ref().filter(|_| symbolized.trace.process() == clip.process)?;
    let mut comparison = Comparison::new(path, symbolized);
    let mut found = BTreeMap::new();
    for course in &path.threads {
        let end = limit(&clip.schedule, verdict, &course.thread);
        if let Some(other) = comparison.first(course, end) {
            found.insert(other.id, (course, other));
        }
    }
    let first = match found.len() {
        0 | 1 => found.keys().next().copied(),
        _ => symbolized.trace.merged().map(|it| it.id).find(|it| found.contains_key(it)),
    };
    let (course, actual) = found.get(&first?)?;
    comparison.detour(course, actual)
}

/// How many events of a thread are compared: as many as it had done when the schedule was left.
fn limit(schedule: &Schedule, verdict: &Verdict, thread: &ThreadName) -> u64 {
    let (Verdict::Diverged(departure) | Verdict::Infeasible(departure)) = verdict else {
        return u64::MAX;
    };
    let Departure { segment, thread: left, why, actual } = departure;
    if left == thread {
        // The verdict itself reports the unexpected event.
        let told = *why == Obstacle::OtherEvent;
        return actual.as_ref().map_or(u64::MAX, |it| it.index + u64::from(!told));
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

/// What two events that are the same have in common, apart from lines.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    /// An address, in a module that is still the same.
    Exactly(Class, Code),
    /// A file and a function, in another build.
    Named(Class, Place),
}

/// A file and a function, as far as they are known.
type Place = (Option<String>, Option<String>);

/// A key by its number; in another build with the place, by its number, and the line.
#[derive(Clone, Copy)]
struct Sight {
    key: usize,
    line: Option<(usize, u32)>,
}

struct Comparison<'a> {
    path: &'a Path,
    symbolized: &'a SymbolizedTrace,
    labels: Labels<'a>,
    /// The modules that are the same builds as when the clip was made.
    same: BTreeSet<&'a str>,
    keys: HashMap<Key, usize>,
    places: HashMap<Place, usize>,
    lines: BTreeMap<usize, Lines>,
    points: Vec<Sight>,
    sites: HashMap<SiteId, Sight>,
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
            places: HashMap::new(),
            lines: BTreeMap::new(),
            points: Vec::new(),
            sites: HashMap::new(),
        };
        comparison.points = path.points.iter().map(|it| comparison.sight(it)).collect();
        comparison
    }

    /// The first event of a thread, among the first `end` ones, that is not as expected.
    fn first(&mut self, course: &Course, end: u64) -> Option<Event> {
        let mut threads =
            self.symbolized.trace.threads().iter().filter(|it| it.role == Role::Thread);
        let thread = threads.find(|it| it.name == course.thread)?.id;
        let expected = course.events.iter().zip(0..end);
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
            (Some((place, before)), Some((_, now))) => {
                self.lines.entry(place).or_default().admit(before, now)
            }
            _ => true,
        }
    }

    fn site(&mut self, site: SiteId) -> Sight {
        if let Some(sight) = self.sites.get(&site) {
            return *sight;
        }
        // Lines take a while to look up, and are often not needed.
        let point = self.exactly(site).unwrap_or_else(|| self.point(site));
        let sight = self.sight(&point);
        self.sites.insert(site, sight);
        sight
    }

    /// The address of a site and what is done there, in a module that is still the same.
    fn exactly(&mut self, site: SiteId) -> Option<Point> {
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

    fn sight(&mut self, point: &Point) -> Sight {
        let is_same = |it: &&Code| self.same.contains(&*it.module);
        if let Some(code) = point.code.as_ref().filter(is_same) {
            let key = number(&mut self.keys, Key::Exactly(point.class, code.clone()));
            return Sight { key, line: None };
        }
        let place = (point.line.as_ref().map(|it| it.file.clone()), point.function.clone());
        let line = point.line.as_ref().map_or(0, |it| it.number);
        let line = Some((number(&mut self.places, place.clone()), line));
        Sight { key: number(&mut self.keys, Key::Named(point.class, place)), line }
    }

    fn detour(&mut self, course: &Course, actual: &Event) -> Option<Detour> {
        let (thread, event) = (actual.id.thread, actual.id.index);
        let expected = *course.events.get(usize::try_from(event).ok()?)?;
        let before = event.checked_sub(1).map(|index| EventId { thread, index });
        let before = before.and_then(|it| self.symbolized.trace.event(it));
        Some(Detour {
            thread: course.thread.clone(),
            event,
            expected: self.path.points[expected as usize].clone(),
            actual: self.point(actual.site),
            last: before.map(|it| self.point(it.site)),
            back: self.back(course, thread, event),
        })
    }

    /// With which event a thread that left the path with one came back to it.
    fn back(&mut self, course: &Course, thread: ThreadId, from: u64) -> Option<u64> {
        let at = usize::try_from(from).ok()?;
        let expected = course.events.get(at..)?.iter().take(WINDOW);
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

/// Where some events are those of the path again, of which the first differ: a few one after another,
/// or the last of all.
fn rejoined(expected: &[usize], actual: &[usize]) -> Option<usize> {
    (1..=SURE.min(expected.len())).rev().find_map(|length| {
        let ends = expected.len() - length;
        let first = if length == SURE { 0 } else { ends };
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
    fn who_comes_back_is_seen() {
        // One event more, one less, another one, two others for one.
        assert_eq!(rejoined(&[1, 2, 3, 4], &[9, 1, 2, 3, 4]), Some(1));
        assert_eq!(rejoined(&[1, 2, 3, 4], &[2, 3, 4]), Some(0));
        assert_eq!(rejoined(&[1, 2, 3, 4], &[9, 2, 3, 4]), Some(1));
        assert_eq!(rejoined(&[1, 2, 3, 4], &[8, 9, 2, 3, 4]), Some(2));
        // Near the end there are fewer to be sure by.
        assert_eq!(rejoined(&[1, 2, 3], &[9, 2, 3]), Some(1));
        assert_eq!(rejoined(&[1, 2], &[9, 2, 7]), Some(1));
        assert_eq!(rejoined(&[1], &[9, 1]), Some(1));
    }

    #[test]
    fn who_does_not_come_back_is_not() {
        assert_eq!(rejoined(&[1, 2, 3, 4], &[9, 9, 1, 2]), None);
        assert_eq!(rejoined(&[1, 2], &[]), None);
        assert_eq!(rejoined(&[], &[1]), None);
        // The very event that differs, by its line, is no way back.
        assert_eq!(rejoined(&[1], &[1]), None);
    }
}
