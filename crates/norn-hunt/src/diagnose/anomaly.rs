//! The anomalies that a run performed on the memory that a thread read last.
//!
//! Two accesses are a data race if they conflict and happens-before does not order them in this run. A
//! triple is an atomicity violation if another thread's access fell between two consecutive accesses of a
//! thread to the same memory, and no serial order gives all three the same result (Lu et al., AVIO,
//! ASPLOS 2006). Creation, join and conditions must not have forced that order.

use norn_model::{
    CandidateKind, Event, EventId, MemoryAccess, Op, SiteId, ThreadId, Trace,
    memory_model::{Edges, HappensBefore},
};

/// Maximum number of ranges of memory that are examined.
const MOST_RANGES: usize = 16;
/// Maximum number of events of the thread in which these are looked for.
const MOST_EVENTS: usize = 512;
/// Number of accesses to a range that are kept, the latest ones.
const MOST_ACCESSES: usize = 256;
/// Maximum number of accesses between the two of a race, and of events between two that belong together.
const NEAR: usize = 64;

/// An access of a run.
#[derive(Clone, Copy, Debug)]
struct Accessed {
    id: EventId,
    memory: MemoryAccess,
}

/// The accesses to one range of memory, in their order.
#[derive(Debug)]
struct History {
    addr: u64,
    end: u64,
    accesses: Vec<Accessed>,
}

/// The anomalies on what a thread read last in the program's own code, those on its latest read first. A library that ends the
/// program reads as well, such as the text of an exception.
pub(super) fn find(
    trace: &Trace,
    thread: ThreadId,
    is_own: impl Fn(SiteId) -> bool,
) -> Vec<(CandidateKind, Vec<EventId>)> {
    let mut histories = last_reads(trace, thread, is_own);
    for event in trace.merged() {
        for it in &mut histories {
            it.add(&event);
        }
    }
    histories.retain(History::is_shared);
    if histories.is_empty() {
        return Vec::new();
    }
    let order = HappensBefore::new(trace, Edges::CXX20);
    let forced = HappensBefore::new(trace, Edges { locks: false, ..Edges::CXX20 });
    let found = |it: &History| it.race(&order).or_else(|| it.atomicity(&forced));
    histories.iter().filter_map(found).collect()
}

/// The ranges that a thread read last, the latest first.
fn last_reads(trace: &Trace, thread: ThreadId, is_own: impl Fn(SiteId) -> bool) -> Vec<History> {
    let events = trace.thread(thread).map_or(&[][..], |it| &it.events);
    let mut found: Vec<History> = Vec::new();
    for event in events.iter().rev().take(MOST_EVENTS) {
        let read = event.op.access().filter(|it| it.read.is_some() && is_own(event.site));
        let Some(access) = read else { continue };
        let (addr, end) = (access.addr, access.addr.saturating_add(access.size));
        if found.len() < MOST_RANGES && found.iter().all(|it| it.addr != addr || it.end != end) {
            found.push(History { addr, end, accesses: Vec::new() });
        }
    }
    found
}

impl History {
    fn add(&mut self, event: &Event) {
        // A block that is allocated here has nothing to do with earlier ones at the same address.
        if let Op::Alloc { addr, size } = event.op
            && addr < self.end
            && self.addr < addr.saturating_add(size)
        {
            self.accesses.clear();
        }
        let Some(memory) = event.op.access() else { return };
        if memory.addr < self.end && self.addr < memory.addr.saturating_add(memory.size) {
            if self.accesses.len() == MOST_ACCESSES {
                self.accesses.remove(0);
            }
            self.accesses.push(Accessed { id: event.id, memory });
        }
    }

    /// Whether several threads accessed it, and one of them wrote.
    fn is_shared(&self) -> bool {
        let first = self.accesses.first().map(|it| it.id.thread);
        self.accesses.iter().any(|it| Some(it.id.thread) != first)
            && self.accesses.iter().any(Accessed::writes)
    }

    /// The last two accesses that race.
    fn race(&self, order: &HappensBefore) -> Option<(CandidateKind, Vec<EventId>)> {
        (0..self.accesses.len()).rev().find_map(|last| {
            let second = &self.accesses[last];
            let mut earlier = self.accesses[..last].iter().rev().take(NEAR);
            let first = earlier.find(|first| {
                first.conflicts(second)
                    && !(first.memory.atomic && second.memory.atomic)
                    && !order.is_before(first.id, second.id)
            })?;
            let kind = match (first.writes(), second.writes()) {
                (false, _) => CandidateKind::ReadWriteRace,
                (true, false) => CandidateKind::WriteReadRace,
                (true, true) => CandidateKind::WriteWriteRace,
            };
            Some((kind, vec![first.id, second.id]))
        })
    }

