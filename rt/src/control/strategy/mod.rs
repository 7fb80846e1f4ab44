//! Who goes next. Each strategy is a file with one function: of the tasks that may be chosen,
//! which one, and for how many events.

mod pct;
mod pos;
mod random;
mod round_robin;

use core::cell::UnsafeCell;

use norn_abi::control::{strategy as name, timeouts};

use super::{
    follow, spin,
    task::{self, Task},
    time, turn, verdict,
};
use crate::arena;

/// One of how many decisions lets a thread go on whose time has not come yet.
const EARLY: u64 = 32;
/// Events of a turn while everybody spins.
const SPIN_TURN: u64 = 64;

/// What strategies keep. Touched under the scheduler's lock only.
pub struct State {
    rng: u64,
    /// Number of the task that had the turn last.
    last: usize,
    /// Turns so far.
    turns: u64,
    /// Events before who looks now, while everybody spins, began to.
    looks: u64,
    /// The strategy that is in force.
    strategy: u32,
    pct: pct::State,
}

struct Shared(UnsafeCell<State>);

// SAFETY: touched under the scheduler's lock only.
unsafe impl Sync for Shared {}

static STATE: Shared = Shared(UnsafeCell::new(State {
    rng: 0,
    last: 0,
    turns: 0,
    looks: 0,
    strategy: 0,
    pct: pct::State::NEW,
}));

unsafe fn state() -> &'static mut State {
    // SAFETY: under the lock.
    unsafe { &mut *STATE.0.get() }
}

/// What SplitMix64 adds from one number to the next.
pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// What SplitMix64 makes of a number.
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

impl State {
    /// The next random number (SplitMix64).
    fn random(&mut self) -> u64 {
        self.rng = self.rng.wrapping_add(STEP);
        mix(self.rng)
    }

    /// A random number below `limit`.
    fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.random()) * u128::from(limit)) >> 64) as u64
    }
}

/// Reads the plan.
pub unsafe fn start() {
    // SAFETY: nothing else runs yet.
    let state = unsafe { state() };
    let plan = arena::plan();
    (state.rng, state.strategy) = (plan.seed, plan.strategy);
    if plan.strategy == name::PCT {
        pct::start(state);
    }
}

/// From now on the threads go on in turn.
pub unsafe fn be_fair() {
    // SAFETY: under the lock.
    unsafe { state() }.strategy = name::ROUND_ROBIN;
}

/// Whether a schedule is followed that says whenever the time of a wait runs out.
pub unsafe fn lists_timeouts() -> bool {
    // SAFETY: under the lock.
    unsafe { state() }.strategy == name::FOLLOW && arena::plan().timeouts == timeouts::LISTED
}

/// Whether a schedule is being followed.
pub unsafe fn follows() -> bool {
    // SAFETY: under the lock.
    unsafe { state() }.strategy == name::FOLLOW
}

/// A turn is over in which a thread did something, whether or not it was chosen here.
pub unsafe fn ran(task: &Task) {
    // SAFETY: under the lock.
    unsafe { state() }.last = task::number(task);
}

/// A thread is there that was not before.
pub unsafe fn meet(task: &mut Task) {
    // SAFETY: under the lock.
    let state = unsafe { state() };
    task.priority = match state.strategy {
        name::PCT => pct::priority(state),
        _ => state.random(),
    };
}

/// A thread came to an event. Whether the strategy must be asked who goes on.
pub unsafe fn comes_to_event(task: &mut Task) {
    // SAFETY: under the lock.
    let state = unsafe { state() };
    if state.strategy == name::POS {
        pos::comes_to_event(state, task);
    }
}

/// A number for whoever must choose one of several who wait.
pub unsafe fn pick_waiter(count: u64) -> u64 {
    // SAFETY: under the lock.
    let state = unsafe { state() };
    match state.strategy {
        name::RANDOM | name::POS | name::PCT => state.below(count),
        _ => 0,
    }
}

/// The task that goes on, and for how many events. Under the lock.
pub unsafe fn choose() -> Option<(&'static mut Task, u64)> {
    // SAFETY: under the lock.
    unsafe {
        let state = state();
        spin::after_turn(state.last);
        if state.strategy == name::FOLLOW {
            if let Some(choice) = follow::choose() {
                return remember(state, choice);
            }
            if state.strategy == name::FOLLOW {
                return None;
            }
        }
        maybe_early(state);
        let choice = match task::all().iter().any(is_candidate) {
            true => by_strategy(state),
            false => everybody_spins(state),
        };
        choice.and_then(|it| remember(state, it))
    }
}

unsafe fn by_strategy(state: &mut State) -> Option<(&'static mut Task, u64)> {
    // SAFETY: under the lock.
    unsafe {
        match state.strategy {
            name::RANDOM => random::choose(state),
            name::PCT => pct::choose(state),
            name::POS => pos::choose(),
            _ => round_robin::choose(state, quantum()),
        }
    }
}

fn quantum() -> u64 {
    match arena::plan().quantum {
        0 => 1000,
        quantum => u64::from(quantum),
    }
}

/// Nobody does anything but look: they look in turn, for some time. Who is watched asks at each event;
/// once it is clear that nothing comes of it, that does not end its turn, since to switch is slow.
unsafe fn everybody_spins(state: &mut State) -> Option<(&'static mut Task, u64)> {
    // SAFETY: under the lock.
    unsafe {
        if !task::all().iter().any(Task::is_ready) {
            return None;
        }
        let outer = |it: &Task| it.is_timed() || it.alive && (it.away || it.waiting && it.outside);
        if spin::is_hopeless() {
            if !task::all().iter().any(outer) {
                verdict::livelock();
            }
            return None;
        }
        let goes_on = spin::is_in_vain() && now() - state.looks < SPIN_TURN;
        if let Some(last) = task::all().get_mut(state.last).filter(|it| goes_on && it.is_ready()) {
            return Some((last, SPIN_TURN));
        }
        state.looks = now();
        let next = after(state.last, Task::is_ready)?;
        Some((next, SPIN_TURN))
    }
}

fn remember(
    state: &mut State,
    (task, events): (&'static mut Task, u64),
) -> Option<(&'static mut Task, u64)> {
    state.last = task::number(task);
    Some((task, events))
}

/// Time passes while threads run, so one that sleeps may wake before others have done anything.
unsafe fn maybe_early(state: &mut State) {
    // SAFETY: under the lock.
    unsafe {
        let explores = matches!(state.strategy, name::RANDOM | name::POS | name::PCT)
            && task::all().iter().any(is_candidate);
        if explores && time::may_be_early() && state.below(EARLY) == 0 {
            time::put_forward();
        }
    }
}

/// Whether a task may be chosen while others are ready, too.
fn is_candidate(task: &Task) -> bool {
    task.is_ready() && !task.spin.is_idle()
}

/// The first task behind number `last` for which `f` holds, in a circle.
unsafe fn after(last: usize, f: impl Fn(&Task) -> bool) -> Option<&'static mut Task> {
    // SAFETY: under the lock.
    let tasks = unsafe { task::all() };
    let count = tasks.len();
    let next = (1..=count).map(|i| (last + i) % count).find(|&i| f(&tasks[i]))?;
    Some(&mut tasks[next])
}

/// The candidate with the highest priority.
unsafe fn highest() -> Option<&'static mut Task> {
    // SAFETY: under the lock.
    let tasks = unsafe { task::all() };
    tasks.iter_mut().filter(|it| is_candidate(it)).max_by_key(|it| it.priority)
}

/// Events of all threads so far.
fn now() -> u64 {
    turn::steps()
}
