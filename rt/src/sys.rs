//! Direct system calls. They use neither `errno` nor a lock of libc, so they are safe in hooks, in
//! signal handlers and in a child after `fork`.

use core::arch::asm;

pub const OPEN: usize = 2;
pub const CLOSE: usize = 3;
pub const FSTAT: usize = 5;
pub const MMAP: usize = 9;
pub const SCHED_YIELD: usize = 24;
pub const GETPID: usize = 39;
pub const KILL: usize = 62;
pub const GETTID: usize = 186;
pub const FUTEX: usize = 202;
pub const WRITE: usize = 1;
pub const EXIT_GROUP: usize = 231;
/// The clock that cannot be set.
pub const MONOTONIC: i32 = 1;

const MADVISE: usize = 28;
const MADV_DONTDUMP: usize = 16;
const FUTEX_WAIT: usize = 0;
const FUTEX_WAKE: usize = 1;
const O_RDWR_CLOEXEC: usize = 0o2 | 0o2_000_000;
const PROT_READ_WRITE: usize = 3;
const MAP_SHARED_NORESERVE: usize = 0x1 | 0x4000;

/// Makes a system call with up to six arguments; an error is returned as `-errno`.
///
/// # Safety
/// The arguments are valid for the system call, and the caller intends its effect on memory.
#[inline(always)]
pub unsafe fn call(number: usize, args: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: guaranteed by the caller; the clobbers are those of the kernel's ABI.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") args[0], in("rsi") args[1], in("rdx") args[2],
            in("r10") args[3], in("r8") args[4], in("r9") args[5],
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    result
}

pub fn process_id() -> u32 {
    // SAFETY: the call has no effect.
    unsafe { call(GETPID, [0; 6]) as u32 }
}

pub fn thread_id() -> u32 {
    // SAFETY: the call has no effect.
    unsafe { call(GETTID, [0; 6]) as u32 }
}

pub fn yield_now() {
    // SAFETY: the call has no effect on memory.
    unsafe { call(SCHED_YIELD, [0; 6]) };
}

/// Whether a process with this id exists.
pub fn alive(pid: u32) -> bool {
    const ESRCH: isize = 3;
    // SAFETY: signal 0 only checks for existence.
    unsafe { call(KILL, [pid as usize, 0, 0, 0, 0, 0]) != -ESRCH }
}

/// Sleeps while `*word == value`, for at most `nanoseconds`; returns true if that time passed.
/// Works across processes, because the futex is not private.
pub fn futex_wait(word: *const u32, value: u32, nanoseconds: u64) -> bool {
    const ETIMEDOUT: isize = 110;
    let time = [nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000];
    let time = &raw const time as usize;
    // SAFETY: the kernel checks the address.
    unsafe { call(FUTEX, [word as usize, FUTEX_WAIT, value as usize, time, 0, 0]) == -ETIMEDOUT }
}

/// Wakes all threads that sleep on `word`.
pub fn futex_wake(word: *const u32) {
    // SAFETY: the kernel checks the address.
    unsafe { call(FUTEX, [word as usize, FUTEX_WAKE, i32::MAX as usize, 0, 0, 0]) };
}

/// Maps `len` bytes of the file at `path` (a C string) as shared memory. Returns null on failure.
///
/// # Safety
/// `path` is a C string.
pub unsafe fn map_file(path: *const u8, len: usize) -> *mut u8 {
    // SAFETY: the caller guarantees that `path` is a C string; the mapping is new memory.
    unsafe {
        let file = call(OPEN, [path as usize, O_RDWR_CLOEXEC, 0, 0, 0, 0]);
        if file < 0 {
            return core::ptr::null_mut();
        }
        let file = file as usize;
        let map = call(MMAP, [0, len, PROT_READ_WRITE, MAP_SHARED_NORESERVE, file, 0]);
        call(CLOSE, [file, 0, 0, 0, 0, 0]);
        if map < 0 {
            return core::ptr::null_mut();
        }
        exclude_from_core_files(map as usize, len);
        map as *mut u8
    }
}

