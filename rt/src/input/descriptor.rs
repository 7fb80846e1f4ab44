//! Decides which descriptors lead outside, which means that the other end is not the program's own.
//!
//! Regular files are the program's own input. Pipes and socket pairs that the program made itself
//! only carry data of the program or of its children, which are started again in every run. All of
//! these are used as they are. So are writes to anything but a socket.

use core::{
    mem::MaybeUninit,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use crate::sys;

const FSTAT: usize = 5;
const DUP3: usize = 292;
const SOCKET_CALL: usize = 41;
const GETSOCKNAME: usize = 51;
const GETPEERNAME: usize = 52;
const GETSOCKOPT: usize = 55;
const READLINK: usize = 89;

const TYPE: u64 = 0o170_000;
pub const SOCKET: u64 = 0o140_000;
pub const REGULAR: u64 = 0o100_000;
const DEVICE: u64 = 0o020_000;
pub const PIPE: u64 = 0o010_000;
/// The numbers of `/dev/random` and `/dev/urandom`.
const RANDOM: [u64; 2] = [0x108, 0x109];

/// Number of low descriptors that are checked for being inherited at the start.
const INHERITED: usize = 64;
/// The inodes of these descriptors; 0 for those that are not open.
static STARTED_WITH: [AtomicU64; INHERITED] = [const { AtomicU64::new(0) }; INHERITED];
/// Whether one of these descriptors leads to no file, such as an event counter. All of those have the
/// same inode.
static NAMELESS: AtomicBool = AtomicBool::new(false);

/// Remembers the pipes and sockets that the program inherits: other processes hold their other
/// ends.
pub fn start() {
    for (file, known) in STARTED_WITH.iter().enumerate() {
        let inode = look(file as i32)
            .filter(|it| matches!(it.kind, PIPE | SOCKET))
            .map_or(0, |it| it.inode);
        known.store(inode, Ordering::Relaxed);
        if look(file as i32).is_some_and(|it| it.kind == 0) {
            NAMELESS.store(true, Ordering::Relaxed);
        }
    }
}

/// Whether the program was started with a descriptor that leads to no file.
pub fn has_inherited_nameless() -> bool {
    NAMELESS.load(Ordering::Relaxed)
}

/// What the kernel says of a descriptor.
pub struct Found {
    /// Its type: [`PIPE`], [`SOCKET`] or another. 0 if it has none.
    pub kind: u64,
    pub device: u64,
    pub inode: u64,
    /// For a device: which one.
    pub special: u64,
}

/// Looks at a descriptor. None if it is not open.
pub fn look(file: i32) -> Option<Found> {
    let mut found = MaybeUninit::<[u64; 18]>::uninit();
    // SAFETY: the kernel fills the structure.
    unsafe {
        let result = sys::call(FSTAT, [file as usize, found.as_mut_ptr() as usize, 0, 0, 0, 0]);
        let found = found.as_ptr();
        let (device, inode, mode) = ((*found)[0], (*found)[1], (*found)[3]);
        let special = (*found)[5];
        (result == 0).then_some(Found { kind: mode & TYPE, device, inode, special })
    }
}

/// Whether the descriptor is open.
pub fn is_open(file: i32) -> bool {
    look(file).is_some()
}

/// Whether data that is read from the descriptor comes from outside.
pub fn is_outside(file: i32) -> bool {
    let Some(found) = look(file) else { return false };
    match found.kind {
        SOCKET => is_inherited(found.inode) || !is_pair(file),
        DEVICE => !is_replaced(&found),
        PIPE => is_inherited(found.inode) || !is_nameless(file),
        _ => false,
    }
}

/// Whether the descriptor leads to a source of random numbers that a controlled run replaces. If inputs
/// are recorded, its numbers are inputs like others.
pub fn is_random(file: i32) -> bool {
    look(file).is_some_and(|it| is_replaced(&it))
}

fn is_replaced(found: &Found) -> bool {
    found.kind == DEVICE && RANDOM.contains(&found.special) && !super::is_on()
}

/// Whether data that is written to the descriptor leaves the program through a socket.
pub fn is_socket(file: i32) -> bool {
    look(file).is_some_and(|it| it.kind == SOCKET) && is_outside(file)
}

/// Whether the program was started with this pipe or socket.
pub fn is_inherited(inode: u64) -> bool {
    STARTED_WITH.iter().any(|it| it.load(Ordering::Relaxed) == inode)
}

/// Whether a socket is one end of a socket pair: neither end has a name.
pub fn is_pair(file: i32) -> bool {
    const UNIX: i32 = 1;
    const DOMAIN: usize = 39;
    option(file, DOMAIN) == Some(UNIX)
        && [GETSOCKNAME, GETPEERNAME].iter().all(|it| name_len(*it, file) == Some(2))
}

/// The length of the name of a socket, or of its peer.
fn name_len(call: usize, file: i32) -> Option<u32> {
    let mut len = 16u32;
    let mut name = MaybeUninit::<[u64; 2]>::uninit();
    let place = [file as usize, name.as_mut_ptr() as usize, &raw mut len as usize, 0, 0, 0];
    // SAFETY: the kernel fills the name and its length.
    (unsafe { sys::call(call, place) } == 0).then_some(len)
}

/// An option of a socket at the level `SOL_SOCKET`.
pub fn option(file: i32, option: usize) -> Option<i32> {
    const LEVEL: usize = 1;
    let (mut value, mut len) = (0i32, 4u32);
    let place = [&raw mut value as usize, &raw mut len as usize];
    // SAFETY: the kernel fills the value and its length.
    let result =
        unsafe { sys::call(GETSOCKOPT, [file as usize, LEVEL, option, place[0], place[1], 0]) };
    (result == 0).then_some(value)
}

/// The path of a descriptor in a folder of `/proc`, with a zero byte at its end.
pub fn proc_path(folder: &[u8], file: i32) -> [u8; 32] {
    let mut path = [0; 32];
    let mut rest = file.unsigned_abs();
    let digits = rest.checked_ilog10().unwrap_or(0) as usize + 1;
    for (to, from) in path.iter_mut().zip(folder) {
        *to = *from;
    }
    for digit in path.iter_mut().skip(folder.len()).take(digits).rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    path
}

/// Whether a pipe has no name in the file system.
pub fn is_nameless(file: i32) -> bool {
    let path = proc_path(b"/proc/self/fd/", file);
    let mut name = [0u8; 8];
    let place = [path.as_ptr() as usize, name.as_mut_ptr() as usize, name.len(), 0, 0, 0];
    // SAFETY: the kernel fills the buffer.
    unsafe { sys::call(READLINK, place) };
    name.starts_with(b"pipe:[")
}

/// Creates an unconnected socket of the same type as the listening socket `file`. It gets the
/// descriptor number of the connection that was accepted in the recorded run, if that is free.
pub fn stand_in(file: i32, number: usize, flags: usize) -> isize {
    const TYPE_OPTION: usize = 3;
    const DOMAIN: usize = 39;
    const CLOSE_ON_EXEC: usize = 0o2_000_000;
    let domain = option(file, DOMAIN).unwrap_or(1) as usize;
    let kind = option(file, TYPE_OPTION).unwrap_or(1) as usize;
    // SAFETY: the descriptors are new, and no other code knows them.
    unsafe {
        let made = sys::call(SOCKET_CALL, [domain, kind | flags, 0, 0, 0, 0]);
        if made < 0 || made as usize == number || is_open(number as i32) {
            return made;
        }
        let moved = sys::call(DUP3, [made as usize, number, flags & CLOSE_ON_EXEC, 0, 0, 0]);
        sys::close(made as usize);
        moved
    }
}
