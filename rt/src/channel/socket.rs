//! Which channels a socket receives from and sends to.
//!
//! A connection has two channels, one for each direction. A TCP connection is its two ports. The ends of
//! a socket pair, and of a connection to a path, have no names: the runtime remembers them when they are
//! made. The queue of a listening socket and the queue of messages of a socket without connection belong
//! to its own address.

use core::{
    mem::MaybeUninit,
    sync::atomic::{AtomicU64, Ordering},
};

use super::{
    identity::{Ends, Tag, Unit, key},
    table,
};
use crate::{input::descriptor, sys};

const GETSOCKNAME: usize = 51;
const GETPEERNAME: usize = 52;
const TYPE: usize = 3;
const STREAM: i32 = 1;

const UNIX: u16 = 1;
const INET: u16 = 2;
const INET6: u16 = 10;

/// The flags of a connection, in the lowest bits of its number.
const SECOND_SIDE: u64 = 1;
const MESSAGES: u64 = 2;
const FLAGS: u64 = 3;

/// The value of a pending connection that was refused.
const REFUSED: u64 = u64::MAX;

/// The channels of a socket.
pub fn ends(file: i32, inode: u64) -> Ends {
    match table::get(key(Tag::Known, inode, 0)) {
        0 => unknown(file, inode),
        known => connected(known),
    }
}

fn connected(connection: u64) -> Ends {
    let (id, side) = (connection & !FLAGS, connection & SECOND_SIDE);
    let unit = if connection & MESSAGES != 0 { Unit::Messages } else { Unit::Bytes };
    let channel = |side| key(Tag::Stream, id, side);
    Ends { input: channel(SECOND_SIDE - side), output: channel(side), unit }
}

fn unknown(file: i32, inode: u64) -> Ends {
    let own = descriptor::option(file, TYPE).is_some_and(|it| it != STREAM);
    let (here, there) = (name(GETSOCKNAME, file), name(GETPEERNAME, file));
    let nowhere = key(Tag::Socket, inode, 0);
    if own {
        let channel = |it: Option<Name>| it.map_or(nowhere, |it| it.channel(Tag::Datagram));
        return Ends { input: channel(here), output: channel(there), unit: Unit::Messages };
    }
    match (here, there) {
        (Some(Name::Port(here)), Some(Name::Port(there))) => {
            let id = key(Tag::Connection, here.min(there), here.max(there)) & !FLAGS;
            let side = if here < there { 0 } else { SECOND_SIDE };
            table::entry(key(Tag::Known, inode, 0)).store(id | side, Ordering::Release);
            connected(id | side)
        }
        (Some(here), None) => {
            Ends { input: here.channel(Tag::Accept), output: nowhere, unit: Unit::Messages }
        }
        _ => Ends::both(nowhere, Unit::Bytes),
    }
}

/// The address of a socket.
#[derive(Clone, Copy)]
enum Name {
    Port(u64),
    /// A hash of the path.
    Path(u64),
}

impl Name {
    fn number(self) -> u64 {
        let (Name::Port(number) | Name::Path(number)) = self;
        number
    }

    fn channel(self, tag: Tag) -> u64 {
        key(tag, self.number(), 0)
    }

    /// # Safety
    /// `len` bytes can be read at `address`.
    unsafe fn at(address: usize, len: usize) -> Option<Name> {
        const PATH: usize = 2;
        let byte = |at: usize| {
            // SAFETY: guaranteed by the caller; `at` is less than `len`.
            unsafe { *((address + at) as *const u8) }
        };
        if address == 0 || len <= PATH {
            return None;
        }
        match u16::from_le_bytes([byte(0), byte(1)]) {
            INET | INET6 if len >= 8 => {
                let port = u16::from_be_bytes([byte(2), byte(3)]);
                (port != 0).then_some(Name::Port(port.into()))
            }
            UNIX => {
                // A path ends with its first zero byte, unless it begins with one.
                let end = |at: &usize| byte(*at) == 0 && byte(PATH) != 0;
                let end = (PATH..len).find(end).unwrap_or(len);
                let hash = (PATH..end).fold(1, |hash, at| {
                    crate::control::mix(hash ^ u64::from(byte(at)) ^ (at as u64) << 8)
                });
                Some(Name::Path(hash))
            }
            _ => None,
        }
    }
}