/// Excludes memory from core files, because it is large, mostly empty, and not part of the program.
pub fn exclude_from_core_files(start: usize, len: usize) {
    // SAFETY: has no effect on the content of memory.
    unsafe { call(MADVISE, [start, len, MADV_DONTDUMP, 0, 0, 0]) };
}

/// Writes a message to standard error. Only for what the user must know.
pub fn say(text: &str) {
    // SAFETY: the bytes belong to the slice.
    unsafe { call(WRITE, [2, text.as_ptr() as usize, text.len(), 0, 0, 0]) };
}

/// The bits of an address that are its offset in a page.
pub const PAGE_MASK: usize = 4095;
/// Protection of code while it is changed.
pub const WRITABLE_CODE: usize = 7;
/// Protection of code.
pub const CODE: usize = 5;
/// Protection of data.
pub const DATA: usize = 3;
/// Protection of read-only data.
pub const CONSTANT: usize = 1;

/// Changes the protection of the pages from `start` on; returns whether the kernel allowed it.
pub fn protect(start: usize, len: usize, protection: usize) -> bool {
    const MPROTECT: usize = 10;
    // SAFETY: the caller knows what the pages contain.
    unsafe { call(MPROTECT, [start, len, protection, 0, 0, 0]) == 0 }
}

/// Maps private, zeroed memory.
pub fn map_private(len: usize) -> Option<usize> {
    map_new(len, DATA)
}

/// Maps private memory for code that is still to be written.
pub fn map_code(len: usize) -> Option<usize> {
    map_new(len, WRITABLE_CODE)
}

/// Unmaps memory that [`map_private`] has mapped.
///
/// # Safety
/// Nothing uses the memory any more.
pub unsafe fn unmap(start: usize, len: usize) {
    const MUNMAP: usize = 11;
    // SAFETY: guaranteed by the caller.
    unsafe { call(MUNMAP, [start, len, 0, 0, 0, 0]) };
}

fn map_new(len: usize, protection: usize) -> Option<usize> {
    const PRIVATE_ANONYMOUS_NORESERVE: usize = 0x2 | 0x20 | 0x4000;
    // SAFETY: the kernel chooses an unused address range.
    let map =
        unsafe { call(MMAP, [0, len, protection, PRIVATE_ANONYMOUS_NORESERVE, usize::MAX, 0]) };
    (map > 0).then_some(map as usize)
}

/// Opens a file for reading.
pub fn open(path: &core::ffi::CStr) -> Option<usize> {
    const O_CLOEXEC: usize = 0o2_000_000;
    // SAFETY: the path is a C string.
    let file = unsafe { call(OPEN, [path.as_ptr() as usize, O_CLOEXEC, 0, 0, 0, 0]) };
    usize::try_from(file).ok()
}

/// Reads available bytes; returns 0 at the end or on an error.
pub fn read(file: usize, buffer: &mut [u8]) -> usize {
    // SAFETY: the buffer is borrowed mutably.
    unsafe { read_to(file, buffer.as_mut_ptr(), buffer.len()) }
}

/// Reads available bytes into memory that need not be initialised.
///
/// # Safety
/// `buffer` has room for `len` bytes.
pub unsafe fn read_to(file: usize, buffer: *mut u8, len: usize) -> usize {
    const READ: usize = 0;
    // SAFETY: guaranteed by the caller.
    let count = unsafe { call(READ, [file, buffer as usize, len, 0, 0, 0]) };
    usize::try_from(count).unwrap_or(0)
}

/// Closes a file.
pub fn close(file: usize) {
    // SAFETY: the caller owns the descriptor.
    unsafe { call(CLOSE, [file, 0, 0, 0, 0, 0]) };
}

/// Sends a signal to the current thread.
pub fn signal_self(signal: i32) {
    const TGKILL: usize = 234;
    let (process, thread) = (process_id() as usize, thread_id() as usize);
    // SAFETY: the caller intends the effect of the signal.
    unsafe { call(TGKILL, [process, thread, signal as usize, 0, 0, 0]) };
}

