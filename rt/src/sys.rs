//! System calls made directly: they touch neither `errno` nor a lock of libc, so they are safe in
//! hooks, in signal handlers and in a child after `fork`.

use core::arch::asm;

pub const OPEN: usize = 2;
pub const CLOSE: usize = 3;
const FSTAT: usize = 5;
pub const MMAP: usize = 9;
pub const SCHED_YIELD: usize = 24;
pub const GETPID: usize = 39;
pub const KILL: usize = 62;
pub const GETTID: usize = 186;
pub const FUTEX: usize = 202;
pub const WRITE: usize = 1;
pub const EXIT_GROUP: usize = 231;
/// The clock that nobody sets.
pub const MONOTONIC: i32 = 1;

const MADVISE: usize = 28;
const MADV_DONTDUMP: usize = 16;
const FUTEX_WAIT: usize = 0;
const FUTEX_WAKE: usize = 1;
const O_RDWR_CLOEXEC: usize = 0o2 | 0o2_000_000;
const PROT_READ_WRITE: usize = 3;
const MAP_SHARED_NORESERVE: usize = 0x1 | 0x4000;

/// Makes a system call with up to six arguments; errors come back as `-errno`.
///
/// # Safety
/// The arguments are good for the system call, and what it does to memory is the caller's wish.
#[inline(always)]
pub unsafe fn call(number: usize, args: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the caller knows what the call does; the clobbers are those of the kernel's ABI.
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
    // SAFETY: has no effect.
    unsafe { call(GETPID, [0; 6]) as u32 }
}

pub fn thread_id() -> u32 {
    // SAFETY: has no effect.
    unsafe { call(GETTID, [0; 6]) as u32 }
}

pub fn yield_now() {
    // SAFETY: has no effect on memory.
    unsafe { call(SCHED_YIELD, [0; 6]) };
}

/// Whether there is a process with this id.
pub fn alive(pid: u32) -> bool {
    const ESRCH: isize = 3;
    // SAFETY: signal 0 is only a question.
    unsafe { call(KILL, [pid as usize, 0, 0, 0, 0, 0]) != -ESRCH }
}

/// Sleeps while `*word == value`, for `nanoseconds` at most; true if it was for so long. Works
/// across processes.
pub fn futex_wait(word: *const u32, value: u32, nanoseconds: u64) -> bool {
    const ETIMEDOUT: isize = 110;
    let time = [nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000];
    let time = &raw const time as usize;
    // SAFETY: the kernel checks the address.
    unsafe { call(FUTEX, [word as usize, FUTEX_WAIT, value as usize, time, 0, 0]) == -ETIMEDOUT }
}

/// Wakes all who sleep on `word`.
pub fn futex_wake(word: *const u32) {
    // SAFETY: the kernel checks the address.
    unsafe { call(FUTEX, [word as usize, FUTEX_WAKE, i32::MAX as usize, 0, 0, 0]) };
}

/// Maps `len` bytes of the file at `path` (which ends in a NUL), shared. Null if it cannot.
///
/// # Safety
/// `path` is a C string.
pub unsafe fn map_file(path: *const u8, len: usize) -> *mut u8 {
    // SAFETY: `path` is a C string by the caller's word; the mapping is new memory.
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
        // Not into core files: it is large, mostly empty, and not the program's.
        call(MADVISE, [map as usize, len, MADV_DONTDUMP, 0, 0, 0]);
        map as *mut u8
    }
}

/// Says something on standard error. Only for what a person must know.
pub fn say(text: &str) {
    // SAFETY: writes bytes that are there.
    unsafe { call(WRITE, [2, text.as_ptr() as usize, text.len(), 0, 0, 0]) };
}

/// The bits of an address inside of a page.
pub const PAGE_MASK: usize = 4095;
/// Protection of code while it is changed.
pub const WRITABLE_CODE: usize = 7;
/// Protection of code.
pub const CODE: usize = 5;
/// Protection of data.
pub const DATA: usize = 3;
/// Protection of what is not to be changed.
pub const CONSTANT: usize = 1;

