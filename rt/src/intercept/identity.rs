//! The ids of threads and processes, and the functions that take one. See [`thread_id`].

use core::ffi::{c_int, c_long, c_uint};

use super::{futex, interpose_early};
use crate::{real, sys, thread_id};

/// # Safety
/// None.
unsafe extern "C" fn gettid(_pc: usize) -> c_int {
    thread_id::current().unwrap_or_else(|| {
        let id = sys::thread_id();
        if id == sys::process_id() {
            thread_id::note_process_id();
        }
        id as c_int
    })
}

/// # Safety
/// None.
unsafe extern "C" fn getpid(_pc: usize) -> c_int {
    thread_id::note_process_id();
    sys::process_id() as c_int
}

/// # Safety
/// None.
unsafe extern "C" fn getppid(_pc: usize) -> c_int {
    thread_id::note_process_id();
    thread_id::parent()
}

/// Defines functions that take the id of a thread or process as the first argument.
macro_rules! takes_id {
    ($($name:ident($($arg:ident: $type:ty),*);)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        unsafe extern "C-unwind" fn $name(id: c_int, $($arg: $type,)* _pc: usize) -> c_int {
            // SAFETY: guaranteed by the caller.
            unsafe { real::$name()(thread_id::to_kernel(id), $($arg),*) }
        }
    )* };
}

takes_id! {
    sched_setaffinity(size: usize, mask: usize);
    sched_getaffinity(size: usize, mask: usize);
    sched_setscheduler(policy: c_int, parameters: usize);
    sched_getscheduler();
    sched_setparam(parameters: usize);
    sched_getparam(parameters: usize);
    sched_rr_get_interval(time: usize);
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn getpriority(which: c_int, id: c_uint, _pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { real::getpriority()(which, thread_id::to_kernel(id as c_int) as c_uint) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn setpriority(
    which: c_int,
    id: c_uint,
    priority: c_int,
    _pc: usize,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { real::setpriority()(which, thread_id::to_kernel(id as c_int) as c_uint, priority) }
}

const GETPID: usize = 39;
const GETPPID: usize = 110;
const GETTID: usize = 186;

/// The system calls that take the id of a thread, and which of their arguments it is.
const TAKES_ID: [(usize, usize); 18] = [
    (140, 1), // getpriority
    (141, 1), // setpriority
    (142, 0), // sched_setparam
    (143, 0), // sched_getparam
    (144, 0), // sched_setscheduler
    (145, 0), // sched_getscheduler
    (148, 0), // sched_rr_get_interval
    (203, 0), // sched_setaffinity
    (204, 0), // sched_getaffinity
    (251, 1), // ioprio_set
    (252, 1), // ioprio_get
    (274, 0), // get_robust_list
    (297, 1), // rt_tgsigqueueinfo
    (298, 1), // perf_event_open
    (302, 0), // prlimit64
    (314, 0), // sched_setattr
    (315, 0), // sched_getattr
    (434, 0), // pidfd_open
];

/// The function that replaces a system call which returns or takes an id.
pub fn replacement(number: usize) -> Option<usize> {
    if matches!(number, GETPID | GETPPID | GETTID) {
        return Some(asks as *const () as usize);
    }
    TAKES_ID.iter().any(|it| it.0 == number).then_some(takes as *const () as usize)
}

/// # Safety
/// Called in place of `syscall`, with a number of a call that returns an id.
unsafe extern "C" fn asks(number: usize) -> c_long {
    // SAFETY: the functions have no preconditions.
    c_long::from(unsafe {
        match number {
            GETPID => getpid(0),
            GETPPID => getppid(0),
            _ => gettid(0),
        }
    })
}

/// # Safety
/// Called in place of `syscall`, with a number of [`TAKES_ID`] and the arguments of that call.
unsafe extern "C-unwind" fn takes(
    number: usize,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    let mut arguments = [a, b, c, d, e, f];
    let place = TAKES_ID.iter().find(|it| it.0 == number).map_or(0, |it| it.1);
    if let Some(id) = arguments.get_mut(place) {
        // The id is an `int`; -1 stays what it is.
        *id = thread_id::to_kernel(*id as c_int) as usize;
    }
    // SAFETY: guaranteed by the caller.
    unsafe { futex::result(sys::call(number, arguments) as c_long) }
}

interpose_early! {
    gettid(0) => gettid;
    getpid(0) => getpid;
    getppid(0) => getppid;
    sched_setaffinity(3) => sched_setaffinity;
    sched_getaffinity(3) => sched_getaffinity;
    sched_setscheduler(3) => sched_setscheduler;
    sched_getscheduler(1) => sched_getscheduler;
    sched_setparam(2) => sched_setparam;
    sched_getparam(2) => sched_getparam;
    sched_rr_get_interval(2) => sched_rr_get_interval;
    getpriority(2) => getpriority;
    setpriority(3) => setpriority;
}
