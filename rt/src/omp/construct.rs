//! Constructs that distribute work among the threads of a team: loops, sections, `single` regions, and
//! the order of `ordered` regions.

use norn_abi::{Kind, arena::ThreadSlot};

use super::{
    Member,
    team::{Team, claim, give_way},
};
use crate::{control, event, sys};

/// Number of constructs of a team that can be in progress at a time: without a barrier, a fast thread
/// may be that far ahead of a slow one.
pub const RING: usize = 16;
/// Number of semaphores for the order of chunks. Each is used again only when the chunks before are done.
const TURNS: u64 = 64;

/// How a loop is distributed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// Each thread has its chunks from the beginning: in turn, or one each if they have no length.
    Static,
    /// Each thread gets the next chunk when it has finished its last one.
    Dynamic,
    /// The same, with chunks that become shorter.
    Guided,
}

/// A loop of `total` iterations, and the progress of one thread there.
#[derive(Clone, Copy)]
pub struct Loop {
    total: u64,
    chunk: u64,
    schedule: Schedule,
    /// Whether it has `ordered` regions.
    ordered: bool,
    /// The values of the loop variable: the first, the one after the last, and the distance.
    start: u64,
    pub end: u64,
    step: u64,
    /// Number of the chunks that this thread has got.
    taken: u64,
    /// The number of its current chunk plus one; 0 if there is none.
    chunk_number: u64,
    /// Whether it is the turn of that chunk, and whether the chunk is the last one.
    has_turn: bool,
    is_last: bool,
}

/// Some iterations of a loop.
#[derive(Clone, Copy)]
pub struct Chunk {
    pub first: u64,
    pub count: u64,
    /// Whether the last iteration of the loop is among them.
    pub is_last: bool,
}

/// What the threads of a team share about a construct.
pub struct Construct {
    /// Its number in the region, from 1; 0 if the entry is unused.
    number: u64,
    /// Number of threads that have not finished it.
    left: u32,
    /// The next iteration, and the number of chunks so far.
    next: u64,
    chunks: u64,
    /// The chunk whose turn it is in `ordered` regions.
    turn: u64,
    /// The addresses of these elements identify the semaphores of chunks.
    turns: [u64; TURNS as usize],
}

impl Construct {
    pub fn forget(&mut self) {
        (self.number, self.left) = (0, 0);
    }

    fn semaphore(&self, chunk: u64) -> usize {
        &raw const self.turns[(chunk % TURNS) as usize] as usize
    }
}

impl Loop {
    pub const NONE: Loop = Loop::new(0, 1, Schedule::Dynamic);

    /// A loop over the numbers from 0 to `total`.
    pub const fn new(total: u64, chunk: u64, schedule: Schedule) -> Loop {
        Loop {
            total,
            chunk,
            schedule,
            ordered: false,
            start: 0,
            end: total,
            step: 1,
            taken: 0,
            chunk_number: 0,
            has_turn: false,
            is_last: false,
        }
    }

    /// The same loop for a variable from `start` to before `end`, with this distance.
    pub const fn over(self, start: u64, end: u64, step: u64) -> Loop {
        Loop { start, end, step, ..self }
    }

    /// The same loop with `ordered` regions.
    pub const fn in_order(self, ordered: bool) -> Loop {
        Loop { ordered, ..self }
    }

    /// The value of the loop variable in an iteration.
    pub fn value(&self, iteration: u64) -> u64 {
        self.start.wrapping_add(iteration.wrapping_mul(self.step))
    }

    /// The distance between two values of the loop variable.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// The current thread begins the loop.
    ///
    /// # Safety
    /// The slot and the member are the current thread's.
    pub unsafe fn begin(self, member: *mut Member, slot: *mut ThreadSlot, pc: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            (*member).now.work = self;
            enter(member, slot, pc);
        }
    }
}

/// The current construct of a thread; null in a region with one thread.
///
/// # Safety
/// The member is the current thread's.
unsafe fn current(member: *mut Member) -> *mut Construct {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let now = &(*member).now;
        if now.team.is_null() {
            return core::ptr::null_mut();
        }
        &raw mut (*now.team).constructs[(now.constructs - 1) as usize % RING]
    }
}

/// Begins the next construct. Returns whether the thread is the first one there.
///
/// # Safety
/// The slot and the member are the current thread's.
unsafe fn enter(member: *mut Member, slot: *mut ThreadSlot, pc: usize) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe {
        (*member).now.constructs += 1;
        let (team, number) = ((*member).now.team, (*member).now.constructs);
        let construct = current(member);
        if construct.is_null() {
            return true;
        }
        (*team).lock();
        while is_used_by_another(construct, number) {
            (*team).unlock();
            if !control::yields(slot, pc) {
                sys::yield_now();
            }
            (*team).lock();
        }
        let first = (*construct).number != number;
        if first {
            ((*construct).number, (*construct).left) = (number, (*team).size);
            ((*construct).next, (*construct).chunks, (*construct).turn) = (0, 0, 0);
        }
        (*team).unlock();
        first
    }
}

/// Whether an earlier construct than this one needs the entry.
///
/// # Safety
/// The team of the construct is locked.
unsafe fn is_used_by_another(construct: *const Construct, number: u64) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe { (*construct).number != number && (*construct).left != 0 }
}

/// The thread has finished its current construct.
///
/// # Safety
/// The slot and the member are the current thread's.
pub unsafe fn leave(member: *mut Member, slot: *mut ThreadSlot, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        end_chunk(member, slot, pc);
        let construct = current(member);
        if !construct.is_null() {
            let team = (*member).now.team;
            (*team).lock();
            (*construct).left -= 1;
            (*team).unlock();
        }
    }
}

