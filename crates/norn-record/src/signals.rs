//! Signals to the recorder while the subject runs. They are meant for the subject, so they are
//! forwarded and the subject decides what to do; the trace is finished in any case.
//!
//! What the kernel sends is for the whole group of processes (a key of the terminal, its end), and
//! so is what the subject sends to its own group: it has that already. One cannot tell when
//! somebody else sent a signal to the group; the subject then gets it twice.
//!
//! Signals that stop and continue, that tell of the recorder's own faults, or that cannot be
//! taken, do what they always do.
#![expect(unsafe_code, reason = "signals are set by calls that Rust cannot check")]

use std::{
    io,
    mem::{MaybeUninit, zeroed},
    os::{
        fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd},
        unix::process::CommandExt as _,
    },
    process::Command,
    ptr,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use libc::{sighandler_t, signalfd_siginfo, sigset_t};

use norn_frontend::{SIGNALS, note};

const PASSED_ON: [i32; 16] = [
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

/// What Rust does with `SIGPIPE` before `main`, we do with this one: a write that fails is an error,
/// and no reason to die.
const REFUSED_WRITE: i32 = libc::SIGXFSZ;

/// The signals that are handled here, and their previous dispositions.
#[derive(Debug)]
pub(crate) struct Signals {
    source: OwnedFd,
    before: Inherited,
    /// Whether the recorder itself handles termination requests instead of the subject.
    ends: bool,
}

/// What the subject is to find as it would have without us.
#[derive(Clone, Copy, Debug)]
struct Inherited {
    blocked: sigset_t,
}

/// A signal that the recorder has received.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    info: Info,
}

/// The kernel's `siginfo_t`, as it is for a signal that was sent.
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
    /// Takes them, in this thread and those that it will start.
    pub(crate) fn take_over(ends: bool) -> io::Result<Signals> {
        // SAFETY: only fills in sets of signals and asks the kernel.
        unsafe {
            let mut taken = zeroed();
            libc::sigemptyset(&raw mut taken);
            for signal in PASSED_ON.into_iter().chain(libc::SIGRTMIN()..=libc::SIGRTMAX()) {
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
            Ok(Signals { source, before: Inherited { blocked }, ends })
        }
    }

    /// The subject starts with what was before.
    pub(crate) fn give_back_in(&self, command: &mut Command) {
        let before = self.before;
        // SAFETY: only makes system calls, which may be made after a fork.
        unsafe {
            command.pre_exec(move || {
                before.restore();
                libc::signal(REFUSED_WRITE, refused_write());
                libc::signal(libc::SIGPIPE, BROKEN_PIPE.load(Ordering::Relaxed));
                Ok(())
            });
        }
    }

    /// The next signal that is to be passed on, if one has come. `is_subjects` says whether a
    /// process is the subject or one of its children.
    pub(crate) fn next(&self, is_subjects: impl Fn(u32) -> bool) -> Option<Sent> {
        loop {
            let came = self.read()?;
            let (sent, sender) = (came.ssi_code <= 0, came.ssi_pid);
            // A sender outside of our PID namespace has no id.
            if sent && sender != 0 && is_subjects(sender) {
                continue;
            }
            let signal = came.ssi_signo.cast_signed();
            if self.ends && SIGNALS.contains(&signal) {
                note(signal);
            } else if sent {
                return Some(Sent::new(&came));
            }
        }
    }

    fn read(&self) -> Option<signalfd_siginfo> {
        let mut came = MaybeUninit::<signalfd_siginfo>::uninit();
        let size = size_of::<signalfd_siginfo>();
        // SAFETY: the kernel writes all of it or nothing.
        unsafe {
            let read = libc::read(self.source.as_raw_fd(), came.as_mut_ptr().cast(), size);
            (usize::try_from(read) == Ok(size)).then(|| came.assume_init())
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
        // Those that still came were for a subject that has ended.
        while self.read().is_some() {}
        self.before.restore();
    }
}

impl Inherited {
    fn restore(&self) {
        // SAFETY: puts back what was there.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.blocked, ptr::null_mut());
        }
    }
}

/// Ignores the signal, from the first time on, and says what was done about it before. That is no
/// thread's own, and other recordings may go on when one is over.
fn refused_write() -> sighandler_t {
    static BEFORE: OnceLock<sighandler_t> = OnceLock::new();
    // SAFETY: there is no handler.
    *BEFORE.get_or_init(|| unsafe { libc::signal(REFUSED_WRITE, libc::SIG_IGN) })
}

impl Sent {
    fn new(came: &signalfd_siginfo) -> Sent {
        let signal = came.ssi_signo.cast_signed();
        let (code, value) = (came.ssi_code, came.ssi_ptr);
        let (sender, user) = (came.ssi_pid, came.ssi_uid);
        Sent { info: Info { signal, error: 0, code, gap: 0, sender, user, value, rest: [0; 12] } }
    }

    /// Passes it on to the process behind a handle, with its value if it has one.
    pub(crate) fn send(&self, process: BorrowedFd<'_>) {
        let queued = self.info.code == libc::SI_QUEUE;
        let info = if queued { &raw const self.info } else { ptr::null() };
        // SAFETY: the information is as the kernel gave it. If the process is gone, so be it.
        unsafe {
            let (process, signal) = (process.as_raw_fd(), self.info.signal);
            libc::syscall(libc::SYS_pidfd_send_signal, process, signal, info, 0);
        }
    }
}

/// What was done about `SIGPIPE` when this program was started, before Rust changed it.
static BROKEN_PIPE: AtomicUsize = AtomicUsize::new(libc::SIG_DFL);

#[used]
#[unsafe(link_section = ".init_array")]
static REMEMBER: extern "C" fn() = remember_broken_pipe;

extern "C" fn remember_broken_pipe() {
    // SAFETY: only asks.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        libc::sigaction(libc::SIGPIPE, ptr::null(), &raw mut action);
        BROKEN_PIPE.store(action.sa_sigaction, Ordering::Relaxed);
    }
}
