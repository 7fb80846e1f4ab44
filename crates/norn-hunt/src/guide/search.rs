//! Searches a run for the moments at which a thread can be disturbed.

use std::collections::{BTreeMap, BTreeSet};

use norn_model::{
    BlockEffect, Effect, EventId, HeldIndex, ObjectEffect, SiteId, ThreadEffect, ThreadId, Trace,
};

use super::{
    disturbance::{Disturbance, Mode},
    early_free::FreedBlocks,
    timeline::{SharedAccess, Timeline},
};

/// Maximum number of times that a disturbance is repeated.
const MOST_TIMES: usize = 16;
/// Number of events after the destruction of an object in which the next write is searched.
const SOON: usize = 8;

/// The rank of a writer that frees, on its way to its end, what the victim is about to use.
pub(super) const FREES_EARLY: u32 = 1;

/// A disturbance that was found, with what it promises.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    pub(super) disturbance: Disturbance,
    /// The places of the read, of what the victim does next, and of the write.
    pub(super) sites: [SiteId; 3],
    /// The smaller, the earlier it is tried. Rank 0 is for what is rarely possible, and then rarely harmless:
    /// a lock that is only tried and found held, an object that is used between its destruction and the
    /// store that tells of it, a variable whose old value is restored.
    pub(super) rank: u32,
}

impl Moment {
    fn with_mode(self, mode: Mode) -> Moment {
        Moment { disturbance: Disturbance { mode, ..self.disturbance }, ..self }
    }
}

/// All moments of a run. Of each thread, the events before the index in `from` are as they should be:
/// only later ones are disturbed.
pub(super) fn moments(trace: &Trace, from: &BTreeMap<ThreadId, u64>, depth: usize) -> Vec<Moment> {
    let timeline = Timeline::new(trace);
    let (freed, held) = (FreedBlocks::new(trace), HeldIndex::new(trace));
    let search = Search { trace, timeline: &timeline, freed: &freed, held: &held, from, depth };
    let mut moments = Vec::new();
    for accesses in timeline.shared.values() {
        search.add_variable(accesses, &mut moments);
        search.add_restored(accesses, &mut moments);
    }
    search.add_tried_locks(&mut moments);
    search.add_destroyed(&mut moments);
    // What a thread sees first influences most of what it does.
    moments.sort_by_key(|it| (it.rank, it.disturbance.seen.index));
    moments
}

/// The search in one run.
pub(super) struct Search<'a> {
    pub(super) trace: &'a Trace,
    pub(super) timeline: &'a Timeline,
    freed: &'a FreedBlocks,
    held: &'a HeldIndex,
    from: &'a BTreeMap<ThreadId, u64>,
    pub(super) depth: usize,
}

/// A read and the write of another thread that is to follow it.
#[derive(Clone, Copy)]
struct Pair<'a> {
    read: SharedAccess,
    write: SharedAccess,
    /// All accesses to the variable.
    accesses: &'a [SharedAccess],
    /// The last event of the reader before it is disturbed.
    seen: u64,
}

