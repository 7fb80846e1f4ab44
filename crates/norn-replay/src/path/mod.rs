//! The path of a clip: the expected events of each thread, up to the end of the schedule. A replay
//! compares its trace with the path to find the first event that differs ([`Detour`]).
//!
//! The path forces nothing: a replay follows the points of the schedule alone.

mod detour;
mod fold;
mod line;

use std::collections::BTreeMap;

pub use detour::{Detour, detour};
use norn_model::{Class, Point, Role, SiteId, ThreadId, ThreadName, Visit};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{Clip, SymbolizedTrace, label::Labels, points::look_up};

/// Maximum number of events of one thread in a path.
const MAX_THREAD_EVENTS: usize = 100_000;
/// Maximum number of events of all threads in a path.
const MAX_EVENTS: usize = 1_000_000;

/// The expected events of each thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, try_from = "RawPath")]
pub(crate) struct Path {
    /// The build ids of the modules of the points.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    builds: BTreeMap<String, String>,
    /// Operations and their places. Events refer to them by index.
    #[serde(serialize_with = "print")]
    points: Vec<Point>,
    /// The threads that have events.
    threads: Vec<ThreadPath>,
}

/// The expected events of one thread, from its first event on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ThreadPath {
    thread: ThreadName,
    /// The indices of its events' points.
    #[serde(serialize_with = "fold", deserialize_with = "unfold")]
    events: Vec<u32>,
    /// Number of further events of the schedule that exceed the limit.
    #[serde(default, skip_serializing_if = "is_none")]
    left_out: u64,
}

/// A path before its points are parsed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPath {
    #[serde(default)]
    builds: BTreeMap<String, String>,
    points: Vec<String>,
    threads: Vec<ThreadPath>,
}

impl TryFrom<RawPath> for Path {
    type Error = String;

    fn try_from(RawPath { builds, points, threads }: RawPath) -> Result<Path, String> {
        let points = points.iter().map(|it| it.parse::<Visit>().map(|it| it.point));
        let points = points.collect::<Result<Vec<_>, _>>().map_err(|it| it.to_string())?;
        let mut events = threads.iter().flat_map(|it| &it.events);
        match events.find(|it| **it as usize >= points.len()) {
            Some(event) => Err(format!("the path has no point with number {event}")),
            None => Ok(Path { builds, points, threads }),
        }
    }
}

impl Path {
    /// Its points, to be changed.
    pub(crate) fn points_mut(&mut self) -> &mut [Point] {
        &mut self.points
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
    fold::unfold(&String::deserialize(from)?, MAX_THREAD_EVENTS).map_err(D::Error::custom)
}

impl Clip {
    /// Sets the path to the events of a run, up to the given number of events of each thread.
    pub fn expect_path(&mut self, symbolized: &SymbolizedTrace, counts: &BTreeMap<ThreadId, u64>) {
        let mut labels = Labels::new(symbolized);
        let path = PathBuilder::new(symbolized, &mut labels).path(counts);
        self.set_path(Path { builds: labels.builds(), ..path });
        self.remember_lines(symbolized);
    }

    /// Sets the path to all events of a run.
    pub(crate) fn expect_all(&mut self, symbolized: &SymbolizedTrace) {
        let threads = symbolized.trace.threads().iter();
        self.expect_path(symbolized, &threads.map(|it| (it.id, it.events)).collect());
    }
}

/// Collects the events of threads and their points.
struct PathBuilder<'a, 'b> {
    symbolized: &'a SymbolizedTrace,
    labels: &'b mut Labels<'a>,
    points: Vec<Point>,
    /// The indices of points.
    numbers: BTreeMap<Point, u32>,
    sites: BTreeMap<SiteId, u32>,
}

impl<'a, 'b> PathBuilder<'a, 'b> {
    fn new(symbolized: &'a SymbolizedTrace, labels: &'b mut Labels<'a>) -> Self {
        let (numbers, sites) = (BTreeMap::new(), BTreeMap::new());
        PathBuilder { symbolized, labels, points: Vec::new(), numbers, sites }
    }

    fn path(mut self, counts: &BTreeMap<ThreadId, u64>) -> Path {
        let symbolized = self.symbolized;
        let threads = symbolized.trace.threads().iter().filter(|it| it.role == Role::Thread);
        let counted = threads.filter_map(|it| Some((it, *counts.get(&it.id)?)));
        let counted: Vec<_> = counted.filter(|it| it.1 > 0).collect();
        let most = MAX_THREAD_EVENTS.min(MAX_EVENTS / counted.len().max(1));
        let threads = counted.iter().map(|(thread, count)| {
            let kept = usize::try_from(*count).map_or(most, |it| it.min(most));
            let events = symbolized.trace.events(thread.id).take(kept);
            let events: Vec<_> = events.map(|it| self.number(it.site)).collect();
            let left_out = count - kept as u64;
            ThreadPath { thread: thread.name.clone(), events, left_out }
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