/// The address of a socket, or of the socket that it is connected to.
fn name(call: usize, file: i32) -> Option<Name> {
    const LEN: usize = 128;
    let mut len = LEN as u32;
    let mut address = MaybeUninit::<[u8; LEN]>::uninit();
    let address = address.as_mut_ptr() as usize;
    // SAFETY: the kernel fills the address and its length.
    unsafe {
        let result = sys::call(call, [file as usize, address, &raw mut len as usize, 0, 0, 0]);
        if result == 0 { Name::at(address, (len as usize).min(LEN)) } else { None }
    }
}

/// The channel of messages to an address.
///
/// # Safety
/// `len` bytes can be read at `address`, or it is null.
pub unsafe fn to_address(address: usize, len: usize) -> Option<u64> {
    // SAFETY: guaranteed by the caller.
    unsafe { Name::at(address, len).map(|it| it.channel(Tag::Datagram)) }
}

/// Remembers the two ends of a socket pair.
pub fn pair(first: i32, second: i32) {
    let (Some(one), Some(other)) = (descriptor::look(first), descriptor::look(second)) else {
        return;
    };
    let messages = descriptor::option(first, TYPE).is_some_and(|it| it != STREAM);
    let id = key(Tag::Connection, one.inode, 1) & !FLAGS;
    let id = if messages { id | MESSAGES } else { id };
    table::entry(key(Tag::Known, one.inode, 0)).store(id, Ordering::Release);
    table::entry(key(Tag::Known, other.inode, 0)).store(id | SECOND_SIDE, Ordering::Release);
}

/// A connection that is being asked for.
pub struct Connecting {
    /// The channel of connections to the address.
    pub channel: u64,
    /// For a path: the entry by which the accepting thread finds this socket, and its inode.
    pending: Option<(&'static AtomicU64, u64)>,
}

/// Called before a connection is asked for. None if nobody has to accept it.
///
/// # Safety
/// `len` bytes can be read at `address`.
pub unsafe fn connecting(file: i32, address: usize, len: usize) -> Option<Connecting> {
    let inode = descriptor::look(file).filter(|it| it.kind == descriptor::SOCKET)?.inode;
    if descriptor::option(file, TYPE) != Some(STREAM) {
        return None;
    }
    // SAFETY: guaranteed by the caller.
    let Some(name) = (unsafe { Name::at(address, len) }) else {
        return Some(Connecting { channel: key(Tag::Socket, inode, 0), pending: None });
    };
    let pending = if let Name::Path(path) = name {
        let turn = table::entry(key(Tag::Asked, path, 0)).fetch_add(1, Ordering::AcqRel);
        let entry = table::entry(key(Tag::Pending, path, turn));
        entry.store(inode, Ordering::Release);
        Some((entry, inode))
    } else {
        None
    };
    Some(Connecting { channel: name.channel(Tag::Accept), pending })
}

impl Connecting {
    /// Called when the connection has been made or refused.
    pub fn done(&self, made: bool) {
        let Some((entry, inode)) = self.pending else { return };
        if made {
            let id = key(Tag::Connection, inode, 1) & !FLAGS;
            table::entry(key(Tag::Known, inode, 0)).store(id, Ordering::Release);
        } else {
            entry.store(REFUSED, Ordering::Release);
        }
    }
}

/// Called when a connection was accepted. Those to a path are accepted in the order in which they were
/// asked for.
pub fn accepted(file: i32) {
    let Some(found) = descriptor::look(file) else { return };
    let Some(Name::Path(path)) = name(GETSOCKNAME, file) else { return };
    let turn = table::entry(key(Tag::Accepted, path, 0));
    loop {
        match table::get(key(Tag::Pending, path, turn.load(Ordering::Acquire))) {
            // The other end is not a thread of this program.
            0 => return,
            REFUSED => {}
            inode => {
                turn.fetch_add(1, Ordering::AcqRel);
                let id = key(Tag::Connection, inode, 1) & !FLAGS;
                let own = table::entry(key(Tag::Known, found.inode, 0));
                return own.store(id | SECOND_SIDE, Ordering::Release);
            }
        }
        turn.fetch_add(1, Ordering::AcqRel);
    }
}
