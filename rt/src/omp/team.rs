//! Teams: the threads of a parallel region. Workers are created when a thread first begins a region of
//! that size, and wait for its next regions.

use core::sync::atomic::{AtomicU32, Ordering};

use norn_abi::{Kind, ObjectClass, arena::ThreadSlot};

use super::{
    Context, Member, alone,
    construct::{Construct, Loop, RING},
    member,
    task::{self, Queue, Task},
};
use crate::{
    atomic,
    control::{self, NEVER},
    event, handle,
    intercept::threads,
    real, sys, thread,
};

/// Maximum number of threads of a region.
pub const MOST: usize = 256;

/// A parallel region.
#[derive(Clone, Copy)]
pub struct Region {
    /// The function that each thread calls, and its arguments.
    pub function: usize,
    pub data: usize,
    pub count: u32,
    /// How the function is called, with the number of the thread.
    pub call: unsafe fn(&Region, u32),
    /// The loop or the sections that the region begins with.
    pub work: Option<Loop>,
}

/// The threads of a parallel region.
pub struct Team {
    /// Protects what follows, up to the constructs. Held briefly, and never at an event.
    locked: AtomicU32,
    pub size: u32,
    /// Number of workers.
    hired: u32,
    workers: [*mut Member; MOST],
    region: Region,
    /// Number of threads at the barrier, and of barriers that they have passed.
    arrived: u32,
    passed: u32,
    /// Number of changes that a waiting thread may wait for.
    changes: AtomicU32,
    pub queue: Queue,
    /// What the thread in a `single` region has for the others.
    pub copy: usize,
    pub constructs: [Construct; RING],
    /// Counts who gets what: see [`claim`].
    claims: u64,
    /// The address of element `n` identifies the barrier of `n` threads; it is 1 once that is recorded.
    barriers: [u64; MOST + 1],
}

impl Team {
    pub fn lock(&self) {
        while self.locked.swap(1, Ordering::Acquire) != 0 {
            sys::yield_now();
        }
    }

    pub fn unlock(&self) {
        self.locked.store(0, Ordering::Release);
    }

    /// What identifies the team while a thread waits: its barrier.
    fn object(&self) -> usize {
        &raw const self.barriers[self.size as usize] as usize
    }

    /// Wakes the threads that wait for a change; they check again.
    pub fn notify(&self) {
        self.changes.fetch_add(1, Ordering::Release);
        sys::futex_wake(self.changes.as_ptr());
        control::release(Kind::HappensAfter, self.object());
    }

    /// Unlocks the team and waits for a change.
    ///
    /// # Safety
    /// The slot is the current thread's and not a placeholder, and the thread has locked the team.
    pub unsafe fn wait(&self, slot: *mut ThreadSlot, pc: usize) {
        const FOR_EVER: u64 = 1 << 40;
        // SAFETY: guaranteed by the caller.
        unsafe {
            if control::was_on() {
                let wait = (Kind::HappensAfter, self.object(), pc);
                control::block_after(slot, wait, NEVER, || self.unlock());
                return;
            }
            let seen = self.changes.load(Ordering::Acquire);
            self.unlock();
            event::block(slot, Kind::BarrierEnter, self.object(), pc);
            sys::futex_wait(self.changes.as_ptr(), seen, FOR_EVER);
            event::unblock(slot);
        }
    }
}

/// Records that a thread is about to take what the team distributes. The recorded counter gives each
/// thread the same share in a schedule that preserves all values; it is relaxed, since to get the
/// next chunk of a loop orders nothing.
///
/// # Safety
/// The team exists.
pub unsafe fn claim(team: *mut Team) {
    // SAFETY: the counter is only accessed here.
    unsafe { atomic::count_up(&raw mut (*team).claims) };
}

/// Lets other threads go first before a thread takes more work. In a controlled run, one thread could
/// otherwise do all of it in one turn, and work that is done by one thread has no races.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn give_way(slot: *mut ThreadSlot, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { control::yields(slot, pc) };
}