impl Search<'_> {
    pub(super) fn is_open(&self, event: EventId) -> bool {
        let from = self.from.get(&event.thread).copied().unwrap_or(0);
        event.index >= from && self.trace.can_be_scheduled(event.thread)
    }

    /// The place of the event after an event and its critical section.
    fn next_site(&self, event: EventId) -> SiteId {
        self.site(EventId { index: self.timeline.section(event).1 + 1, ..event })
    }

    /// The places of a read, of what its thread does next after it has stopped, and of a write.
    pub(super) fn sites(&self, read: EventId, seen: EventId, write: EventId) -> [SiteId; 3] {
        let next = EventId { index: seen.index + 1, ..seen };
        [self.site(read), self.site(next), self.site(write)]
    }

    pub(super) fn site(&self, event: EventId) -> SiteId {
        self.trace.event(event).map_or(SiteId(0), |it| it.site)
    }

    /// Each place at which a thread reads the variable counts once for each place at which it continues,
    /// with the first write of each other thread that can follow: the next one, or the first one if all of
    /// them came earlier.
    fn add_variable(&self, accesses: &[SharedAccess], moments: &mut Vec<Moment>) {
        let mut seen = BTreeSet::new();
        for read in accesses.iter().filter(|it| it.reads && self.is_open(it.event)) {
            let victim = read.event.thread;
            if !seen.insert((victim, self.site(read.event), self.next_site(read.event))) {
                continue;
            }
            let end = self.timeline.section(read.event).1;
            let seen_at = self.timeline.position(EventId { index: end, ..read.event });
            let mut writers = BTreeSet::new();
            let others = |it: &&SharedAccess| it.writes && it.event.thread != victim;
            let later = |it: &&SharedAccess| self.timeline.position(it.event) > seen_at;
            let writes = accesses.iter().filter(others).filter(|it| self.is_open(it.event));
            let (after, before): (Vec<&SharedAccess>, Vec<&SharedAccess>) = writes.partition(later);
            for write in after.into_iter().chain(before) {
                if writers.insert(write.event.thread) {
                    let (read, write) = (*read, *write);
                    self.add_pair(Pair { read, write, accesses, seen: end }, moments);
                    // A lock that the writer does not need says nothing about the variable.
                    let early = read.event.index;
                    if early < end && self.are_apart(read.event, write.event) {
                        self.add_pair(Pair { read, write, accesses, seen: early }, moments);
                    }
                }
            }
        }
    }

    fn add_pair(&self, pair: Pair<'_>, moments: &mut Vec<Moment>) {
        let Pair { read, write, accesses, seen } = pair;
        let timeline = self.timeline;
        let written = timeline.section(write.event).1;
        // A thread that only ends cannot act on what it has read.
        if seen + 2 >= timeline.len(read.event.thread) {
            return;
        }
        let later =
            |it: &&SharedAccess| it.event.thread == read.event.thread && it.event.index > seen;
        let again = accesses.iter().any(|it| later(&it));
        let elsewhere = self.elsewhere(read.event, accesses.iter().filter(later));
        let site = self.site(write.event);
        let same = |it: &&SharedAccess| {
            let event = it.event;
            event.thread == write.event.thread
                && event.index >= write.event.index
                && self.site(event) == site
        };
        let times = accesses.iter().filter(same).count().min(MOST_TIMES);
        let stop = EventId { index: seen, ..read.event };
        let frees_early = self.frees_early(write.event, stop);
        let mut modes = vec![(Mode::ToTheEnd, if frees_early { FREES_EARLY } else { 2 })];
        if again && times > 1 {
            modes.push((Mode::Repeatedly(times), 1));
        }
        // A single disturbance of the recorded run is what candidates are.
        let once = if self.depth == 0 { 3 } else { 1 + u32::from(!again) };
        modes.push((Mode::Once, once));
        for (mode, rank) in modes {
            let seen = stop;
            let written = EventId { index: written, ..write.event };
            if let Some((turns, waits)) = self.turns(read.event, seen, write.event) {
                let read = read.event;
                let (elsewhere, depth) = (elsewhere.clone(), self.depth);
                let disturbance =
                    Disturbance { turns, read, seen, written, mode, elsewhere, depth };
                let sites = self.sites(read, seen, write.event);
                moments.push(Moment { disturbance, sites, rank: rank + 2 * u32::from(waits) });
            }
        }
        let locked = timeline.section(write.event).0 < write.event.index;
        let unlocked = timeline.section(read.event) == (read.event.index, read.event.index);
        if locked && unlocked {
            moments.extend(self.inside(read.event, write.event));
        }
    }

    /// Whether a writer frees, without waiting for anything, what a victim that stops here uses later.
    fn frees_early(&self, write: EventId, stop: EventId) -> bool {
        let position = |it| self.timeline.position(it);
        self.freed.following(write, stop).any(|it| {
            let existed = it.allocated.is_none_or(|it| position(it) < position(stop));
            existed && self.waits(it.freed, position(write)) == Some(false)
        })
    }

    /// The ends of the critical sections of a victim's later reads, if none of them is at the place of its
    /// first one. A loop that reads there again is disturbed there, also where the run did not repeat it.
    fn elsewhere<'a>(
        &self,
        read: EventId,
        later: impl Iterator<Item = &'a SharedAccess>,
    ) -> Vec<EventId> {
        let reads: Vec<_> = later.filter(|it| it.reads).map(|it| it.event).collect();
        if reads.iter().any(|it| self.site(*it) == self.site(read)) {
            return Vec::new();
        }
        let end = |it: &EventId| EventId { index: self.timeline.section(*it).1, ..*it };
        reads.iter().map(end).collect()
    }

    /// The writer stops within its critical section, right after its write, and the victim reads then.
    fn inside(&self, read: EventId, write: EventId) -> Option<Moment> {
        let timeline = self.timeline;
        let cut = timeline.position(read).min(timeline.position(write));
        // Neither thread may need the end of the other one to get there.
        self.waits(read, cut)?;
        self.waits(write, cut)?;
        let mut turns = compress(&timeline.order[..cut]);
        self.create(write.thread, cut, read.thread, &mut turns)?;
        let (seen, written, mode, depth) = (read, write, Mode::Inside, self.depth);
        let elsewhere = Vec::new();
        let disturbance = Disturbance { turns, read, seen, written, mode, elsewhere, depth };
        let section = EventId { index: timeline.section(read).1, ..read };
        Some(Moment { disturbance, sites: self.sites(read, section, write), rank: 2 })
    }

    /// The turns up to the moment at which the victim has seen the variable and the writer has not yet
    /// begun to write it, and whether a thread may have to wait on the way.
    pub(super) fn turns(
        &self,
        read: EventId,
        seen: EventId,
        write: EventId,
    ) -> Option<(Vec<(ThreadId, u64)>, bool)> {
        let timeline = self.timeline;
        let begin = EventId { index: timeline.section(write).0, ..write };
        let cut = (timeline.position(seen) + 1).min(timeline.position(begin));
        let early = timeline.position(seen) >= cut;
        let mut turns = compress(&timeline.order[..cut]);
        if early {
            self.create(seen.thread, cut, write.thread, &mut turns)?;
            turns.push((read.thread, read.index + 1));
            return Some((turns, self.waits(read, cut)?));
        }
        // It is so already.
        let next = EventId { index: seen.index + 1, ..seen };
        if timeline.position(next) > timeline.position(write) {
            return None;
        }
        self.create(write.thread, cut, seen.thread, &mut turns)?;
        Some((turns, self.waits(write, cut)?))
    }

    /// Adds the turn that creates a thread, if that comes after the cut. `None` if another thread, which
    /// stops there, would have to create it.
    fn create(
        &self,
        thread: ThreadId,
        cut: usize,
        stopped: ThreadId,
        turns: &mut Vec<(ThreadId, u64)>,
    ) -> Option<()> {
        if let Some(fork) = self.timeline.fork(thread)
            && self.timeline.position(fork) >= cut
        {
            if fork.thread == stopped {
                return None;
            }
            turns.push((fork.thread, fork.index + 1));
        }
        Some(())
    }

    /// Whether a thread waits for others between the cut and an event. `None` if it waits for the end of
    /// a thread: that would have to end first, and then nothing is left to reorder.
    fn waits(&self, event: EventId, cut: usize) -> Option<bool> {
        let thread = self.trace.thread(event.thread)?;
        let until = usize::try_from(event.index).unwrap_or(usize::MAX).min(thread.events.len());
        let later = thread.events[..until].iter().rev();
        let mut waits = false;
        for event in later.take_while(|it| self.timeline.position(it.id) >= cut) {
            match event.op.effect() {
                Effect::Thread(ThreadEffect::Join(_)) => return None,
                Effect::Condition(_)
                | Effect::Barrier(_)
                | Effect::Semaphore(_)
                | Effect::Channel(_) => waits = true,
                _ => {}
            }
        }
        Some(waits)
    }

    /// A thread stops between the destruction of an object and its next write, which says that the object
    /// is gone. Another thread reads the variable then, if no lock keeps it from there.
    fn add_destroyed(&self, moments: &mut Vec<Moment>) {
        for event in self.trace.threads.iter().flat_map(|it| &it.events) {
            if !is_destruction(event.op.effect()) || !self.is_open(event.id) {
                continue;
            }
            let Some(accesses) = self.next_write(event.id) else { continue };
            let mut seen = BTreeSet::new();
            for read in accesses.iter().filter(|it| it.reads && self.is_open(it.event)) {
                if read.event.thread != event.id.thread
                    && seen.insert((read.event.thread, self.site(read.event)))
                    && self.are_apart(read.event, event.id)
                {
                    let moment = self.inside(read.event, event.id);
                    moments.extend(moment.map(|it| Moment { rank: 0, ..it }));
                }
            }
        }
    }

    /// Whether no lock is held at both events.
    fn are_apart(&self, one: EventId, other: EventId) -> bool {
        let locks = |it| self.held.before(it).iter().map(|it| it.0).collect::<BTreeSet<_>>();
        locks(one).is_disjoint(&locks(other))
    }

    /// The accesses to the shared variable that a thread writes next, soon after an event.
    fn next_write(&self, event: EventId) -> Option<&[SharedAccess]> {
        let next = usize::try_from(event.index).unwrap_or(usize::MAX).saturating_add(1);
        let later = self.trace.thread(event.thread)?.events.get(next..)?.iter().take(SOON);
        later.into_iter().find_map(|it| match it.op.effect() {
            Effect::Access(access) if access.write.is_some() => {
                self.timeline.shared.get(&access.addr).map(Vec::as_slice)
            }
            _ => None,
        })
    }

    /// A thread holds a lock while another one tries to acquire it. The other one then does what the run
    /// does not show, so this comes first.
    fn add_tried_locks(&self, moments: &mut Vec<Moment>) {
        for acquisitions in self.timeline.tried.values() {
            let tries = acquisitions.iter().filter(|it| it.tried && self.is_open(it.event));
            for tried in tries {
                let held = |it: &&super::timeline::Acquisition| {
                    it.event.thread != tried.event.thread && self.is_open(it.event)
                };
                let Some(held) = acquisitions.iter().find(held) else { continue };
                let moment = self.inside(tried.event, held.event);
                moments.extend(moment.map(|it| Moment { rank: 0, ..it.with_mode(Mode::Held) }));
            }
        }
    }
}