/// Changes the protection of the pages from `start` on; whether that is allowed.
pub fn protect(start: usize, len: usize, protection: usize) -> bool {
    const MPROTECT: usize = 10;
    // SAFETY: who asks knows what the pages are.
    unsafe { call(MPROTECT, [start, len, protection, 0, 0, 0]) == 0 }
}

/// New memory of this process alone, all zero.
pub fn map_private(len: usize) -> Option<usize> {
    map_new(len, DATA)
}

/// The same for code that is still to be written.
pub fn map_code(len: usize) -> Option<usize> {
    map_new(len, WRITABLE_CODE)
}

fn map_new(len: usize, protection: usize) -> Option<usize> {
    const PRIVATE_ANONYMOUS_NORESERVE: usize = 0x2 | 0x20 | 0x4000;
    // SAFETY: only takes memory that is nobody's.
    let map =
        unsafe { call(MMAP, [0, len, protection, PRIVATE_ANONYMOUS_NORESERVE, usize::MAX, 0]) };
    (map > 0).then_some(map as usize)
}

/// Opens a file to read.
pub fn open(path: &core::ffi::CStr) -> Option<usize> {
    const O_CLOEXEC: usize = 0o2_000_000;
    // SAFETY: the path is a C string.
    let file = unsafe { call(OPEN, [path.as_ptr() as usize, O_CLOEXEC, 0, 0, 0, 0]) };
    usize::try_from(file).ok()
}

/// Reads what is there; 0 at the end or on an error.
pub fn read(file: usize, buffer: &mut [u8]) -> usize {
    const READ: usize = 0;
    let (start, len) = (buffer.as_mut_ptr() as usize, buffer.len());
    // SAFETY: the buffer is ours.
    let count = unsafe { call(READ, [file, start, len, 0, 0, 0]) };
    usize::try_from(count).unwrap_or(0)
}

/// Closes a file.
pub fn close(file: usize) {
    // SAFETY: the file is ours.
    unsafe { call(CLOSE, [file, 0, 0, 0, 0, 0]) };
}

