//! What calls that wait for several files have found ready.

use core::{ffi::c_int, sync::atomic::Ordering};

use norn_abi::{Kind, arena::ThreadSlot, receipt};

use super::{
    identity::{Tag, Unit, ends, key},
    table,
};
use crate::{event, input::descriptor, real, thread};

const IN: u32 = 0x1 | 0x2 | 0x40;
const HANG_UP: u32 = 0x10 | 0x2000;
/// Several files are watched with the same data.
const SEVERAL: u64 = u64::MAX;

/// Makes a call that waits for files, and records what `found` reports as ready.
///
/// # Safety
/// `found` reports descriptors with what `poll` says of them.
pub unsafe fn wait(
    pc: usize,
    call: impl FnOnce() -> c_int,
    found: impl FnOnce(c_int, &mut dyn FnMut(c_int, u32)),
) -> c_int {
    let Some(slot) = thread::recorded() else { return call() };
    // SAFETY: the slot is the current thread's.
    unsafe {
        super::before(slot, Kind::Ready, pc, 0);
        let result = call();
        let error = if result < 0 { real::errno() } else { 0 };
        let mut any = false;
        if result > 0 {
            found(result, &mut |file, events| any |= is_noted(slot, file, events, pc));
        }
        if !any {
            event::note(slot, Kind::NotReady, pc, error as usize, &[]);
        }
        result
    }
}

/// Records that a file is ready to be read.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn is_noted(slot: *mut ThreadSlot, file: c_int, events: u32, pc: usize) -> bool {
    let how = match () {
        () if events & IN != 0 => receipt::NEXT,
        () if events & HANG_UP != 0 => receipt::END,
        () => return false,
    };
    let Some(ends) = ends(file) else { return false };
    let how = if matches!(ends.unit, Unit::State | Unit::Signals) { receipt::LATEST } else { how };
    // SAFETY: guaranteed by the caller.
    unsafe { event::note(slot, Kind::Ready, pc, ends.input as usize, &[how]) };
    true
}

/// `struct pollfd`, a descriptor as `poll` takes it.
#[repr(C)]
struct Polled {
    file: i32,
    events: i16,
    found: i16,
}

/// The descriptors that are given to `poll`. Negative ones are ignored by it, too.
///
/// # Safety
/// `files` points to `count` values of `struct pollfd`, as long as the result is used.
pub unsafe fn files(files: usize, count: usize) -> impl Iterator<Item = c_int> + Clone {
    // SAFETY: guaranteed by the caller.
    (0..count).map(move |at| unsafe { (*(files as *const Polled).add(at)).file })
}

/// The descriptors in the sets that are given to `select`.
///
/// # Safety
/// Each of the sets is null or points to an `fd_set`, as long as the result is used.
pub unsafe fn members(most: c_int, sets: [usize; 3]) -> impl Iterator<Item = c_int> + Clone {
    let has = move |file: &c_int, set: usize| {
        let (word, bit) = (*file as usize / 64, *file as usize % 64);
        // SAFETY: guaranteed by the caller.
        set != 0 && unsafe { *(set as *const u64).add(word) } >> bit & 1 != 0
    };
    (0..most).filter(move |file| sets.iter().any(|set| has(file, *set)))
}

/// Reports what `poll` found.
///
/// # Safety
/// `files` points to `count` values of `struct pollfd`.
pub unsafe fn polled(files: usize, count: usize, each: &mut dyn FnMut(c_int, u32)) {
    for at in 0..count {
        // SAFETY: guaranteed by the caller.
        let polled = unsafe { &*(files as *const Polled).add(at) };
        if polled.found != 0 {
            each(polled.file, u32::from(polled.found as u16));
        }
    }
}

/// Reports what `select` found ready to be read.
///
/// # Safety
/// `set` is null or points to an `fd_set`.
pub unsafe fn selected(most: c_int, set: usize, each: &mut dyn FnMut(c_int, u32)) {
    for file in 0..if set == 0 { 0 } else { most } {
        let (word, bit) = (file as usize / 64, file as usize % 64);
        // SAFETY: guaranteed by the caller.
        if unsafe { *(set as *const u64).add(word) } >> bit & 1 != 0 {
            each(file, IN);
        }
    }
}

/// `struct epoll_event`.
#[repr(C, packed)]
struct EpollEvent {
    events: u32,
    data: u64,
}

/// Reports what `epoll_wait` found.
///
/// # Safety
/// `events` points to `count` values of `struct epoll_event`.
pub unsafe fn watched(epoll: c_int, events: usize, count: c_int, each: &mut dyn FnMut(c_int, u32)) {
    for at in 0..count as usize {
        // SAFETY: guaranteed by the caller.
        let EpollEvent { events, data } =
            unsafe { (events as *const EpollEvent).add(at).read_unaligned() };
        match table::get(key(Tag::Watched, epoll as u64, data)) {
            0 | SEVERAL => {}
            file => each(file as c_int - 1, events),
        }
    }
}

/// Remembers which file an epoll instance watches, by the data that it reports. Files that are watched
/// with the same data cannot be told apart.
///
/// # Safety
/// `event` is null or points to a `struct epoll_event`.
pub unsafe fn watch(epoll: c_int, removed: bool, file: c_int, event: usize) {
    let by_file = table::entry(key(Tag::WatchedData, epoll as u64, file as u64));
    if removed {
        let data = by_file.swap(0, Ordering::AcqRel).wrapping_sub(1);
        let known = table::entry(key(Tag::Watched, epoll as u64, data));
        let this = file as u64 + 1;
        let _ = known.compare_exchange(this, 0, Ordering::AcqRel, Ordering::Relaxed);
        return;
    }
    if event == 0 {
        return;
    }
    // SAFETY: guaranteed by the caller.
    let data = unsafe { (event as *const EpollEvent).read_unaligned() }.data;
    by_file.store(data.wrapping_add(1), Ordering::Release);
    let known = table::entry(key(Tag::Watched, epoll as u64, data));
    let before = known.load(Ordering::Acquire);
    let same = before == 0 || before == file as u64 + 1;
    let several = !same && (before == SEVERAL || descriptor::is_open(before as i32 - 1));
    known.store(if several { SEVERAL } else { file as u64 + 1 }, Ordering::Release);
}
