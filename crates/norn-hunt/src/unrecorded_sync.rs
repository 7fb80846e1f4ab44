//! Unrecorded synchronisation that may order the accesses of a data race: instructions of inline assembly
//! and of libraries that were not built by `norn cc`, and calls of libc that move data between threads.
//!
//! In a controlled run, a thread executes the code behind an event at once, up to its next event. So if
//! two accesses are adjacent, and each thread was stopped at its access before, nothing orders them,
//! recorded or not. Otherwise the first thread may release after its access, the second one may acquire
//! before its access, and then the race is no proof: it counts only if the program fails.
//!
//! A thread that spins or sleeps in such code loses its turn; then it is unknown when that code was
//! executed, and it is taken for synchronisation up to the thread's next event. The release that ended the
//! wait need not be among the instructions that are known: many locks are released by an ordinary store.

use norn_frontend::{Direction, Gap, Owner, UnrecordedSync as Unrecorded};
use norn_model::{
    BugClass, Candidate, Event, EventId, Frame, Op, Ordering, StackId,
    memory_model::{Edges, HappensBefore},
};
use norn_replay::ReplayError;
use norn_report::{UnrecordedOrder, UnrecordedSync};

use crate::{
    confirm::{self, Moment},
    executor::Run,
    source::Source,
};

/// Maximum number of events on each side of an access that are examined.
const NEAR: u16 = 64;

/// What may order the accesses of a race in a run that performed it.
pub(crate) fn between(
    source: &Source,
    race: &Candidate,
    run: &Run,
) -> Result<Option<UnrecordedOrder>, ReplayError> {
    if race.class() != BugClass::Race {
        return Ok(None);
    }
    let did = run.source()?;
    Ok(did.and_then(|did| between_accesses(source, race, did, run.was_away())))
}

fn between_accesses(
    source: &Source,
    race: &Candidate,
    run: &Source,
    away: bool,
) -> Option<UnrecordedOrder> {
    let events = confirm::events(source, race, &run.symbolized)?.into_iter();
    let events = events.map(|it| run.positions.loaded(it)).collect::<Option<Vec<_>>>()?;
    let (&first, &second) = events.first().zip(events.last())?;
    let (from, to) = (Window::around(run, first)?, Window::around(run, second)?);
    let (start, end) = (from.moment()?, to.moment()?);
    let kinds =
        Kinds { instructions: run.symbolized.symbols.has_unrecorded_sync(), transfers: true };
    let releases = from.after(run, kinds, |it| it < end);
    let opened = |opens, closes| if away { closes } else { opens } >= start;
    let acquires = to.before(run, kinds, opened);
    let (release, acquire) = (releases.first(), acquires.first());
    let both = release.is_some() && acquire.is_some();
    // What a thread waited for in such code may be an ordinary store, which nothing tells from others.
    let waited = away && acquire.is_some_and(|it| it.is_fence);
    (both || waited || is_completed(run, (first, &releases), (second, &acquires))).then(|| {
        UnrecordedOrder {
            release: release.map(|it| it.sync.clone()),
            acquire: acquire.map(|it| it.sync.clone()),
        }
    })
}

/// What may order the accesses of a race that a run did not confirm.
pub(crate) fn explain(
    source: &Source,
    race: &Candidate,
    run: &Run,
) -> Result<Option<UnrecordedOrder>, ReplayError> {
    Ok(between(source, race, run)?.or_else(|| around(source, race)))
}