/// Sends a signal to the current thread.
pub fn signal_self(signal: i32) {
    const TGKILL: usize = 234;
    let (process, thread) = (process_id() as usize, thread_id() as usize);
    // SAFETY: what the signal does is the caller's wish.
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

/// The processor's own clock, some billion ticks a second.
pub fn ticks() -> u64 {
    // SAFETY: every x86-64 has it.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// What the processors have spent on a thread of this process, in nanoseconds; none if there is no
/// such thread.
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

/// Sleeps, for so many nanoseconds at most.
pub fn nap(nanoseconds: u64) {
    let nobody = 0;
    futex_wait(&raw const nobody, 0, nanoseconds);
}

/// Whether a thread of this process sleeps.
pub fn is_asleep(tid: u32) -> bool {
    state(tid) == Some(b'S')
}

/// Whether a thread of this process is stopped, by a debugger or a signal.
pub fn is_stopped(tid: u32) -> bool {
    matches!(state(tid), Some(b't' | b'T'))
}

/// Whether a thread of this process has ended; the first one stays as long as the others.
pub fn is_dead(tid: u32) -> bool {
    tid == process_id() && matches!(state(tid), None | Some(b'Z' | b'X'))
}

/// What the kernel says of a thread of this process, in one letter.
fn state(tid: u32) -> Option<u8> {
    let mut path = *b"/proc/self/task/0000000000/stat\0";
    let mut rest = tid;
    for digit in path[16..26].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    // The kernel takes no leading zeros: the digits move to the front.
    let zeros = path[16..26].iter().take_while(|it| **it == b'0').count();
    let mut at = 16;
    while at + zeros < path.len() {
        path[at] = path[at + zeros];
        at += 1;
    }
    let Ok(path) = core::ffi::CStr::from_bytes_until_nul(&path) else { return None };
    // No longer: it would be zeroed by `memset`, which is one of ours.
    let mut text = [0; 64];
    let file = open(path)?;
    let len = read(file, &mut text);
    close(file);
    let name_end = text[..len].iter().rposition(|&it| it == b')')?;
    text.get(name_end + 2).copied()
}

/// How many threads this process has.
pub fn threads() -> usize {
    let Some(file) = open(c"/proc/self/task") else { return 0 };
    // SAFETY: the kernel says how many links the folder has: two, and one for each thread.
    let count = unsafe {
        let mut found = core::mem::MaybeUninit::<[u64; 18]>::uninit();
        let result = call(FSTAT, [file, found.as_mut_ptr() as usize, 0, 0, 0, 0]);
        if result == 0 { (*found.as_ptr())[2] as usize } else { 2 }
    };
    close(file);
    count.saturating_sub(2)
}

/// Whether a call on a file will not block: it is ready for `events`, or never blocks at all.
pub fn is_ready(file: i32, events: i16) -> bool {
    const POLL: usize = 7;
    const FCNTL: usize = 72;
    const F_GETFL: usize = 3;
    const O_NONBLOCK: isize = 0o4000;
    #[repr(C)]
    struct Poll {
        file: i32,
        events: i16,
        found: i16,
    }
    let mut polled = Poll { file, events, found: 0 };
    // SAFETY: the kernel writes what it found; the other call is only a question.
    unsafe {
        let ready = call(POLL, [&raw mut polled as usize, 1, 0, 0, 0, 0]);
        ready != 0 || call(FCNTL, [file as usize, F_GETFL, 0, 0, 0, 0]) & O_NONBLOCK != 0
    }
}

/// How long a call on a socket waits at most, in nanoseconds, if the program has said so.
pub fn time_limit(file: i32, reads: bool) -> Option<u64> {
    const GETSOCKOPT: usize = 55;
    const SOL_SOCKET: usize = 1;
    const SO_RCVTIMEO: usize = 20;
    const SO_SNDTIMEO: usize = 21;
    let name = if reads { SO_RCVTIMEO } else { SO_SNDTIMEO };
    let (mut time, mut size) = ([0u64; 2], size_of::<[u64; 2]>());
    let arguments =
        [file as usize, SOL_SOCKET, name, &raw mut time as usize, &raw mut size as usize, 0];
    // SAFETY: the kernel writes a `timeval`, or says that this is no socket.
    let failed = unsafe { call(GETSOCKOPT, arguments) } != 0;
    let [seconds, microseconds] = time;
    let length = seconds.saturating_mul(1_000_000_000).saturating_add(microseconds * 1000);
    (!failed && length != 0).then_some(length)
}

/// Whether this process has a thread with this id.
pub fn is_thread(tid: u32) -> bool {
    const TGKILL: usize = 234;
    // SAFETY: signal 0 is only a question.
    unsafe { call(TGKILL, [process_id() as usize, tid as usize, 0, 0, 0, 0]) == 0 }
}

/// Reserves memory at `start`; none of it is there before it is touched.
///
/// # Safety
/// The caller owns the range if that could be reserved.
pub unsafe fn reserve(start: usize, len: usize) -> bool {
    const PRIVATE_ANONYMOUS_NORESERVE_NOREPLACE: usize = 0x2 | 0x20 | 0x4000 | 0x10_0000;
    let flags = PRIVATE_ANONYMOUS_NORESERVE_NOREPLACE;
    // SAFETY: only takes memory that is nobody's.
    unsafe { call(MMAP, [start, len, PROT_READ_WRITE, flags, usize::MAX, 0]) == start as isize }
}

/// How many processors this process may use.
pub fn processors() -> u32 {
    const SCHED_GETAFFINITY: usize = 204;
    let mut mask = [0u64; 16];
    // SAFETY: the kernel writes the mask.
    unsafe { call(SCHED_GETAFFINITY, [0, 128, &raw mut mask as usize, 0, 0, 0]) };
    mask.iter().map(|it| it.count_ones()).sum()
}

/// Sends a signal to the current thread, with what the kernel once said about it.
pub fn signal_self_with(signal: i32, info: &[u64; 16]) {
    const RT_TGSIGQUEUEINFO: usize = 297;
    let (process, thread) = (process_id() as usize, thread_id() as usize);
    let info = &raw const *info as usize;
    // SAFETY: the information is as the kernel gave it.
    unsafe { call(RT_TGSIGQUEUEINFO, [process, thread, signal as usize, info, 0, 0]) };
}
