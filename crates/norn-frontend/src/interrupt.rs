//! Interrupts (`SIGINT`, `SIGTERM`) while controlled runs are in progress.
#![expect(unsafe_code, reason = "signals are set by calls that Rust cannot check")]

use std::sync::atomic::{AtomicI32, Ordering};

/// Signals that request termination.
pub const SIGNALS: [i32; 4] = [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP];

/// The signal that was received.
static CAUGHT: AtomicI32 = AtomicI32::new(0);

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
            // SAFETY: the handler only stores a number.
            match unsafe { libc::signal(signal, note) } {
                libc::SIG_IGN => restore(signal, libc::SIG_IGN),
                how => before.push((signal, how)),
            }
        }
        Interrupt { before }
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

/// Notes a signal, as if this process had received it.
pub extern "C" fn note(signal: i32) {
    CAUGHT.store(signal, Ordering::Relaxed);
}