/// What may order the accesses of a race, close to them in the recorded run.
fn around(source: &Source, race: &Candidate) -> Option<UnrecordedOrder> {
    let has_instructions = source.symbolized.symbols.has_unrecorded_sync();
    if race.class() != BugClass::Race || !has_instructions {
        return None;
    }
    let (first, second) = race.steps.first().zip(race.steps.last())?;
    let order = |first: EventId, second: EventId| {
        let kinds = Kinds { instructions: true, transfers: false };
        let release = Window::around(source, first)?.after(source, kinds, |_| true);
        let acquire = Window::around(source, second)?.before(source, kinds, |_, _| true);
        let (release, acquire) =
            (release.into_iter().next()?.sync, acquire.into_iter().next()?.sync);
        Some(UnrecordedOrder { release: Some(release), acquire: Some(acquire) })
    };
    order(first.event, second.event).or_else(|| order(second.event, first.event))
}

/// What is searched.
#[derive(Clone, Copy)]
struct Kinds {
    instructions: bool,
    transfers: bool,
}

/// Synchronisation that may be between two events of a thread, and the number of loaded events before it.
struct Found {
    sync: UnrecordedSync,
    index: u64,
    /// Whether it may be a fence.
    is_fence: bool,
}

/// The events of a thread around one of them, with when they happened. Of a long run only some events are
/// loaded, and the code between two of those may contain other events, so that the recorded ones are used.
struct Window {
    events: Vec<(Event, Moment)>,
    /// The index of the one that they are around.
    at: usize,
}

impl Window {
    fn around(run: &Source, loaded: EventId) -> Option<Window> {
        let center = run.recorded(loaded);
        let first = center.index.saturating_sub(NEAR.into());
        let range = first..center.index.saturating_add(u64::from(NEAR) + 1);
        let (number, events) = run.symbolized.trace.window(center.thread, range);
        let earlier = run.positions.before(EventId { index: first, ..center });
        let number = number.or_else(|| confirm::number(&run.trace, center.thread, earlier));
        let mut number = number?;
        let timed = events.into_iter().map(|event| {
            number = event.seq.unwrap_or(number);
            (event, (number, event.id.index))
        });
        let at = usize::try_from(center.index - first).ok()?;
        Some(Window { events: timed.collect(), at })
    }

    fn moment(&self) -> Option<Moment> {
        self.events.get(self.at).map(|it| it.1)
    }

    /// The synchronisation behind the event, while the events before it happen in time.
    fn after(&self, run: &Source, kinds: Kinds, in_time: impl Fn(Moment) -> bool) -> Vec<Found> {
        let gaps = self.at..self.events.len().min(self.at + usize::from(NEAR));
        let gaps = gaps.take_while(|it| in_time(self.events[*it].1));
        gaps.filter_map(|it| self.found(run, it, (kinds, Direction::Send))).collect()
    }

    /// The synchronisation before the event, closest first, while the events that enclose it are in time.
    fn before(
        &self,
        run: &Source,
        kinds: Kinds,
        in_time: impl Fn(Moment, Moment) -> bool,
    ) -> Vec<Found> {
        let enclosed = |it: &usize| {
            let closes = self.events.get(it + 1);
            closes.is_some_and(|closes| in_time(self.events[*it].1, closes.1))
        };
        let gaps = (0..self.at.min(self.events.len())).rev().take_while(enclosed);
        gaps.filter_map(|it| self.found(run, it, (kinds, Direction::Receive))).collect()
    }

    /// The synchronisation between an event and the next one.
    fn found(
        &self,
        run: &Source,
        at: usize,
        (kinds, direction): (Kinds, Direction),
    ) -> Option<Found> {
        let symbols = &run.symbolized.symbols;
        let index = run.positions.upto(self.events.get(at)?.0.id);
        let instruction = || self.in_gap(run, (at, at + 1), |it| symbols.unrecorded_sync(it));
        let instruction = kinds.instructions.then(instruction).flatten();
        let is_fence = instruction.is_some();
        let transfer = || {
            let transfer = |it: Gap<'_>| symbols.unrecorded_transfer(it, direction);
            let gap = self.around_calls(run, at);
            self.event_transfer(run, at, direction).or_else(|| self.in_gap(run, gap, transfer))
        };
        let transfer = || kinds.transfers.then(transfer).flatten();
        let found = instruction.or_else(transfer)?;
        let program = found.frames.iter().find(|it| symbols.owner(it) == Owner::Program);
        let location = program.or(found.frames.first()).cloned();
        let sync = UnrecordedSync { instruction: found.instruction, location };
        Some(Found { sync, index, is_fence })
    }