/// Whether the thread is the one that executes a `single` region.
///
/// # Safety
/// The slot and the member are the current thread's.
pub unsafe fn single(member: *mut Member, slot: *mut ThreadSlot, pc: usize) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let team = (*member).now.team;
        if !team.is_null() {
            claim(team);
        }
        (*member).now.work = Loop::NONE;
        let first = enter(member, slot, pc);
        leave(member, slot, pc);
        first
    }
}

/// The next iterations of the current loop for this thread.
///
/// # Safety
/// The slot and the member are the current thread's.
pub unsafe fn next(member: *mut Member, slot: *mut ThreadSlot, pc: usize) -> Option<Chunk> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        end_chunk(member, slot, pc);
        let (team, number) = ((*member).now.team, u64::from((*member).now.number));
        let size = u64::from((*member).now.size());
        let work = &raw mut (*member).now.work;
        let (index, first, count) = if team.is_null() {
            ((*work).taken, 0, if (*work).taken == 0 { (*work).total } else { 0 })
        } else if (*work).schedule == Schedule::Static {
            of_static(&*work, number, size)
        } else {
            if (*work).taken > 0 {
                give_way(slot, pc);
            }
            claim(team);
            (*team).lock();
            let part = of_shared(&*work, &mut *current(member), size);
            (*team).unlock();
            part
        };
        (*work).taken += 1;
        if count == 0 {
            return None;
        }
        let is_last = first + count == (*work).total;
        ((*work).chunk_number, (*work).is_last) = (index + 1, is_last);
        (*work).has_turn = index == 0;
        Some(Chunk { first, count, is_last })
    }
}

/// The next chunk of a thread in a static loop: its number, its first iteration, and its length.
fn of_static(work: &Loop, number: u64, size: u64) -> (u64, u64, u64) {
    if work.chunk == 0 {
        let (each, more) = (work.total / size, work.total % size);
        let first = number * each + number.min(more);
        let count = if work.taken == 0 { each + u64::from(number < more) } else { 0 };
        return (number, first, count);
    }
    let index = number + work.taken * size;
    let first = index.saturating_mul(work.chunk).min(work.total);
    (index, first, work.chunk.min(work.total - first))
}

/// The next chunk of a loop whose chunks are distributed on request.
fn of_shared(work: &Loop, construct: &mut Construct, size: u64) -> (u64, u64, u64) {
    let rest = work.total - construct.next;
    let least = work.chunk.max(1);
    let count = match work.schedule {
        Schedule::Guided => rest.div_ceil(size).max(least),
        Schedule::Static | Schedule::Dynamic => least,
    };
    let part = (construct.chunks, construct.next, count.min(rest));
    construct.chunks += u64::from(part.2 > 0);
    construct.next += part.2;
    part
}

/// Begins an `ordered` region: waits until the chunks before have ended.
///
/// # Safety
/// The slot and the member are the current thread's.
pub unsafe fn await_turn(member: *mut Member, slot: *mut ThreadSlot, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (team, construct) = ((*member).now.team, current(member));
        let work = &raw mut (*member).now.work;
        if construct.is_null() || (*work).has_turn || (*work).chunk_number == 0 {
            return;
        }
        let index = (*work).chunk_number - 1;
        let semaphore = (*construct).semaphore(index);
        control::before(slot, Kind::SemWait, pc, semaphore);
        (*team).lock();
        let is_due = || (*construct).turn == index;
        while !is_due() {
            (*team).wait(slot, pc);
            (*team).lock();
        }
        (*team).unlock();
        event::note(slot, Kind::SemWait, pc, semaphore, &[]);
        (*work).has_turn = true;
    }
}

/// The thread has finished its chunk; in an ordered loop the next chunk may have its turn.
///
/// # Safety
/// The slot and the member are the current thread's.
unsafe fn end_chunk(member: *mut Member, slot: *mut ThreadSlot, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (team, work) = ((*member).now.team, &raw mut (*member).now.work);
        if !team.is_null() && (*work).ordered && (*work).chunk_number != 0 {
            await_turn(member, slot, pc);
            let construct = current(member);
            if !(*work).is_last {
                let next = (*construct).semaphore((*work).chunk_number);
                event::put(slot, Kind::SemPost, pc, next, &[]);
            }
            (*team).lock();
            (*construct).turn = (*work).chunk_number;
            (*team).notify();
            (*team).unlock();
        }
        (*work).chunk_number = 0;
    }
}

/// The loop that the thread executes.
///
/// # Safety
/// The member is the current thread's.
pub unsafe fn current_loop(member: *mut Member) -> Loop {
    // SAFETY: guaranteed by the caller.
    unsafe { (*member).now.work }
}

/// The next section of the current construct: one at a time, even in a region with one thread.
///
/// # Safety
/// The slot and the member are the current thread's.
pub unsafe fn next_single(member: *mut Member, slot: *mut ThreadSlot, pc: usize) -> Option<Chunk> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if (*member).now.is_parallel() {
            return next(member, slot, pc);
        }
        let work = &mut (*member).now.work;
        let first = work.taken;
        work.taken += 1;
        (first < work.total).then_some(Chunk { first, count: 1, is_last: work.taken == work.total })
    }
}

/// What the thread in a `single` region gives to the others.
pub fn copied(team: *mut Team) -> Option<&'static mut usize> {
    // SAFETY: the team exists as long as its region.
    unsafe { (!team.is_null()).then(|| &mut (*team).copy) }
}
