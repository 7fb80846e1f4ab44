//! The results of calls that wait for several descriptors: `poll`, `select`.

use core::ffi::c_int;

use super::{Memory, is_on, is_outside};

/// `struct pollfd`, a descriptor as `poll` takes it.
#[repr(C)]
struct Polled {
    file: i32,
    events: u32,
}

/// Whether one of the descriptors leads outside.
///
/// # Safety
/// `files` points to `count` values of `struct pollfd`.
pub unsafe fn any_polled(files: usize, count: usize) -> bool {
    // SAFETY: guaranteed by the caller.
    is_on() && (0..count).any(|i| unsafe { is_outside((*(files as *const Polled).add(i)).file) })
}

/// Where `poll` writes: the whole list, because results and requests are interleaved in it.
pub fn polled(files: usize, count: usize) -> impl Fn(isize) -> Memory {
    let size = count * size_of::<Polled>();
    move |result| if result < 0 { Memory::NONE } else { Memory::buffer(files, size as isize) }
}

/// Whether one of the descriptors leads outside.
///
/// # Safety
/// Each of the sets is null or points to an `fd_set`.
pub unsafe fn any_selected(most: c_int, sets: [usize; 3]) -> bool {
    // SAFETY: guaranteed by the caller.
    let has = |set: usize, file: usize| unsafe {
        set != 0 && *(set as *const u64).add(file / 64) >> (file % 64) & 1 != 0
    };
    let files = 0..usize::try_from(most).unwrap_or(0);
    is_on()
        && files.into_iter().any(|it| sets.iter().any(|&set| has(set, it)) && is_outside(it as i32))
}

/// Where `select` writes.
pub fn selected(most: c_int, [read, write, except]: [usize; 3]) -> impl Fn(isize) -> Memory {
    let size = usize::try_from(most).unwrap_or(0).div_ceil(64) * 8;
    let memory = move || Memory::pieces([(read, size), (write, size), (except, size)]);
    move |result| if result < 0 { Memory::NONE } else { memory() }
}
