//! The timers of the program that send signals. In a controlled run they run on virtual time: the
//! scheduler decides when they expire, and the runtime then sends their signals.
//!
//! Who sets a timer does so before the handler of its signal runs.

use core::{
    ffi::c_int,
    sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering},
};

use norn_abi::arena::ThreadSlot;

use super::{interpose, io::controlled, timer_file, timer_thread};
use crate::{
    channel::{Sending, signal::of_signal},
    control::{self, NEVER, Scheduler, TIMERS, TimerSetting},
    real, signal as gate, sys, thread, thread_id,
};

const SIGALRM: c_int = 14;
const SECOND: u64 = 1_000_000_000;
const MICROSECOND: u64 = 1_000;
const EAGAIN: c_int = 11;
const EINVAL: c_int = 22;
/// The timers of `setitimer` come first: of real time, of the process's own time, of both.
const SIGNALS: [c_int; 3] = [SIGALRM, 26, 27];
/// What distinguishes the timers that the runtime makes from those of the kernel.
const OURS: usize = 0x4e6f_726e_0000;

/// What a timer does when it expires.
pub(super) struct Timer {
    /// One of the constants below.
    pub(super) kind: AtomicU32,
    signal: AtomicI32,
    /// The number of the thread that gets the signal.
    thread: AtomicU32,
    /// The value that the signal, or the function, gets; for a file its descriptor.
    pub(super) value: AtomicUsize,
    /// The function that is called, in a thread of its own.
    pub(super) function: AtomicUsize,
    /// Number of expiries.
    pub(super) expiries: AtomicU32,
    /// By which clock absolute times are given.
    clock: AtomicI32,
}

pub(super) const UNUSED: u32 = 0;
const NOTHING: u32 = 1;
const TO_PROCESS: u32 = 2;
const TO_THREAD: u32 = 3;
pub(super) const FILE: u32 = 4;
pub(super) const CALLS: u32 = 5;

pub(super) static TABLE: [Timer; TIMERS] = [const {
    Timer {
        kind: AtomicU32::new(UNUSED),
        signal: AtomicI32::new(0),
        thread: AtomicU32::new(0),
        value: AtomicUsize::new(0),
        function: AtomicUsize::new(0),
        expiries: AtomicU32::new(0),
        clock: AtomicI32::new(0),
    }
}; TIMERS];

/// Takes an entry for a timer.
pub(super) fn take(kind: u32) -> Option<usize> {
    let free = |it: &usize| {
        let (unused, order) = (UNUSED, Ordering::Relaxed);
        TABLE[*it].kind.compare_exchange(unused, kind, order, order).is_ok()
    };
    (SIGNALS.len()..TIMERS).find(free)
}

/// A timer has expired.
///
/// # Safety
/// The caller holds the scheduler's lock.
pub unsafe fn expires(scheduler: &mut Scheduler, number: usize) {
    let timer = &TABLE[number % TIMERS];
    let signal = timer.signal.load(Ordering::Relaxed);
    let info = information(timer, signal, number);
    let info = &raw const info as usize;
    timer.expiries.fetch_add(1, Ordering::Relaxed);
    match timer.kind.load(Ordering::Relaxed) {
        TO_PROCESS => {
            sys::signal_process(signal, info);
            gate::wake_awaiting(scheduler);
            gate::assign(scheduler, signal, true);
        }
        TO_THREAD => {
            let number = timer.thread.load(Ordering::Relaxed);
            // SAFETY: the slots of living tasks are valid.
            let slot = control::slots(scheduler).find(|it| unsafe { (**it).head.thread == number });
            if let Some(slot) = slot {
                // SAFETY: as above.
                unsafe {
                    sys::signal_thread((*slot).head.tid, signal, info);
                    gate::wake_awaiting(scheduler);
                    gate::assign_to(scheduler, slot, signal);
                }
            }
        }
        FILE => timer_file::expires(scheduler, timer.value.load(Ordering::Relaxed) as c_int),
        CALLS => timer_thread::wake(scheduler, number),
        _ => {}
    }
}

/// The `siginfo_t` of a timer's signal.
fn information(timer: &Timer, signal: c_int, number: usize) -> [u64; 16] {
    // The kernel lets only the first thread claim that a signal comes from the kernel itself.
    const BY_TIMER: u64 = 0xffff_fffe;
    let mut info = [0; 16];
    (info[0], info[1]) = (signal as u64, BY_TIMER);
    if number >= SIGNALS.len() {
        (info[2], info[3]) = (number as u64, timer.value.load(Ordering::Relaxed) as u64);
    }
    info
}

