//! Which descriptors lead to objects that only this process operates on, so that a thread that waits
//! for one of them waits for the other threads of the program.
//!
//! A pipe without a name, a socket pair and an event counter are such objects, unless the program was
//! started with them, or may have shared them with another process: by a fork, or by sending them
//! through a socket. A `signalfd` is one if only the program itself sends its signals, and an epoll
//! instance if all the files that it watches are.

use core::sync::atomic::{AtomicBool, Ordering};

use super::identity::{FdInfo, after, ends, fd_info, number, signals};
use crate::{input::descriptor, signal, sys};

/// Whether this process has, or had, children, or has sent descriptors.
static SHARES: AtomicBool = AtomicBool::new(false);
/// Maximum depth of epoll instances that watch each other.
const DEPTH: u32 = 4;

/// Notes that another process may have the descriptors of this one.
pub fn share() {
    SHARES.store(true, Ordering::Relaxed);
}

/// The channel that a descriptor receives from or sends to, if only threads of this process operate on
/// it.
pub fn channel(file: i32, receives: bool) -> Option<u64> {
    let ends = ends(file).filter(|_| is_internal(file))?;
    Some(if receives { ends.input } else { ends.output })
}

/// Whether only threads of this process operate on what the descriptor leads to.
pub fn is_internal(file: i32) -> bool {
    !is_shared() && is_own(file, DEPTH)
}

/// Whether another process may have descriptors of this one. Children are asked of the kernel, too,
/// since libc may create some in a way that the runtime does not see.
fn is_shared() -> bool {
    if !SHARES.load(Ordering::Relaxed) && has_children() {
        share();
    }
    SHARES.load(Ordering::Relaxed)
}

/// Whether this process has children that it has not waited for.
pub fn has_children() -> bool {
    const WAITID: usize = 247;
    const ALL: usize = 0;
    const ECHILD: isize = 10;
    /// `WNOHANG | WEXITED | WNOWAIT | __WALL`.
    const LOOK: usize = 0x1 | 0x4 | 0x0100_0000 | 0x4000_0000;
    // SAFETY: the call only asks whether there are children, and leaves them as they are.
    unsafe { sys::call(WAITID, [ALL, 0, 0, LOOK, 0, 0]) != -ECHILD }
}

fn is_own(file: i32, depth: u32) -> bool {
    let Some(found) = descriptor::look(file) else { return false };
    match found.kind {
        descriptor::PIPE => !descriptor::is_inherited(found.inode) && descriptor::is_nameless(file),
        descriptor::SOCKET => !descriptor::is_inherited(found.inode) && descriptor::is_pair(file),
        0 if descriptor::has_inherited_nameless() => false,
        0 => fd_info(file, |info| match info {
            FdInfo::Event(_) => true,
            FdInfo::Other(text) => match signals(text) {
                Some(signals) => signal::is_internal(signals),
                None => is_own_epoll(text, depth),
            },
            FdInfo::Timer => false,
        }),
        _ => false,
    }
}

/// Whether the description of a descriptor is that of an epoll instance, and all files that it watches
/// are the program's own.
fn is_own_epoll(text: &[u8], depth: u32) -> bool {
    let (mut rest, mut watches) = (text, false);
    while let Some(found) = after(rest, b"tfd:") {
        watches = true;
        let digits = found.trim_ascii_start();
        if depth == 0 || !is_own(number(digits) as i32, depth - 1) {
            return false;
        }
        rest = digits;
    }
    // A text that fills the buffer may be cut.
    watches && text.len() < super::identity::INFO_LEN
}