/// Executes a parallel region with up to `size` threads.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn fork(slot: *mut ThreadSlot, pc: usize, size: u32, region: Region) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(leader) = member(slot).map(|it| &raw mut *it) else {
            return (region.call)(&region, 0);
        };
        let nested = (*leader).now.is_parallel();
        let team = if nested || size < 2 { core::ptr::null_mut() } else { crew(leader) };
        let size = if team.is_null() { 1 } else { hire(slot, pc, team, size) };
        if size < 2 {
            return alone(leader, || {
                if let Some(work) = region.work {
                    work.begin(leader, slot, pc);
                }
                (region.call)(&region, 0);
            });
        }
        (*team).size = size;
        (*team).region = region;
        announce_barrier(slot, pc, team);
        (*team).constructs.iter_mut().for_each(Construct::forget);
        for number in 1..size {
            let worker = (*team).workers[number as usize - 1];
            (*worker).place = number;
            call_up(slot, pc, worker);
        }
        work(slot, leader, team, 0, pc);
    }
}

/// Records the size of the team's barrier, once for each size.
///
/// # Safety
/// The slot is the current thread's, which leads the team.
unsafe fn announce_barrier(slot: *mut ThreadSlot, pc: usize, team: *mut Team) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let size = (*team).size;
        let barrier = &raw mut (*team).barriers[size as usize];
        if core::mem::replace(&mut *barrier, 1) == 0 {
            let args = [ObjectClass::Barrier as u64, u64::from(size)];
            event::put(slot, Kind::Init, pc, barrier as usize, &args);
        }
    }
}

/// The team that a thread leads.
///
/// # Safety
/// `leader` is the current thread's.
unsafe fn crew(leader: *mut Member) -> *mut Team {
    // SAFETY: guaranteed by the caller. New memory is zero, which is a team without workers.
    unsafe {
        if (*leader).crew.is_null() {
            (*leader).crew = sys::map_private(size_of::<Team>()).unwrap_or(0) as *mut Team;
        }
        (*leader).crew
    }
}

/// Creates the workers that are missing. Returns how many threads the team can have.
///
/// # Safety
/// The slot is the current thread's, which leads the team.
unsafe fn hire(slot: *mut ThreadSlot, pc: usize, team: *mut Team, size: u32) -> u32 {
    let size = size.min(MOST as u32);
    // SAFETY: guaranteed by the caller.
    unsafe {
        while (*team).hired + 1 < size {
            let Some(page) = sys::map_private(super::PAGE) else { break };
            let worker = page as *mut Member;
            (*worker).employer = team;
            let mut made = 0usize;
            let start = serve as *const () as usize;
            if threads::create(&raw mut made as usize, 0, start, page, pc) != 0 {
                break;
            }
            thread::quietly(slot, || real::pthread_detach()(made));
            // A thread that cannot be recorded ends at once.
            if handle::number_of(made).is_none() {
                break;
            }
            (*team).workers[(*team).hired as usize] = worker;
            (*team).hired += 1;
        }
        size.min((*team).hired + 1)
    }
}

/// Lets a worker continue.
///
/// # Safety
/// The slot is the current thread's, which leads the worker's team.
unsafe fn call_up(slot: *mut ThreadSlot, pc: usize, worker: *mut Member) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let gate = &raw const (*worker).calls;
        event::put(slot, Kind::SemPost, pc, gate as usize, &[]);
        (*gate).fetch_add(1, Ordering::Release);
        sys::futex_wake(gate.cast());
        control::release(Kind::SemWait, gate as usize);
    }
}

/// The life of a worker: one region after another.
///
/// # Safety
/// Called first in a new thread, with the state of the worker.
unsafe extern "C-unwind" fn serve(worker: *mut Member) -> usize {
    // SAFETY: guaranteed by the caller; the leader changes the team only between regions.
    unsafe {
        let Some(slot) = thread::recorded() else { return 0 };
        (*thread::own(slot)).omp = worker as usize;
        let mut seen = 0;
        loop {
            await_call(slot, worker, seen);
            seen += 1;
            if (*worker).quits {
                return 0;
            }
            // The function's own code is the best place for the events at the end of the region.
            let team = (*worker).employer;
            let pc = (*team).region.function + 1;
            work(slot, worker, team, (*worker).place, pc);
        }
    }
}