/// Sets a timer, and records that. Returns its earlier setting.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and the run is controlled.
unsafe fn set(
    slot: *mut ThreadSlot,
    number: usize,
    (value, interval): (u64, u64),
    pc: usize,
) -> TimerSetting {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let sending = Sending::new(slot, channel(number), pc);
        let armed = value != 0;
        let timer = &TABLE[number % TIMERS];
        if armed && matches!(timer.kind.load(Ordering::Relaxed), TO_PROCESS | TO_THREAD) {
            gate::note_sent(timer.signal.load(Ordering::Relaxed));
        }
        let deadline = if armed { control::time::now().saturating_add(value) } else { NEVER };
        let setting = TimerSetting { deadline, interval, file: false };
        let before = control::time::set_timer(number, setting);
        sending.done(armed.then_some(1), 0);
        before
    }
}

/// Whether the expiry of a timer would begin a handler of the program.
pub fn begins_handler(number: usize) -> bool {
    let timer = &TABLE[number % TIMERS];
    let sends = matches!(timer.kind.load(Ordering::Relaxed), TO_PROCESS | TO_THREAD);
    sends && gate::is_gated(timer.signal.load(Ordering::Relaxed))
}

/// The channel of a timer: that of its signal, or its own.
pub(super) fn channel(number: usize) -> u64 {
    let timer = &TABLE[number % TIMERS];
    match timer.kind.load(Ordering::Relaxed) {
        CALLS => timer_thread::channel(number),
        _ => of_signal(timer.signal.load(Ordering::Relaxed), None),
    }
}

/// How long a timer still runs, and its interval.
fn rest(setting: TimerSetting) -> (u64, u64) {
    if setting.deadline == NEVER {
        return (0, 0);
    }
    (setting.deadline.saturating_sub(control::time::now()).max(1), setting.interval)
}

/// Reads an `itimerval` or `itimerspec`; `unit` is the unit of its smaller words, in nanoseconds.
///
/// # Safety
/// `times` points to such a structure.
pub(super) unsafe fn times(times: usize, unit: u64) -> (u64, u64) {
    // SAFETY: guaranteed by the caller.
    let [interval, rest, value, part] = unsafe { *(times as *const [u64; 4]) };
    let sum = |seconds: u64, part: u64| seconds.saturating_mul(SECOND).saturating_add(part * unit);
    (sum(value, part), sum(interval, rest))
}

/// Writes an `itimerval` or `itimerspec`.
///
/// # Safety
/// `out` is null or points to such a structure.
pub(super) unsafe fn put(out: usize, (value, interval): (u64, u64), unit: u64) {
    if out != 0 {
        let split = |it: u64| [it / SECOND, it % SECOND / unit];
        let ([interval, rest], [value, part]) = (split(interval), split(value));
        // SAFETY: guaranteed by the caller.
        unsafe { *(out as *mut [u64; 4]) = [interval, rest, value, part] };
    }
}

/// Prepares one of the timers of `setitimer`.
fn interval_timer(which: c_int) -> Option<usize> {
    let number = usize::try_from(which).ok()?;
    let signal = *SIGNALS.get(number)?;
    TABLE[number].signal.store(signal, Ordering::Relaxed);
    TABLE[number].kind.store(TO_PROCESS, Ordering::Relaxed);
    Some(number)
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn setitimer(which: c_int, new: usize, old: usize, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let timer = interval_timer(which).filter(|_| new != 0);
        let (Some(slot), Some(number)) = (controlled(), timer) else {
            return sending(timer, pc, || real::setitimer()(which, new, old));
        };
        let before = set(slot, number, times(new, MICROSECOND), pc);
        put(old, rest(before), MICROSECOND);
        0
    }
}

