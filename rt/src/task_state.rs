//! The state of this process's threads in the kernel, as `/proc` shows it.

use norn_sched::Sleep;

use crate::sys;

/// Whether a thread is stopped, by a debugger or a signal.
pub fn is_stopped(tid: u32) -> bool {
    matches!(state(tid), Some(b't' | b'T'))
}

/// Whether a thread runs or waits for a processor.
pub fn is_running(tid: u32) -> bool {
    state(tid) == Some(b'R')
}

/// Whether a thread has ended although its id still exists. That holds for the first thread, whose
/// task stays until the other threads have ended.
pub fn is_dead(tid: u32) -> bool {
    tid == sys::process_id() && matches!(state(tid), None | Some(b'Z' | b'X'))
}

/// What a thread sleeps for.
pub fn sleep(tid: u32) -> Sleep {
    if state(tid) != Some(b'S') {
        return Sleep::No;
    }
    match system_call(tid) {
        Some(call) if !call.waits_for_others() => Sleep::Alone,
        // A kernel that does not show the call: it may be any.
        _ => Sleep::ForOthers,
    }
}

/// The system call in which a thread sleeps, and its second argument.
struct SystemCall {
    number: u64,
    second: u64,
}

impl SystemCall {
    /// Whether another thread of the program may have to act before the call returns.
    fn waits_for_others(&self) -> bool {
        const FUTEX: u64 = 202;
        /// The operations that wait: `WAIT`, `LOCK_PI`, `WAIT_BITSET`, `WAIT_REQUEUE_PI`,
        /// `LOCK_PI2`.
        const WAITING: [u64; 5] = [0, 6, 9, 11, 13];
        /// The mask of the operation, without the flags.
        const OPERATION: u64 = 0x7f;
        match self.number {
            FUTEX => WAITING.contains(&(self.second & OPERATION)),
            number => WAITS.contains(&number),
        }
    }
}

/// The system calls, besides `futex`, that may wait until another thread of the program writes,
/// reads, unlocks or signals something.
const WAITS: [u64; 44] = [
    0,   // read
    1,   // write
    7,   // poll
    16,  // ioctl
    17,  // pread64
    18,  // pwrite64
    19,  // readv
    20,  // writev
    23,  // select
    34,  // pause
    40,  // sendfile
    42,  // connect
    43,  // accept
    44,  // sendto
    45,  // recvfrom
    46,  // sendmsg
    47,  // recvmsg
    65,  // semop
    69,  // msgsnd
    70,  // msgrcv
    72,  // fcntl
    73,  // flock
    128, // rt_sigtimedwait
    130, // rt_sigsuspend
    208, // io_getevents
    220, // semtimedop
    232, // epoll_wait
    242, // mq_timedsend
    243, // mq_timedreceive
    270, // pselect6
    271, // ppoll
    275, // splice
    276, // tee
    278, // vmsplice
    281, // epoll_pwait
    288, // accept4
    295, // preadv
    296, // pwritev
    299, // recvmmsg
    307, // sendmmsg
    426, // io_uring_enter
    441, // epoll_pwait2
    449, // futex_waitv
    455, // futex_wait
];

/// The system call in which a thread sleeps, from `/proc/self/task/TID/syscall`.
fn system_call(tid: u32) -> Option<SystemCall> {
    let mut text = [0; 64];
    let text = read(tid, b"/syscall", &mut text)?;
    let mut words = text.split(|it| *it == b' ');
    let number = decimal(words.next()?)?;
    let second = hexadecimal(words.nth(1)?)?;
    Some(SystemCall { number, second })
}

fn decimal(word: &[u8]) -> Option<u64> {
    let digit = |it: &u8| it.is_ascii_digit().then(|| u64::from(it - b'0'));
    word.iter().try_fold(0u64, |number, it| Some(number.wrapping_mul(10) + digit(it)?))
}

fn hexadecimal(word: &[u8]) -> Option<u64> {
    let digit = |it: &u8| char::from(*it).to_digit(16).map(u64::from);
    let digits = word.strip_prefix(b"0x")?;
    digits.iter().try_fold(0u64, |number, it| Some(number << 4 | digit(it)?))
}

/// The state letter of a thread in `/proc/self/task/TID/stat`.
fn state(tid: u32) -> Option<u8> {
    let mut text = [0; 64];
    let text = read(tid, b"/stat", &mut text)?;
    let name_end = text.iter().rposition(|&it| it == b')')?;
    text.get(name_end + 2).copied()
}

/// The beginning of a file of a thread. A larger array would be zeroed by a call of `memset`, which
/// the runtime intercepts.
fn read<'a>(tid: u32, name: &[u8], text: &'a mut [u8; 64]) -> Option<&'a [u8]> {
    let mut path = [0; 40];
    let digits = tid.checked_ilog10().unwrap_or(0) as usize + 1;
    let digit = |at: usize| b'0' + (tid / 10u32.pow((digits - 1 - at) as u32) % 10) as u8;
    let folder = b"/proc/self/task/".iter().copied();
    let characters = folder.chain((0..digits).map(digit)).chain(name.iter().copied());
    for (to, from) in path.iter_mut().zip(characters) {
        *to = from;
    }
    let file = sys::open(core::ffi::CStr::from_bytes_until_nul(&path).ok()?)?;
    let len = sys::read(file, text);
    sys::close(file);
    text.get(..len)
}

/// Number of threads.
pub fn threads() -> usize {
    let Some(file) = sys::open(c"/proc/self/task") else { return 0 };
    // SAFETY: the kernel fills the structure. The directory has two links, plus one per thread.
    let count = unsafe {
        let mut found = core::mem::MaybeUninit::<[u64; 18]>::uninit();
        let result = sys::call(sys::FSTAT, [file, found.as_mut_ptr() as usize, 0, 0, 0, 0]);
        if result == 0 { (*found.as_ptr())[2] as usize } else { 2 }
    };
    sys::close(file);
    count.saturating_sub(2)
}