    /// The last two accesses of a thread between which another thread's access fell that makes the
    /// result differ from that of every serial order.
    fn atomicity(&self, forced: &HappensBefore) -> Option<(CandidateKind, Vec<EventId>)> {
        (0..self.accesses.len()).rev().find_map(|last| {
            let second = &self.accesses[last];
            let earlier = &self.accesses[..last];
            let at = earlier.iter().rposition(|it| it.id.thread == second.id.thread)?;
            let first = &earlier[at];
            if second.id.index - first.id.index > NEAR as u64 {
                return None;
            }
            earlier[at + 1..].iter().rev().find_map(|between| {
                let kind = unserializable(first.writes(), between.writes(), second.writes())?;
                let is_forced = forced.is_before(first.id, between.id)
                    || forced.is_before(between.id, second.id);
                (!is_forced).then(|| (kind, vec![first.id, between.id, second.id]))
            })
        })
    }
}

impl Accessed {
    fn writes(&self) -> bool {
        self.memory.write.is_some()
    }

    fn conflicts(&self, other: &Accessed) -> bool {
        self.id.thread != other.id.thread && (self.writes() || other.writes())
    }
}

/// The kind of an atomicity violation, given which of its accesses write.
fn unserializable(first: bool, between: bool, second: bool) -> Option<CandidateKind> {
    match (first, between, second) {
        (false, true, false) => Some(CandidateKind::ReadWriteRead),
        (true, true, false) => Some(CandidateKind::WriteWriteRead),
        (true, false, true) => Some(CandidateKind::WriteReadWrite),
        (false, true, true) => Some(CandidateKind::ReadWriteWrite),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use norn_model::text;

    use super::*;

    /// The anomalies on what `T1` read last, by kind and places.
    fn found(events: &str) -> Vec<String> {
        let trace = text::parse(&format!("order global\n{events}")).unwrap();
        let thread = trace.threads.iter().find(|it| it.name.0 == "T1").unwrap().id;
        let place = |id: &EventId| {
            let site = trace.event(*id).unwrap().site;
            trace.site(site).unwrap().place.clone().unwrap_or_default()
        };
        let line = |(kind, events): (CandidateKind, Vec<EventId>)| {
            let places: Vec<_> = events.iter().map(place).collect();
            format!("{} {}", kind.name(), places.join(" "))
        };
        find(&trace, thread, |_| true).into_iter().map(line).collect()
    }

    /// An access in a critical section.
    fn section(thread: &str, access: &str) -> String {
        format!("{thread} acq m\n{thread} {access}\n{thread} rel m\n")
    }

    #[test]
    fn a_value_of_an_unordered_write_is_a_race() {
        let run = "T2 w x 1 @ sets\nT1 r x 1 @ looks\nT1 abort";
        assert_eq!(found(run), ["write-read sets looks"]);
        let locked = section("T2", "w x 1 @ sets") + &section("T1", "r x 1 @ looks");
        assert_eq!(found(&locked), Vec::<String>::new());
    }

    #[test]
    fn a_write_between_two_locked_reads_is_an_atomicity_violation() {
        let run = section("T1", "r x 0 @ checks")
            + &section("T2", "w x 1 @ sets")
            + &section("T1", "r x 1 @ uses");
        assert_eq!(found(&run), ["read-write-read checks sets uses"]);
    }

    #[test]
    fn a_lost_update_of_other_threads_is_found_by_the_thread_that_checks() {
        let run = section("T2", "r x 0 @ asks")
            + &section("T3", "w x 7 @ adds")
            + &section("T2", "w x 1 @ sets")
            + &section("T1", "r x 1 @ checks");
        assert_eq!(found(&run), ["read-write-write asks adds sets"]);
    }

    #[test]
    fn memory_of_one_thread_and_an_older_block_have_no_anomaly() {
        assert_eq!(found("T1 w x 1 @ sets\nT1 r x 1 @ looks"), Vec::<String>::new());
        let run = "T2 w p 1 @ sets\nT1 alloc p 8\nT1 w p 2 @ fills\nT1 r p 2 @ looks";
        assert_eq!(found(run), Vec::<String>::new());
    }
}