    /// An event that moves data to or from a thread whose own event is not recorded: anything that is sent,
    /// and what is received without a send that it could come from.
    fn event_transfer(&self, run: &Source, at: usize, direction: Direction) -> Option<Unrecorded> {
        let event = self.events.get(at)?.0;
        let what = match (event.op, direction) {
            (Op::Send { .. }, Direction::Send) => "send",
            (Op::Receive { from, to, .. } | Op::Ready { from, to, .. }, Direction::Receive)
                if from == to =>
            {
                "receive"
            }
            _ => return None,
        };
        let frames = run.symbolized.symbols.frames(pc(run, event)).to_vec();
        Some(Unrecorded { instruction: what.to_owned(), frames })
    }

    /// The events in code of the program around the gap behind an event. A call of libc may have events of
    /// its own, such as the allocation of a stream's buffer.
    fn around_calls(&self, run: &Source, at: usize) -> (usize, usize) {
        let ours = |it: &usize| {
            let site = self.events.get(*it).map_or(0, |it| pc(run, it.0));
            site == 0 || run.symbolized.symbols.is_program_code(site)
        };
        let from = (0..=at).rev().find(ours).unwrap_or(0);
        (from, (at + 1..self.events.len()).find(ours).unwrap_or(self.events.len()))
    }

    /// What `find` finds between two events.
    fn in_gap<T>(
        &self,
        run: &Source,
        (from, to): (usize, usize),
        find: impl FnOnce(Gap<'_>) -> Option<T>,
    ) -> Option<T> {
        let event = |at: usize| self.events.get(at).map(|it| it.0);
        let (earlier, later) = (event(from)?, event(to));
        let inner = callers(run, earlier.stack);
        let outer = later.map(|it| callers(run, it.stack)).unwrap_or_default();
        let before = later.map_or(0, |it| pc(run, it));
        find(Gap { after: pc(run, earlier), callers: &inner, before, before_callers: &outer })
    }
}

/// The site of an event; 0 if it has none.
fn pc(run: &Source, event: Event) -> u64 {
    run.symbolized.trace.site(event.site).map_or(0, |it| it.pc)
}

fn callers(run: &Source, stack: StackId) -> Vec<u64> {
    let known = |it: Frame| match it {
        Frame::Call(pc) => Some(pc),
        Frame::Unknown(_) => None,
    };
    run.symbolized.trace.stack(stack).map_while(known).collect()
}

/// Whether unrecorded fences complete a handover by recorded atomic operations: the fence of the first
/// thread makes its later stores releases, and that of the second thread its earlier loads acquires.
fn is_completed(
    run: &Source,
    (first, releases): (EventId, &[Found]),
    (second, acquires): (EventId, &[Found]),
) -> bool {
    let released = releases.iter().filter(|it| it.is_fence).map(|it| it.index).min();
    let acquired = acquires.iter().filter(|it| it.is_fence).map(|it| it.index).max();
    if released.is_none() && acquired.is_none() {
        return false;
    }
    let mut trace = run.trace.clone();
    for thread in &mut trace.threads {
        let releases =
            |index: u64| thread.id == first.thread && released.is_some_and(|it| index >= it);
        let acquires =
            |index: u64| thread.id == second.thread && acquired.is_some_and(|it| index < it);
        for event in &mut thread.events {
            if let Op::Atomic { ordering, .. } = &mut event.op
                && (releases(event.id.index) || acquires(event.id.index))
            {
                *ordering = Ordering::AcqRel;
            }
        }
    }
    HappensBefore::new(&trace, Edges::CXX20).is_before(first, second)
}