/// Records that a timer is set by the kernel.
///
/// # Safety
/// `call` sets the timer.
unsafe fn sending<T>(timer: Option<usize>, pc: usize, call: impl FnOnce() -> T) -> T {
    let (Some(slot), Some(number)) = (thread::recorded(), timer) else { return call() };
    // SAFETY: the slot is the current thread's.
    unsafe {
        let sending = Sending::new(slot, channel(number), pc);
        let result = call();
        sending.done(Some(1), 0);
        result
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn getitimer(which: c_int, out: usize, _pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (Some(_), Some(number)) = (controlled(), interval_timer(which)) else {
            return real::getitimer()(which, out);
        };
        put(out, rest(control::time::timer(number)), MICROSECOND);
        0
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn alarm(seconds: u32, pc: usize) -> u32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let timer = interval_timer(0);
        let (Some(slot), Some(number)) = (controlled(), timer) else {
            return sending(timer, pc, || real::alarm()(seconds));
        };
        let before = set(slot, number, (u64::from(seconds) * SECOND, 0), pc);
        rest(before).0.div_ceil(SECOND) as u32
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn ualarm(time: u32, interval: u32, pc: usize) -> u32 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let timer = interval_timer(0);
        let (Some(slot), Some(number)) = (controlled(), timer) else {
            return sending(timer, pc, || real::ualarm()(time, interval));
        };
        let times = (u64::from(time) * MICROSECOND, u64::from(interval) * MICROSECOND);
        (rest(set(slot, number, times, pc)).0 / MICROSECOND) as u32
    }
}

/// libc's `struct sigevent`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Notice {
    value: usize,
    signal: c_int,
    how: c_int,
    function: usize,
    attributes: usize,
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn timer_create(
    clock: c_int,
    notice: usize,
    out: usize,
    pc: usize,
) -> c_int {
    const BY_SIGNAL: c_int = 0;
    const BY_THREAD: c_int = 2;
    const TO_THREAD_ID: c_int = 4;
    // SAFETY: guaranteed by the caller.
    unsafe {
        let default = Notice { value: 0, signal: SIGALRM, how: 0, function: 0, attributes: 0 };
        let given = if notice == 0 { default } else { *(notice as *const Notice) };
        let calls = given.how == BY_THREAD && thread::recorded().is_some();
        if controlled().is_none() && !calls {
            return real::timer_create()(clock, notice, out);
        }
        let kind = match given.how {
            BY_SIGNAL => TO_PROCESS,
            BY_THREAD => CALLS,
            TO_THREAD_ID => TO_THREAD,
            _ => NOTHING,
        };
        let Some(number) = take(kind) else { return fail(EAGAIN) };
        let timer = &TABLE[number];
        let value = if notice == 0 { OURS + number } else { given.value };
        timer.value.store(value, Ordering::Relaxed);
        timer.signal.store(given.signal, Ordering::Relaxed);
        timer.function.store(given.function, Ordering::Relaxed);
        timer.expiries.store(0, Ordering::Relaxed);
        timer.clock.store(clock, Ordering::Relaxed);
        if kind == TO_THREAD {
            let thread = control::number_of(thread_id::to_kernel(given.function as c_int) as u32);
            timer.thread.store(thread.unwrap_or(u32::MAX), Ordering::Relaxed);
        }
        if kind == CALLS && timer_thread::start(number, pc) != 0 {
            timer.kind.store(UNUSED, Ordering::Relaxed);
            return fail(EAGAIN);
        }
        *(out as *mut usize) = OURS + number;
        0
    }
}

/// The number of a timer that the runtime has made.
fn ours(id: usize) -> Option<usize> {
    let number = id.wrapping_sub(OURS);
    (number < TIMERS && TABLE[number].kind.load(Ordering::Relaxed) != UNUSED).then_some(number)
}

fn fail(error: c_int) -> c_int {
    // SAFETY: the address is always valid on a thread of libc.
    unsafe { *real::__errno_location() = error };
    -1
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn timer_settime(
    id: usize,
    flags: c_int,
    new: usize,
    old: usize,
    pc: usize,
) -> c_int {
    const ABSOLUTE: c_int = 1;
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(number) = ours(id) else { return real::timer_settime()(id, flags, new, old) };
        let Some(slot) = thread::recorded().filter(|_| new != 0) else { return fail(EINVAL) };
        let (mut value, interval) = times(new, 1);
        let clock = TABLE[number].clock.load(Ordering::Relaxed);
        if flags & ABSOLUTE != 0 && value != 0 {
            value = value.saturating_sub(timer_thread::clock(clock)).max(1);
        }
        if !control::is_on() {
            timer_thread::set(slot, number, (value, interval), old, pc);
            return 0;
        }
        TABLE[number].expiries.store(0, Ordering::Relaxed);
        put(old, rest(set(slot, number, (value, interval), pc)), 1);
        0
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn timer_gettime(id: usize, out: usize, _pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(number) = ours(id) else { return real::timer_gettime()(id, out) };
        put(out, if control::is_on() { rest(control::time::timer(number)) } else { (0, 0) }, 1);
        0
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn timer_getoverrun(id: usize, _pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    if ours(id).is_some() { 0 } else { unsafe { real::timer_getoverrun()(id) } }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn timer_delete(id: usize, _pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(number) = ours(id) else { return real::timer_delete()(id) };
        let off = TimerSetting { deadline: NEVER, interval: 0, file: false };
        control::time::set_timer(number, off);
        if TABLE[number].kind.load(Ordering::Relaxed) == CALLS {
            timer_thread::end(number);
        } else {
            TABLE[number].kind.store(UNUSED, Ordering::Relaxed);
        }
        0
    }
}

interpose! {
    alarm(1) => alarm;
    ualarm(2) => ualarm;
    getitimer(2) => getitimer;
    setitimer(3) => setitimer;
    timer_create(3) => timer_create;
    timer_settime(4) => timer_settime;
    timer_gettime(2) => timer_gettime;
    timer_getoverrun(1) => timer_getoverrun;
    timer_delete(1) => timer_delete;
}
