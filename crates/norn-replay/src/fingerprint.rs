//! Compares runs: a hash of all events of a run, and the first event in which two runs differ.
//!
//! Two events are equal if the thread, the operation, the place, the addresses and the values are
//! equal. A place is a module and an offset in it.

use std::{
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io,
    path::Path,
};

use norn_model::{Event, Op, SiteId};
use norn_trace::{Run, Trace};

use crate::ReplayError;

/// A hash of all events of a run, of all its processes.
pub(crate) fn events(folder: &Path, run: &Run) -> Result<u64, ReplayError> {
    let mut hasher = DefaultHasher::new();
    for process in &run.processes {
        let trace = Trace::open(folder, process.number)?;
        let places = Places::of(&trace);
        process.number.hash(&mut hasher);
        for event in trace.merged() {
            event.id.hash(&mut hasher);
            event.op.hash(&mut hasher);
            places.0.get(event.site.0 as usize).hash(&mut hasher);
        }
        // Thread ids and names depend on the order in which threads start.
        trace.threads().iter().for_each(|it| it.name.hash(&mut hasher));
    }
    Ok(hasher.finish())
}

/// A hash of the content of a file.
pub(crate) fn file(path: &Path) -> io::Result<u64> {
    let mut hasher = DefaultHasher::new();
    fs::read(path)?.hash(&mut hasher);
    Ok(hasher.finish())
}

/// The first event in which two runs differ: its number in the order of all events, and the event of
/// each run; none for a run that has ended. None if the runs are equal.
pub(crate) fn first_difference(one: &Trace, other: &Trace) -> Option<(u64, [Option<Event>; 2])> {
    let places = [Places::of(one), Places::of(other)];
    let (mut left, mut right) = (one.merged(), other.merged());
    for number in 0.. {
        let pair = [left.next(), right.next()];
        let [Some(a), Some(b)] = pair else {
            return (pair != [None, None]).then_some((number, pair));
        };
        if places[0].identity(one, &a) != places[1].identity(other, &b) {
            return Some((number, pair));
        }
    }
    None
}

/// A hash of the place of each site of a trace.
struct Places(Vec<u64>);

impl Places {
    fn of(trace: &Trace) -> Places {
        let sites = trace.sites().iter();
        Places(sites.map(|it| place(trace, it.pc, it.kind.code())).collect())
    }

    fn identity<'a>(&self, trace: &'a Trace, event: &Event) -> (Option<&'a str>, Op, Option<u64>) {
        let SiteId(site) = event.site;
        let thread = trace.thread(event.id.thread).map(|it| it.name.0.as_str());
        (thread, event.op, self.0.get(site as usize).copied())
    }
}

fn place(trace: &Trace, pc: u64, kind: u16) -> u64 {
    let mut hasher = DefaultHasher::new();
    let module = trace.modules().iter().rev().find(|it| (it.start..it.end).contains(&pc));
    let place = module.map_or((None, pc), |it| (Some(&it.path), pc - it.start));
    (place, kind).hash(&mut hasher);
    hasher.finish()
}
