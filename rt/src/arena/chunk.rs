//! The chunks into which a thread records. They form a ring in the thread's slot, which the
//! recorder drains.

use core::sync::atomic::{AtomicU32, Ordering};

use norn_abi::{
    Kind,
    arena::{self, CHUNK_FRAMES, CHUNK_MAGIC, CODEC_V2, ChunkHeader, RING, ThreadSlot, state},
    codec,
    lane::Lane,
};

use super::{OPTIONS, PATIENCE, awaiting, control, ring_bell, table};
use crate::{collect, control::was_on, event, hook, intercept::load, sys, thread};

/// Starts recording into a slot whose head is filled in.
///
/// # Safety
/// The head of the slot is filled in, and the slot belongs to the caller.
pub unsafe fn start(slot: *mut ThreadSlot) {
    // SAFETY: the slot belongs to the current thread.
    unsafe {
        let head = &mut (*slot).head;
        head.filled.store(0, Ordering::Relaxed);
        head.taken.store(0, Ordering::Relaxed);
        head.lost.store(0, Ordering::Relaxed);
        head.blocked.store(0, Ordering::Relaxed);
        head.home.store(slot as u64, Ordering::Relaxed);
        head.tid = sys::thread_id();
        if !was_on() {
            (*slot).stop_at.store(u64::MAX, Ordering::Relaxed);
        }
        (*slot).table = (&raw const *table()).cast();
        collect::attach(slot);
        start_chunk(slot, 0, 0);
        (*slot).head.state.store(state::LIVE, Ordering::Release);
    }
    ring_bell();
}

/// Opens chunk `index` with a header that makes the chunk readable without the chunks before it.
///
/// # Safety
/// The slot belongs to the caller, and the recorder has drained the chunk that is overwritten.
unsafe fn start_chunk(slot: *mut ThreadSlot, index: u32, last_seq: u64) {
    // SAFETY: the slot belongs to the caller, and the recorder no longer reads this chunk.
    unsafe {
        let head = &(*slot).head;
        let chunk = &raw mut (*slot).ring[index as usize % RING];
        let depth = (*slot).depth;
        let frames = depth.min(CHUNK_FRAMES);
        (*chunk).header = ChunkHeader {
            magic: CHUNK_MAGIC,
            crc: 0,
            len: 0,
            process: head.process,
            thread: head.thread,
            parent: head.parent,
            child: head.child,
            role: head.role,
            index,
            options: OPTIONS.load(Ordering::Relaxed) & (arena::VALUES | arena::GLOBAL) | CODEC_V2,
            depth: depth as u32,
            frames: frames as u32,
            last_seq,
            tid: head.tid,
            reserved: 0,
        };
        let bytes = (&raw mut (*chunk).bytes).cast::<u8>();
        for i in 0..frames {
            bytes.cast::<usize>().add(i).write((*slot).frames[i].call);
        }
        Lane::start(&raw mut (*slot).lane, bytes.add(frames * 8), chunk.add(1).cast(), last_seq);
    }
}

/// Settles the pending write and ensures that one record fits. Returns false if recording has
/// stopped.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn make_room(slot: *mut ThreadSlot) -> bool {
    // SAFETY: the slot belongs to the current thread.
    unsafe {
        if is_stopped(slot) {
            return false;
        }
        event::end_cancelled_wait(slot);
        (*slot).lane.settle_any();
        !(*slot).lane.full() || next_chunk(slot)
    }
}

/// Assigns a site its slot in the encoder, and names the site's module in the trace if the module
/// is new.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn define(slot: *mut ThreadSlot, pc: usize, kind: Kind) {
    // SAFETY: the slot belongs to the current thread and has room for the record.
    unsafe {
        if !load::knows(pc) {
            load::modules(slot);
        }
        (*slot).lane.define(codec::key(pc, kind));
    }
}

/// Hands the full chunk to the recorder and opens the next one. Waits if the recorder has not
/// drained that one yet.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn next_chunk(slot: *mut ThreadSlot) -> bool {
    // SAFETY: the slot belongs to the current thread.
    unsafe {
        hand_over(slot);
        let filled = (*slot).head.filled.load(Ordering::Relaxed);
        if !wait_for_room(slot, filled) {
            stop(slot);
            return false;
        }
        start_chunk(slot, filled, (*slot).lane.last_seq);
    }
    true
}

/// Whether the recording of a thread has stopped before its end.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn is_stopped(slot: *mut ThreadSlot) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe { (*thread::own(slot)).stopped }
}

/// Stops the recording of a thread. The scheduler of a controlled run still has to see its events: they
/// decide when other threads run, and when the run ends.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn stop(slot: *mut ThreadSlot) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        (*thread::own(slot)).stopped = true;
        (*slot).table = (&raw const *table_of_stopped()).cast();
    }
}

/// The hook table for a thread whose recording has stopped.
pub fn table_of_stopped() -> &'static hook::Table {
    if was_on() { &hook::CONTROL_STOPPED } else { &hook::STOPPED }
}

/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn hand_over(slot: *mut ThreadSlot) {
    // SAFETY: the slot belongs to the current thread.
    unsafe {
        let filled = (*slot).head.filled.load(Ordering::Relaxed);
        let chunk = &raw mut (*slot).ring[filled as usize % RING];
        let start = (&raw const (*chunk).bytes).cast::<u8>();
        (*chunk).header.len = (*slot).lane.cur.offset_from(start) as u32;
        (*slot).head.filled.store(filled + 1, Ordering::Release);
    }
    ring_bell();
}

/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn wait_for_room(slot: *mut ThreadSlot, filled: u32) -> bool {
    // SAFETY: the slot belongs to the current thread.
    let taken = unsafe { &(*slot).head.taken };
    awaiting(|| wait_for_recorder(taken, filled))
}

fn wait_for_recorder(taken: &AtomicU32, filled: u32) -> bool {
    loop {
        if control().stop.load(Ordering::Acquire) != arena::STOP_NO {
            return false;
        }
        let seen = taken.load(Ordering::Acquire);
        if filled.wrapping_sub(seen) < RING as u32 {
            return true;
        }
        sys::futex_wait(taken.as_ptr(), seen, PATIENCE);
        if taken.load(Ordering::Acquire) == seen && !sys::alive(control().recorder) {
            control().stop.store(arena::STOP_RECORDER, Ordering::Release);
        }
    }
}

/// Ends the recording into a slot: the recorder drains the remaining chunks.
///
/// # Safety
/// The slot belongs to the caller, which does not use it afterwards.
pub unsafe fn finish(slot: *mut ThreadSlot) {
    // SAFETY: the slot belongs to the current thread.
    unsafe {
        if !is_stopped(slot) {
            (*slot).lane.settle_any();
            hand_over(slot);
        }
        (*slot).head.state.store(state::DONE, Ordering::Release);
    }
    ring_bell();
}