fn is_destruction(effect: Effect) -> bool {
    matches!(
        effect,
        Effect::Block(BlockEffect::Freed { .. }) | Effect::Object(ObjectEffect::Destroy { .. })
    )
}

/// The turns of an order of events.
fn compress(order: &[EventId]) -> Vec<(ThreadId, u64)> {
    let mut turns: Vec<(ThreadId, u64)> = Vec::new();
    for event in order {
        match turns.last_mut() {
            Some((thread, until)) if *thread == event.thread => *until = event.index + 1,
            _ => turns.push((event.thread, event.index + 1)),
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use norn_model::text;

    use super::*;

    /// The modes of the disturbances of a run, with their victims.
    fn found(run: &str, depth: usize) -> Vec<String> {
        let trace = text::parse(&format!("order global\n{run}")).unwrap_or_default();
        let name = |it: ThreadId| trace.thread(it).map_or(String::new(), |it| it.name.0.clone());
        let moments = moments(&trace, &BTreeMap::new(), depth);
        let text =
            |it: &Moment| format!("{} {:?}", name(it.disturbance.seen.thread), it.disturbance.mode);
        moments.iter().map(text).collect()
    }

    #[test]
    fn a_read_is_disturbed_by_a_later_write() {
        let run = "T1 load x 0\nT1 store y 1\nT1 yield\nT1 yield\nT2 store x 1\nT2 end";
        assert_eq!(found(run, 0), ["T1 ToTheEnd", "T1 Once"]);
    }

    #[test]
    fn an_early_read_is_disturbed_by_the_write_that_it_saw() {
        let run = "T2 store x 1\nT2 end\nT1 load x 1\nT1 store y 1\nT1 yield\nT1 end";
        assert_eq!(found(run, 1), ["T1 ToTheEnd", "T1 Once"]);
    }

    #[test]
    fn a_read_in_a_loop_is_disturbed_repeatedly() {
        let writes = "T2 store x 1 @ w\nT2 store x 2 @ w\nT2 store x 3 @ w\n";
        let run = format!("{writes}T1 load x 3 @ r\nT1 cas x 3 4 @ c\nT1 yield\nT1 end");
        assert_eq!(found(&run, 0)[0], "T1 Repeatedly(3)");
    }

    #[test]
    fn a_victim_that_reads_elsewhere_is_disturbed_there() {
        let elsewhere = |reads: &str| {
            let writes = "T2 store x 1 @ w\nT2 store x 2 @ w\nT2 store x 3 @ w\n";
            let run = format!("order global\n{writes}T1 load x 3 @ a\n{reads}T1 yield\nT1 end");
            let trace = text::parse(&run).unwrap_or_default();
            let moments = moments(&trace, &BTreeMap::new(), 0);
            let mode = |it: &&Moment| it.disturbance.mode == Mode::Repeatedly(3);
            let first = moments.iter().filter(mode).find(|it| it.disturbance.read.index == 0);
            first.map(|it| it.disturbance.elsewhere.iter().map(|it| it.index).collect::<Vec<_>>())
        };
        assert_eq!(elsewhere("T1 load x 3 @ b\nT1 load x 3 @ b\n"), Some(vec![1, 2]));
        assert_eq!(elsewhere("T1 load x 3 @ b\nT1 load x 3 @ a\n"), Some(vec![]));
    }

    #[test]
    fn a_lock_that_is_tried_is_held_by_another_thread() {
        let run = "T1 acq m mutex tried\nT1 rel m\nT2 acq m\nT2 rel m";
        assert_eq!(found(run, 0), ["T1 Held"]);
    }

    #[test]
    fn a_thread_stops_between_the_destruction_and_the_write_that_tells_of_it() {
        let owner = "T1 acq own\nT1 free block\nT1 acq m\nT1 w p 0\nT1 rel m\nT1 rel own\n";
        let run = |lock: &str| {
            format!("T1 alloc block 8\n{owner}T2 acq {lock}\nT2 r p 0\nT2 rel {lock}\nT2 end")
        };
        assert!(found(&run("m"), 0).contains(&"T2 Inside".to_owned()));
        assert!(!found(&run("own"), 0).contains(&"T2 Inside".to_owned()));
    }

    #[test]
    fn a_lock_that_the_writer_does_not_need_stops_no_victim() {
        let stops = |lock: &str| {
            let reader = "T1 acq m\nT1 load x 0\nT1 store s 1\nT1 rel m\nT1 yield\nT1 yield\n";
            let run = format!("{reader}T2 acq {lock}\nT2 store x 1\nT2 rel {lock}\nT2 end");
            let trace = text::parse(&format!("order global\n{run}")).unwrap_or_default();
            let moments = moments(&trace, &BTreeMap::new(), 0);
            let last = moments.iter().filter(|it| it.disturbance.mode == Mode::ToTheEnd);
            last.map(|it| it.disturbance.seen.index).collect::<Vec<_>>()
        };
        assert_eq!(stops("m"), [3]);
        assert_eq!(stops("n"), [1, 3]);
    }

    #[test]
    fn a_writer_that_frees_what_the_victim_uses_comes_early() {
        let rank = |free: &str| {
            let user = "T0 alloc 0x100 8\nT2 load stop 0\nT2 r 0x104 0\nT2 yield\nT2 yield\n";
            let run = format!("order global\n{user}T1 store stop 1\n{free}T1 end");
            let trace = text::parse(&run).unwrap_or_default();
            let moments = moments(&trace, &BTreeMap::new(), 0);
            let last = moments.iter().find(|it| it.disturbance.mode == Mode::ToTheEnd);
            last.map(|it| it.rank)
        };
        assert_eq!(rank("T1 free 0x100\n"), Some(FREES_EARLY));
        assert_eq!(rank("T1 wait c m\nT1 wake c m\nT1 free 0x100\n"), Some(2));
        assert_eq!(rank(""), Some(2));
    }

    #[test]
    fn a_thread_that_only_ends_is_not_disturbed() {
        assert!(found("T1 load x 0\nT1 end\nT2 store x 1\nT2 end", 0).is_empty());
    }
}
