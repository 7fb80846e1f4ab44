//! Any thread, for a random number of events. The mean of that number makes a great difference:
//! some bugs need many switches close to each other, others one in a long run. So without one
//! given, the seed chooses it, from 1 to 512; and it doubles every so often, for a long run would
//! otherwise be nothing but switches.

use super::{State, Task, is_candidate};
use crate::{arena, control::task};

/// After how many turns the mean is doubled, and how often.
const DOUBLED: u64 = 8192;
const MOST_DOUBLED: u64 = 9;

pub unsafe fn choose(state: &mut State) -> Option<(&'static mut Task, u64)> {
    // SAFETY: under the lock.
    let tasks = unsafe { task::all() };
    let count = tasks.iter().filter(|it| is_candidate(it)).count() as u64;
    let nth = state.below(count) as usize;
    let chosen = tasks.iter_mut().filter(|it| is_candidate(it)).nth(nth)?;
    Some((chosen, turn_length(state)))
}

/// Geometrically distributed: after each event the turn ends with the same probability.
fn turn_length(state: &mut State) -> u64 {
    let plan = arena::plan();
    state.turns += 1;
    let mean = match plan.quantum {
        0 => (1 << (plan.seed % 10)) << (state.turns / DOUBLED).min(MOST_DOUBLED),
        mean => u64::from(mean),
    };
    let most = mean * 8;
    (1..most).find(|_| state.below(mean) == 0).unwrap_or(most)
}
