//! Follows a schedule: its segments one after the other, each until its thread has come to where
//! the segment ends. What the thread comes to is compared with what the schedule expects. When
//! it cannot be followed any further, that is noted, and the program goes on by other rules.

use core::{
    cell::UnsafeCell,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use norn_abi::{
    arena::{MODULES, NAMES, role},
    control::{ANYWHERE, Name, Point, Segment, after, class, follow, until, why},
};

use super::{
    strategy,
    task::{self, Task, UNNAMED},
    time, turn,
};
use crate::{arena, sys};

/// Where we are in the schedule. Touched under the scheduler's lock only.
struct State {
    /// Which segment.
    at: usize,
    /// Events at the segment's points so far.
    hits: u64,
    /// Up to which event of the thread they are counted.
    counted: u64,
    /// For [`until::AFTER`]: it is over when the thread has done this many events; 0 if unknown.
    end: u64,
    /// Since when the segment's thread waits for something outside, in real time; 0 if it does not.
    waits: u64,
    /// How often the time was put forward for it in this segment.
    naps: u32,
}

impl State {
    /// At the beginning of a segment.
    const fn at(segment: usize) -> State {
        State { at: segment, hits: 0, counted: 0, end: 0, waits: 0, naps: 0 }
    }
}

/// How often a thread may sleep in a segment.
const MOST_NAPS: u32 = 10_000;
/// How long the segment's thread may wait for something outside while others could go on. What it
/// waits for may be an answer to what they would do.
const PATIENCE: u64 = 1_000_000_000;

struct Shared(UnsafeCell<State>);

// SAFETY: touched under the scheduler's lock only.
unsafe impl Sync for Shared {}

static STATE: Shared = Shared(UnsafeCell::new(State::at(0)));
/// Where the schedule's modules are mapped.
static STARTS: [AtomicUsize; MODULES] = [const { AtomicUsize::new(0) }; MODULES];

/// Which of the schedule's threads have ended.
static ENDED: [AtomicBool; NAMES] = [const { AtomicBool::new(false) }; NAMES];

/// Begins with the first segment. What threads of the same names did in a process that forked this
/// one does not count.
pub fn start() {
    ENDED.iter().for_each(|it| it.store(false, Ordering::Relaxed));
    arena::outcome().follow.store(follow::GOING, Ordering::Relaxed);
}

/// A thread has ended.
pub fn ends(entry: u32) {
    if let Some(ended) = ENDED.get(entry as usize) {
        ended.store(true, Ordering::Relaxed);
    }
}

fn has_ended(entry: u32) -> bool {
    ENDED.get(entry as usize).is_some_and(|it| it.load(Ordering::Relaxed))
}

/// A module is mapped.
pub fn module(start: usize, path: &[u8]) {
    for (known, at) in arena::schedule_modules().iter().zip(&STARTS) {
        let len = known.path.iter().position(|&it| it == 0).unwrap_or(known.path.len());
        if known.path[..len].iter().eq(path) {
            at.store(start, Ordering::Relaxed);
        }
    }
}

/// The entry of a thread's name.
pub fn entry(parent: u32, child: u32) -> u32 {
    let name = Name { parent, child };
    let found = arena::schedule_names().iter().skip(1).position(|it| *it == name);
    found.map_or(UNNAMED, |at| at as u32 + 1)
}

/// The thread that goes on, and for how many events. None if its segment waits for something
/// outside, or when the schedule is at its end or was left: then another strategy is in force.
pub unsafe fn choose() -> Option<(&'static mut Task, u64)> {
    // SAFETY: under the lock.
    unsafe {
        let state = &mut *STATE.0.get();
        loop {
            let Some(segment) = arena::segments().get(state.at) else {
                end(follow::DONE);
                return None;
            };
            let task = task::all().iter_mut().find(|it| it.alive && it.entry == segment.thread);
            let Some(task) = task else {
                match (has_ended(segment.thread), segment.until) {
                    (true, until::ENDS | until::BLOCKS) => {
                        advance(state);
                        continue;
                    }
                    (true, _) => leave(None, why::ENDED),
                    (false, _) => leave(None, why::ABSENT),
                }
                return None;
            };
            match progress(state, segment, task) {
                Progress::Over => advance(state),
                Progress::Goes(events) => {
                    state.waits = 0;
                    return Some((task, events));
                }
                Progress::Waits if waits_in_vain(state, task) => {
                    leave(Some(task), why::AWAY);
                    return None;
                }
                Progress::Waits => return stranger(),
                Progress::Stuck(why::BLOCKED) if stranger().is_some() => return stranger(),
                Progress::Stuck(reason) => {
                    leave(Some(task), reason);
                    return None;
                }
            }
        }
    }
}

/// Whether a thread has waited long for something outside while others could go on.
unsafe fn waits_in_vain(state: &mut State, due: &Task) -> bool {
    // SAFETY: under the lock; slots live as long as the arena.
    unsafe {
        let waits =
            |it: &Task| strategy::lists_timeouts() && it.is_timed() && it.entry != due.entry;
        let others = |it: &Task| it.is_ready() && !it.spin.is_idle() || waits(it);
        let others = task::all().iter().any(others);
        let sleeps = due.outside || sys::is_asleep((*due.slot).head.tid);
        if !others || !sleeps {
            state.waits = 0;
            return false;
        }
    }
    let now = sys::now(sys::MONOTONIC);
    if state.waits == 0 {
        state.waits = now;
    }
    now - state.waits > PATIENCE
}

/// A thread that no schedule can name, since it came from code that we do not see. It goes on when
/// the one that is due cannot.
unsafe fn stranger() -> Option<(&'static mut Task, u64)> {
    const TURN: u64 = 100;
    // SAFETY: under the lock.
    let tasks = unsafe { task::all() };
    // SAFETY: slots live as long as the arena.
    let foreign = |it: &Task| unsafe { (*it.slot).head.role == role::FOREIGN };
    let ready = tasks.iter_mut().find(|it| it.is_ready() && foreign(it))?;
    Some((ready, TURN))
}

fn advance(state: &mut State) {
    state.at += 1;
    *state = State::at(state.at);
    arena::outcome().segment.store(state.at as u32, Ordering::Relaxed);
}

enum Progress {
    /// The segment is at its end.
    Over,
    /// The thread goes on, for so many events.
    Goes(u64),
    /// Something must happen outside first.
    Waits,
    /// It cannot go on, or is not where it should be.
    Stuck(u32),
}

unsafe fn progress(state: &mut State, segment: &Segment, task: &mut Task) -> Progress {
    // Where it is going to be next is not known yet; but it has done all that it should.
    let done = segment.until == until::EVENT && task.steps() >= segment.count;
    if done && task.is_between() {
        return Progress::Over;
    }
    if segment.until == until::TIMEOUT && task.is_expired() {
        return Progress::Over;
    }
    if task.away {
        return Progress::Waits;
    }
    match reached(state, segment, task) {
        Some(true) => return Progress::Over,
        Some(false) => return Progress::Stuck(why::OTHER_EVENT),
        None => {}
    }
    if task.waiting && task.handlers == 0 {
        match segment.until {
            until::BLOCKS => return Progress::Over,
            until::TIMEOUT if task.is_timed() => {
                time::put_forward_to(task);
                return Progress::Over;
            }
            // What comes from outside may still come in time.
            // SAFETY: under the lock.
            _ if task.is_timed() && !(task.outside && unsafe { strategy::lists_timeouts() }) => {
                // Who sleeps again and again waits for others as much as who spins.
                if state.naps == MOST_NAPS {
                    return Progress::Stuck(why::SPINS);
                }
                state.naps += 1;
                time::put_forward_to(task);
            }
            // SAFETY: under the lock.
            _ if task.outside || unsafe { turn::may_be_saved() } => return Progress::Waits,
            _ => return Progress::Stuck(why::BLOCKED),
        }
    }
    // Who looks again and again, or lets others go first, waits for them as much as at a lock.
    if segment.until == until::BLOCKS && task.spin.is_idle() {
        return Progress::Over;
    }
    if task.spin.spins() {
        return Progress::Stuck(why::SPINS);
    }
    Progress::Goes(match segment.until {
        until::EVENT => segment.count - task.steps(),
        until::ENDS | until::BLOCKS => u64::MAX,
        _ => 1,
    })
}

/// Whether the thread is where the segment ends; `Some(false)` if that is not where it should be.
fn reached(state: &mut State, segment: &Segment, task: &Task) -> Option<bool> {
    let steps = task.steps();
    match segment.until {
        until::EVENT if steps < segment.count => None,
        until::EVENT => Some(steps > segment.count || segment.points == 0 || is_at(segment, task)),
        until::BEFORE | until::AFTER => {
            if state.end != 0 && steps >= state.end {
                return Some(true);
            }
            if state.counted <= steps && !task.between && is_at(segment, task) {
                state.counted = steps + 1;
                state.hits += 1;
                if state.hits == segment.count.max(1) {
                    if segment.until == until::BEFORE {
                        return Some(true);
                    }
                    state.end = steps + 1;
                }
            }
            None
        }
        _ => None,
    }
}

/// Whether the thread's next event is at one of the segment's points.
fn is_at(segment: &Segment, task: &Task) -> bool {
    let first = segment.point as usize;
    let points = arena::points().get(first..first + segment.points as usize);
    points.unwrap_or_default().iter().any(|it| {
        let Point { module, class, offset } = *it;
        let start = STARTS[module as usize % MODULES].load(Ordering::Relaxed) as u64;
        (class == class::ANY || class == task.class())
            && (offset == ANYWHERE || task.pc as u64 == start.wrapping_add(offset))
    })
}

/// The schedule cannot be followed.
unsafe fn leave(task: Option<&mut Task>, reason: u32) {
    let outcome = arena::outcome();
    outcome.why.store(reason, Ordering::Relaxed);
    outcome.left_by.store(u32::MAX, Ordering::Relaxed);
    if let Some(task) = task {
        outcome.left_by.store(task.number(), Ordering::Relaxed);
        outcome.kind.store(u32::from(task.kind.code()), Ordering::Relaxed);
        outcome.pc.store(task.pc as u64, Ordering::Relaxed);
        outcome.object.store(task.object as u64, Ordering::Relaxed);
        outcome.index.store(task.steps(), Ordering::Relaxed);
    }
    let diverged = matches!(reason, why::OTHER_EVENT | why::ENDED);
    // SAFETY: under the lock.
    unsafe { end(if diverged { follow::DIVERGED } else { follow::INFEASIBLE }) };
}

/// The schedule is over: the program goes on as the plan says.
unsafe fn end(how: u32) {
    arena::outcome().follow.store(how, Ordering::Release);
    // SAFETY: under the lock.
    unsafe {
        strategy::be_fair();
        match arena::plan().after {
            after::FREE => {
                super::set_free();
                turn::free_all();
            }
            after::STOP => super::verdict::stopped(),
            _ => {}
        }
    }
}

/// Of those who wait, the one who is due first; rather one who does not wait until its time runs
/// out. Their entries come in the order of waiting.
pub unsafe fn pick_waiter(entries: impl Fn(usize) -> Option<u32>) -> usize {
    // SAFETY: under the lock.
    let at = unsafe { (*STATE.0.get()).at };
    let rest = arena::segments().get(at..).unwrap_or_default();
    let mut best = (false, rest.len(), 0);
    let mut number = 0;
    while let Some(entry) = entries(number) {
        if let Some(first) = rest.iter().position(|it| it.thread == entry) {
            let woken = rest[first].until != until::TIMEOUT;
            if (woken, best.1) > (best.0, first) {
                best = (woken, first, number);
            }
        }
        number += 1;
    }
    best.2
}
