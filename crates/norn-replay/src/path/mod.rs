//! The path of a clip: what each thread does, event by event, as far as the schedule goes. Whoever
//! replays the clip can be told where the program first did something else ([`Detour`]).
//!
//! The schedule is followed by its own points; the path forces nothing.

mod detour;
mod fold;
mod line;

use std::collections::BTreeMap;

pub use detour::{Detour, detour};
use norn_model::{Class, Point, Role, SiteId, ThreadId, ThreadName, Visit};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{Clip, SymbolizedTrace, label::Labels, points::look_up};

/// The most events of one thread that a path has.
const MOST: usize = 100_000;
/// And of all threads together.
const MOST_OF_ALL: usize = 1_000_000;

/// What each thread is expected to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, try_from = "Form")]
pub(crate) struct Path {
    /// What tells the modules in which there are points from other builds of them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    builds: BTreeMap<String, String>,
    /// What is done, and where; events name these by their numbers, from 0.
    #[serde(serialize_with = "print")]
    points: Vec<Point>,
    /// The threads that do anything.
    threads: Vec<Course>,
}

/// What one thread is expected to do, from its first event on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Course {
    thread: ThreadName,
    /// The numbers of its events' points.
    #[serde(serialize_with = "fold", deserialize_with = "unfold")]
    events: Vec<u32>,
    /// Events behind those that are also part of the schedule.
    #[serde(default, skip_serializing_if = "is_none")]
    left_out: u64,
}

/// A path as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    #[serde(default)]
    builds: BTreeMap<String, String>,
    points: Vec<String>,
    threads: Vec<Course>,
}

impl TryFrom<Form> for Path {
    type Error = String;

    fn try_from(Form { builds, points, threads }: Form) -> Result<Path, String> {
        let points = points.iter().map(|it| it.parse::<Visit>().map(|it| it.point));
        let points = points.collect::<Result<Vec<_>, _>>().map_err(|it| it.to_string())?;
        let mut events = threads.iter().flat_map(|it| &it.events);
        match events.find(|it| **it as usize >= points.len()) {
            Some(event) => Err(format!("the path has no point with number {event}")),
            None => Ok(Path { builds, points, threads }),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

fn print<S: Serializer>(points: &[Point], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(points.iter().map(Point::to_string))
}

fn fold<S: Serializer>(events: &[u32], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&fold::fold(events))
}

fn unfold<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u32>, D::Error> {
    fold::unfold(&String::deserialize(from)?, MOST).map_err(D::Error::custom)
}

impl Clip {
    /// Expects each thread to do what it did in a run, up to the given number of events.
    pub fn expect_path(&mut self, symbolized: &SymbolizedTrace, counts: &BTreeMap<ThreadId, u64>) {
        let mut labels = Labels::new(symbolized);
        let path = Walk::new(symbolized, &mut labels).path(counts);
        self.set_path(Path { builds: labels.builds(), ..path });
    }

    /// Expects each thread to do everything that it did in a run.
    pub(crate) fn expect_all(&mut self, symbolized: &SymbolizedTrace) {
        let threads = symbolized.trace.threads().iter();
        self.expect_path(symbolized, &threads.map(|it| (it.id, it.events)).collect());
    }
}

/// Takes down what threads did.
struct Walk<'a, 'b> {
    symbolized: &'a SymbolizedTrace,
    labels: &'b mut Labels<'a>,
    points: Vec<Point>,
    /// The numbers of points.
    numbers: BTreeMap<Point, u32>,
    sites: BTreeMap<SiteId, u32>,
}

impl<'a, 'b> Walk<'a, 'b> {
    fn new(symbolized: &'a SymbolizedTrace, labels: &'b mut Labels<'a>) -> Self {
        let (numbers, sites) = (BTreeMap::new(), BTreeMap::new());
        Walk { symbolized, labels, points: Vec::new(), numbers, sites }
    }

    fn path(mut self, counts: &BTreeMap<ThreadId, u64>) -> Path {
        let symbolized = self.symbolized;
        let threads = symbolized.trace.threads().iter().filter(|it| it.role == Role::Thread);
        let counted = threads.filter_map(|it| Some((it, *counts.get(&it.id)?)));
        let counted: Vec<_> = counted.filter(|it| it.1 > 0).collect();
        let most = MOST.min(MOST_OF_ALL / counted.len().max(1));
        let threads = counted.iter().map(|(thread, count)| {
            let kept = usize::try_from(*count).map_or(most, |it| it.min(most));
            let events = symbolized.trace.events(thread.id).take(kept);
            let events: Vec<_> = events.map(|it| self.number(it.site)).collect();
            let left_out = count - kept as u64;
            Course { thread: thread.name.clone(), events, left_out }
        });
        let threads = threads.collect();
        Path { points: self.points, threads, ..Path::default() }
    }

    fn number(&mut self, site: SiteId) -> u32 {
        if let Some(number) = self.sites.get(&site) {
            return *number;
        }
        let found = self.symbolized.trace.site(site);
        let point = found
            .map_or(Point::anywhere(Class::Any), |it| look_up(self.symbolized, self.labels, it));
        let next = u32::try_from(self.points.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(point.clone()).or_insert(next);
        if number == next {
            self.points.push(point);
        }
        self.sites.insert(site, number);
        number
    }
}