/// The time on a clock, in nanoseconds.
pub fn now(clock: i32) -> u64 {
    const CLOCK_GETTIME: usize = 228;
    let mut time = [0u64; 2];
    // SAFETY: the kernel writes the time.
    unsafe { call(CLOCK_GETTIME, [clock as usize, &raw mut time as usize, 0, 0, 0, 0]) };
    time[0] * 1_000_000_000 + time[1]
}

/// The processor's time-stamp counter, a few billion ticks per second.
pub fn ticks() -> u64 {
    // SAFETY: every x86-64 processor has this instruction.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Processor time of a thread of this process, in nanoseconds; none if the thread does not exist.
pub fn spent(tid: u32) -> Option<u64> {
    const CLOCK_GETTIME: usize = 228;
    const OF_THREAD: i32 = 6;
    let mut time = [0u64; 2];
    let clock = !(tid as i32) << 3 | OF_THREAD;
    // SAFETY: the kernel writes the time.
    let result =
        unsafe { call(CLOCK_GETTIME, [clock as usize, &raw mut time as usize, 0, 0, 0, 0]) };
    (tid != 0 && result == 0).then(|| time[0] * 1_000_000_000 + time[1])
}

/// Sleeps for at most `nanoseconds`.
pub fn nap(nanoseconds: u64) {
    let nobody = 0;
    futex_wait(&raw const nobody, 0, nanoseconds);
}

/// Whether a call on a file will not block: the file is ready for `events`, or is non-blocking.
pub fn is_ready(file: i32, events: i16) -> bool {
    const POLL: usize = 7;
    #[repr(C)]
    struct Poll {
        file: i32,
        events: i16,
        found: i16,
    }
    let mut polled = Poll { file, events, found: 0 };
    // SAFETY: the kernel writes the result.
    let ready = unsafe { call(POLL, [&raw mut polled as usize, 1, 0, 0, 0, 0]) };
    ready != 0 || flags(file) & O_NONBLOCK != 0
}

const FCNTL: usize = 72;
const O_NONBLOCK: isize = 0o4000;

/// The flags of a file; negative if it is not open.
fn flags(file: i32) -> isize {
    const F_GETFL: usize = 3;
    // SAFETY: the call only queries the flags.
    unsafe { call(FCNTL, [file as usize, F_GETFL, 0, 0, 0, 0]) }
}

/// Whether calls on a file do not block.
pub fn is_nonblocking(file: i32) -> bool {
    flags(file) & O_NONBLOCK != 0
}

/// Whether a file is open for writing.
pub fn is_writable(file: i32) -> bool {
    const O_ACCMODE: isize = 3;
    let flags = flags(file);
    flags >= 0 && flags & O_ACCMODE != 0
}

/// Makes calls on a file not block while `f` runs.
pub fn without_blocking<T>(file: i32, f: impl FnOnce() -> T) -> T {
    const F_SETFL: usize = 4;
    let before = flags(file);
    let set = |flags: isize| {
        if before >= 0 && before & O_NONBLOCK == 0 {
            // SAFETY: the flags are the file's own, with or without one bit.
            unsafe { call(FCNTL, [file as usize, F_SETFL, flags as usize, 0, 0, 0]) };
        }
    };
    set(before | O_NONBLOCK);
    let result = f();
    set(before);
    result
}

/// Maximum time that a call on a socket waits, in nanoseconds, if the program has set one.
pub fn time_limit(file: i32, reads: bool) -> Option<u64> {
    const GETSOCKOPT: usize = 55;
    const SOL_SOCKET: usize = 1;
    const SO_RCVTIMEO: usize = 20;
    const SO_SNDTIMEO: usize = 21;
    let name = if reads { SO_RCVTIMEO } else { SO_SNDTIMEO };
    let (mut time, mut size) = ([0u64; 2], size_of::<[u64; 2]>());
    let arguments =
        [file as usize, SOL_SOCKET, name, &raw mut time as usize, &raw mut size as usize, 0];
    // SAFETY: the kernel writes a `timeval`, or reports that the file is not a socket.
    let failed = unsafe { call(GETSOCKOPT, arguments) } != 0;
    let [seconds, microseconds] = time;
    let length = seconds.saturating_mul(1_000_000_000).saturating_add(microseconds * 1000);
    (!failed && length != 0).then_some(length)
}

/// Whether this process has a thread with this id.
pub fn is_thread(tid: u32) -> bool {
    const TGKILL: usize = 234;
    // SAFETY: signal 0 only checks for existence.
    unsafe { call(TGKILL, [process_id() as usize, tid as usize, 0, 0, 0, 0]) == 0 }
}

/// Reserves address space at `start`; pages are allocated when they are first accessed.
///
/// # Safety
/// The caller owns the range if the reservation succeeds.
pub unsafe fn reserve(start: usize, len: usize) -> bool {
    const PRIVATE_ANONYMOUS_NORESERVE_NOREPLACE: usize = 0x2 | 0x20 | 0x4000 | 0x10_0000;
    let flags = PRIVATE_ANONYMOUS_NORESERVE_NOREPLACE;
    // SAFETY: `MAP_FIXED_NOREPLACE` never replaces an existing mapping.
    unsafe { call(MMAP, [start, len, PROT_READ_WRITE, flags, usize::MAX, 0]) == start as isize }
}

/// Number of processors that this process may use.
pub fn processors() -> u32 {
    const SCHED_GETAFFINITY: usize = 204;
    let mut mask = [0u64; 16];
    // SAFETY: the kernel writes the mask.
    unsafe { call(SCHED_GETAFFINITY, [0, 128, &raw mut mask as usize, 0, 0, 0]) };
    mask.iter().map(|it| it.count_ones()).sum()
}

/// Sends a signal to the current thread, with the information that the kernel once gave with it.
pub fn signal_self_with(signal: i32, info: &[u64; 16]) {
    signal_thread(thread_id(), signal, &raw const *info as usize);
}

/// Sends a signal to a thread of this process, with the information at `info`.
pub fn signal_thread(tid: u32, signal: i32, info: usize) {
    const RT_TGSIGQUEUEINFO: usize = 297;
    let process = process_id() as usize;
    // SAFETY: the information is as large as the kernel's.
    unsafe { call(RT_TGSIGQUEUEINFO, [process, tid as usize, signal as usize, info, 0, 0]) };
}

/// Sends a signal to this process, with the information at `info`.
pub fn signal_process(signal: i32, info: usize) {
    const RT_SIGQUEUEINFO: usize = 129;
    // SAFETY: the information is as large as the kernel's.
    unsafe { call(RT_SIGQUEUEINFO, [process_id() as usize, signal as usize, info, 0, 0, 0]) };
}

/// The signals that are pending for the current thread or for the process, and blocked.
pub fn pending_signals() -> u64 {
    const RT_SIGPENDING: usize = 127;
    let mut set = 0u64;
    // SAFETY: the kernel writes the set.
    unsafe { call(RT_SIGPENDING, [&raw mut set as usize, size_of::<u64>(), 0, 0, 0, 0]) };
    set
}

const RT_SIGPROCMASK: usize = 14;

/// The signals that the current thread blocks.
pub fn signal_mask() -> u64 {
    let mut mask = 0u64;
    // SAFETY: the kernel writes the mask.
    unsafe { call(RT_SIGPROCMASK, [0, 0, &raw mut mask as usize, size_of::<u64>(), 0, 0]) };
    mask
}

/// Sets the signals that the current thread blocks. Handlers of signals that were pending and are not
/// blocked any more run before this returns.
pub fn set_signal_mask(mask: u64) {
    const SET: usize = 2;
    let mask = &raw const mask as usize;
    // SAFETY: the kernel reads the mask.
    unsafe { call(RT_SIGPROCMASK, [SET, mask, 0, size_of::<u64>(), 0, 0]) };
}

/// Receives one of the signals of a set, if any is pending. Returns it, or a negative number.
///
/// # Safety
/// `info` is null or points to a `siginfo_t`.
pub unsafe fn take_signal(set: u64, info: usize) -> isize {
    const RT_SIGTIMEDWAIT: usize = 128;
    let now = [0u64; 2];
    let (set, now) = (&raw const set as usize, &raw const now as usize);
    // SAFETY: guaranteed by the caller.
    unsafe { call(RT_SIGTIMEDWAIT, [set, info, now, size_of::<u64>(), 0, 0]) }
}
