//! Interrupts (`SIGINT`, `SIGTERM`) while controlled runs are in progress.
#![expect(unsafe_code, reason = "signals are set by calls that Rust cannot check")]

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

/// Signals that request termination.
pub const SIGNALS: [i32; 4] = [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP];

/// The signal that was received.
static CAUGHT: AtomicI32 = AtomicI32::new(0);

/// When it was received, in milliseconds.
static FIRST: AtomicU64 = AtomicU64::new(0);

/// Signals that follow the first one within this time are the same request, in milliseconds.
const MOMENT: u64 = 500;

/// Whether all work is to end, because of a signal or for another reason.
static STOP: AtomicBool = AtomicBool::new(false);

/// While this exists, a termination signal ends all controlled runs but not this process, which still
/// reports their results.
#[derive(Debug)]
pub struct Interrupt {
    before: Vec<(i32, libc::sighandler_t)>,
}

impl Interrupt {
    /// Installs the handlers. Ignored signals stay ignored, which is how `nohup` works.
    pub fn watch() -> Interrupt {
        let note = note as *const () as libc::sighandler_t;
        let mut before = Vec::new();
        for signal in SIGNALS {
            // SAFETY: the handler only stores numbers, asks for the time, and may end the process.
            match unsafe { libc::signal(signal, note) } {
                libc::SIG_IGN => restore(signal, libc::SIG_IGN),
                how => before.push((signal, how)),
            }
        }
        Interrupt { before }
    }

    /// Ends all controlled runs and the work on their results, without a signal: the time is over.
    pub fn stop() {
        STOP.store(true, Ordering::Relaxed);
    }

    /// Whether all work is to end. Long computations check this often enough to end within a second.
    pub fn is_stopped() -> bool {
        STOP.load(Ordering::Relaxed)
    }

    /// The signal that was received, if any.
    pub fn caught() -> Option<i32> {
        Some(CAUGHT.load(Ordering::Relaxed)).filter(|&it| it != 0)
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        for &(signal, how) in &self.before {
            restore(signal, how);
        }
    }
}

fn restore(signal: i32, how: libc::sighandler_t) {
    // SAFETY: puts back what was there.
    unsafe { libc::signal(signal, how) };
}

/// Notes a signal, as if this process had received it. A second one ends the process at once; the kernel
/// then ends the subjects. Some senders signal a process and its group, so a second signal counts only after
/// a moment.
pub extern "C" fn note(signal: i32) {
    STOP.store(true, Ordering::Relaxed);
    let now = milliseconds();
    if CAUGHT.swap(signal, Ordering::Relaxed) == 0 {
        FIRST.store(now, Ordering::Relaxed);
    } else if now.saturating_sub(FIRST.load(Ordering::Relaxed)) >= MOMENT {
        // SAFETY: this may be called by signal handlers. It does not return.
        unsafe { libc::_exit(128 + signal) };
    }
}

/// The time of a clock that nobody sets.
fn milliseconds() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: only fills in the time; signal handlers may call it.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec.unsigned_abs() * 1000 + time.tv_nsec.unsigned_abs() / 1_000_000
}
