//! The annotations that a program makes with the macros of `norn.h`.

use norn_abi::Kind;

use crate::{arena, event, intercept::interpose, number, thread};

/// The static object that the macro creates for each place where it is used.
#[repr(C)]
struct Name {
    text: *const u8,
    /// One more than the number of the last process whose trace contains the name.
    process: u32,
}

/// # Safety
/// `name` is the static object of a macro of `norn.h` and contains a C string.
unsafe extern "C" fn mark(name: *mut Name, object: usize, pc: usize) {
    let Some(slot) = thread::recorded() else { return };
    // SAFETY: the slot is the current thread's; the macro's text is a C string.
    unsafe {
        let process = arena::process_number() + 1;
        if (*name).process != process && arena::make_room(slot) {
            let text = core::slice::from_raw_parts((*name).text, length((*name).text));
            (*slot).lane.text(Kind::Name, (*name).text as usize, number::next(slot), 0, text);
            (*name).process = process;
        }
        event::put(slot, Kind::Mark, pc, object, &[(*name).text as u64]);
    }
}

/// The length of a C string. It does not call `strlen`, which the runtime intercepts.
///
/// # Safety
/// `text` is a C string.
unsafe fn length(text: *const u8) -> usize {
    let mut len = 0;
    // SAFETY: the text ends with a zero byte.
    while unsafe { text.add(len).read_volatile() } != 0 {
        len += 1;
    }
    len
}

/// # Safety
/// The current thread is not in the middle of recording another event.
unsafe extern "C" fn region_begins(pc: usize) {
    if let Some(slot) = thread::recorded() {
        // SAFETY: the slot is the current thread's.
        unsafe { event::put(slot, Kind::RegionBegin, pc, 0, &[]) };
    }
}

/// # Safety
/// The current thread is not in the middle of recording another event.
unsafe extern "C" fn region_ends(pc: usize) {
    if let Some(slot) = thread::recorded() {
        // SAFETY: the slot is the current thread's.
        unsafe { event::put(slot, Kind::RegionEnd, pc, 0, &[]) };
    }
}

interpose! {
    norn_event(2) => mark;
    norn_region_begin(0) => region_begins;
    norn_region_end(0) => region_ends;
}
