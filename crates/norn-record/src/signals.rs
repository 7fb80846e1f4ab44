//! Signals to the recorder while the subject runs. They are meant for the subject, so they are
//! forwarded and the subject decides what to do; the trace is finished in any case.
//!
//! Signals from the kernel go to the whole process group (a key or the end of the terminal), and so
//! do signals that the subject sends to its own group: the subject already has them, so they are not
//! forwarded. If another process signals the group, the recorder cannot know that, and the subject
//! receives the signal twice.
//!
//! Signals that stop and continue processes, that report the recorder's own faults, or that cannot
//! be blocked, keep their default action.
#![expect(unsafe_code, reason = "signals are set by calls that Rust cannot check")]

use std::{
    io,
    mem::{MaybeUninit, zeroed},
    os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd},
    ptr,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use libc::{sighandler_t, signalfd_siginfo, sigset_t};

use norn_frontend::{SIGNALS, note};

const FORWARDED: [i32; 16] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGABRT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGTERM,
    libc::SIGSTKFLT,
    libc::SIGURG,
    libc::SIGXCPU,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGWINCH,
    libc::SIGIO,
    libc::SIGPWR,
];

/// The recorder ignores this signal, as Rust ignores `SIGPIPE` before `main`: a write that exceeds the
/// file size limit then returns an error.
const REFUSED_WRITE: i32 = libc::SIGXFSZ;

/// The signals that are handled here, and their previous dispositions.
#[derive(Debug)]
pub(crate) struct Signals {
    source: OwnedFd,
    /// The signal mask that the subject would have without norn.
    blocked: sigset_t,
    /// Whether the recorder itself handles termination requests instead of the subject.
    ends: bool,
}

/// A signal that the recorder has received.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    info: Info,
}

/// The kernel's `siginfo_t` of a signal that a process sent.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Info {
    signal: i32,
    error: i32,
    code: i32,
    gap: i32,
    sender: u32,
    user: u32,
    value: u64,
    rest: [u64; 12],
}

const _: () = assert!(size_of::<Info>() == size_of::<libc::siginfo_t>());

impl Signals {
    /// Blocks the forwarded signals in this thread and in those that it will start.
    pub(crate) fn take_over(ends: bool) -> io::Result<Signals> {
        // SAFETY: only fills in sets of signals and asks the kernel.
        unsafe {
            let mut taken = zeroed();
            libc::sigemptyset(&raw mut taken);
            for signal in FORWARDED.into_iter().chain(libc::SIGRTMIN()..=libc::SIGRTMAX()) {
                libc::sigaddset(&raw mut taken, signal);
            }
            let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
            let source = match libc::signalfd(-1, &raw const taken, flags) {
                ..0 => return Err(io::Error::last_os_error()),
                source => OwnedFd::from_raw_fd(source),
            };
            let mut blocked = zeroed();
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const taken, &raw mut blocked);
            refused_write();
            Ok(Signals { source, blocked, ends })
        }
    }

    /// The mask that the subject starts with.
    pub(crate) fn mask(&self) -> sigset_t {
        self.blocked
    }

    /// The dispositions that the subject starts with where the recorder has changed them.
    pub(crate) fn dispositions() -> [(i32, sighandler_t); 2] {
        let broken_pipe = BROKEN_PIPE.load(Ordering::Relaxed);
        [(REFUSED_WRITE, refused_write()), (libc::SIGPIPE, broken_pipe)]
    }

    /// The next signal to forward, if one has arrived. `is_subjects` says whether a process is the
    /// subject or one of its children.
    pub(crate) fn next(&self, is_subjects: impl Fn(u32) -> bool) -> Option<Sent> {
        loop {
            let received = self.read()?;
            let (sent, sender) = (received.ssi_code <= 0, received.ssi_pid);
            // A sender outside of the recorder's PID namespace has no id.
            if sent && sender != 0 && is_subjects(sender) {
                continue;
            }
            let signal = received.ssi_signo.cast_signed();
            if self.ends && SIGNALS.contains(&signal) {
                note(signal);
            } else if sent {
                return Some(Sent::new(&received));
            }
        }
    }

    fn read(&self) -> Option<signalfd_siginfo> {
        let mut received = MaybeUninit::<signalfd_siginfo>::uninit();
        let size = size_of::<signalfd_siginfo>();
        // SAFETY: the kernel writes the whole structure or nothing.
        unsafe {
            let read = libc::read(self.source.as_raw_fd(), received.as_mut_ptr().cast(), size);
            (usize::try_from(read) == Ok(size)).then(|| received.assume_init())
        }
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.source.as_fd()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // Pending signals were meant for a subject that has ended. But one that asks for the end of
        // several runs asks for the end of the next run, too.
        while let Some(received) = self.read() {
            let signal = received.ssi_signo.cast_signed();
            if self.ends && SIGNALS.contains(&signal) {
                note(signal);
            }
        }
        // SAFETY: restores the previous mask.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.blocked, ptr::null_mut());
        }
    }
}

/// Ignores the signal from the first call on, and returns its previous disposition. A disposition
/// belongs to the process, and other recordings may continue when one ends, so it is not restored.
fn refused_write() -> sighandler_t {
    static BEFORE: OnceLock<sighandler_t> = OnceLock::new();
    // SAFETY: there is no handler.
    *BEFORE.get_or_init(|| unsafe { libc::signal(REFUSED_WRITE, libc::SIG_IGN) })
}

impl Sent {
    fn new(received: &signalfd_siginfo) -> Sent {
        let signal = received.ssi_signo.cast_signed();
        let (code, value) = (received.ssi_code, received.ssi_ptr);
        let (sender, user) = (received.ssi_pid, received.ssi_uid);
        Sent { info: Info { signal, error: 0, code, gap: 0, sender, user, value, rest: [0; 12] } }
    }

    /// Forwards the signal to a process, with its value if it has one.
    pub(crate) fn send(&self, process: BorrowedFd<'_>) {
        let queued = self.info.code == libc::SI_QUEUE;
        let info = if queued { &raw const self.info } else { ptr::null() };
        // SAFETY: the information is the kernel's own. If the process has ended, the call fails.
        unsafe {
            let (process, signal) = (process.as_raw_fd(), self.info.signal);
            libc::syscall(libc::SYS_pidfd_send_signal, process, signal, info, 0);
        }
    }
}

/// The disposition of `SIGPIPE` at the start of this program, before Rust changed it.
static BROKEN_PIPE: AtomicUsize = AtomicUsize::new(libc::SIG_DFL);

#[used]
#[unsafe(link_section = ".init_array")]
static REMEMBER: extern "C" fn() = remember_broken_pipe;

extern "C" fn remember_broken_pipe() {
    // SAFETY: only queries.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        libc::sigaction(libc::SIGPIPE, ptr::null(), &raw mut action);
        BROKEN_PIPE.store(action.sa_sigaction, Ordering::Relaxed);
    }
}