/// Waits until the worker was called more than `seen` times.
///
/// # Safety
/// The slot is the current thread's, and the worker is the current thread.
unsafe fn await_call(slot: *mut ThreadSlot, worker: *mut Member, seen: u32) {
    const FOR_EVER: u64 = 1 << 40;
    // SAFETY: guaranteed by the caller.
    unsafe {
        let gate = &raw const (*worker).calls;
        control::before(slot, Kind::SemWait, 0, gate as usize);
        while (*gate).load(Ordering::Acquire) == seen {
            if control::was_on() {
                // A call that comes before the wait is registered must not be lost.
                let check = || {
                    if (*gate).load(Ordering::Acquire) != seen {
                        control::release(Kind::SemWait, gate as usize);
                    }
                };
                control::block_after(slot, (Kind::SemWait, gate as usize, 0), NEVER, check);
            } else {
                event::block(slot, Kind::SemWait, gate as usize, 0);
                sys::futex_wait(gate.cast(), seen, FOR_EVER);
                event::unblock(slot);
            }
        }
        event::note(slot, Kind::SemWait, 0, gate as usize, &[]);
    }
}

/// The work of one thread in a region.
///
/// # Safety
/// The slot and the member are the current thread's, which is a member of the team.
unsafe fn work(
    slot: *mut ThreadSlot,
    member: *mut Member,
    team: *mut Team,
    number: u32,
    pc: usize,
) {
    // SAFETY: guaranteed by the caller. The task outlives its children: they end before the barrier
    // does.
    unsafe {
        let outer = (*member).now;
        let mut task = Task::implicit();
        (*member).now = Context { team, number, task: &raw mut task, ..outer.alone() };
        let region = (*team).region;
        if let Some(work) = region.work {
            work.begin(member, slot, pc);
        }
        (region.call)(&region, number);
        barrier(slot, member, pc);
        (*member).now = outer;
    }
}

/// Waits for all threads of the team, and executes tasks meanwhile.
///
/// # Safety
/// The slot and the member are the current thread's.
pub unsafe fn barrier(slot: *mut ThreadSlot, member: *mut Member, pc: usize) {
    // SAFETY: guaranteed by the caller. After the barrier, the leader may change the team.
    unsafe {
        let team = (*member).now.team;
        if team.is_null() {
            return;
        }
        let object = (*team).object();
        event::put(slot, Kind::BarrierEnter, pc, object, &[]);
        (*team).lock();
        let (passed, tasks) = ((*team).passed, (*team).queue.key());
        (*team).arrived += 1;
        let mut any = false;
        let last = loop {
            any |= (*team).queue.used;
            if (*team).passed != passed {
                break false;
            }
            if (*team).queue.has_any() {
                (*team).unlock();
                task::execute_one(slot, member, pc, |_| true);
                (*team).lock();
            } else if (*team).arrived == (*team).size && (*team).queue.unfinished == 0 {
                (*team).arrived = 0;
                (*team).passed += 1;
                (*team).notify();
                break true;
            } else {
                (*team).wait(slot, pc);
                (*team).lock();
            }
        };
        (*team).unlock();
        event::note(slot, Kind::BarrierLeave, pc, object, &[u64::from(last)]);
        if any {
            event::put(slot, Kind::HappensAfter, pc, tasks, &[]);
        }
    }
}

/// Ends the workers of a team, whose leader ends.
///
/// # Safety
/// The slot is the current thread's, which leads the team and is in none of its regions.
pub unsafe fn dismiss(slot: *mut ThreadSlot, team: *mut Team) {
    // SAFETY: guaranteed by the caller: the workers wait.
    unsafe {
        for worker in (*team).workers.iter().take((*team).hired as usize) {
            (**worker).quits = true;
            call_up(slot, 0, *worker);
        }
        (*team).hired = 0;
    }
}
