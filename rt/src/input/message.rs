//! Where calls on sockets write: addresses, and messages of several parts.

use super::{Memory, is_on, memory::blocks_len};

/// `struct msghdr`, which `recvmsg` and `sendmsg` take.
#[repr(C)]
pub struct Message {
    name: usize,
    name_len: u32,
    blocks: usize,
    count: usize,
    control: usize,
    control_len: usize,
    flags: i32,
}

impl Message {
    /// The caller's message, if inputs are recorded or replayed.
    ///
    /// # Safety
    /// `message` is null or points to a `struct msghdr`.
    unsafe fn at(message: usize) -> Option<&'static Message> {
        // SAFETY: guaranteed by the caller.
        unsafe { (message as *const Message).as_ref().filter(|_| is_on()) }
    }

    /// Total length of the message's blocks.
    ///
    /// # Safety
    /// `message` is null or points to a `struct msghdr`.
    pub unsafe fn len(message: usize) -> usize {
        // SAFETY: guaranteed by the caller.
        unsafe { Message::at(message).map_or(0, |it| blocks_len(it.blocks, it.count)) }
    }

    /// The list of the message's blocks, and how many there are.
    ///
    /// # Safety
    /// `message` is null or points to a `struct msghdr`.
    pub unsafe fn blocks(message: usize) -> (usize, usize) {
        // SAFETY: guaranteed by the caller.
        let message = unsafe { (message as *const Message).as_ref() };
        message.map_or((0, 0), |it| (it.blocks, it.count))
    }

    /// Where a message is sent, and the length of that address.
    ///
    /// # Safety
    /// `message` is null or points to a `struct msghdr`.
    pub unsafe fn address(message: usize) -> (usize, usize) {
        // SAFETY: guaranteed by the caller.
        let message = unsafe { (message as *const Message).as_ref() };
        message.map_or((0, 0), |it| (it.name, it.name_len as usize))
    }

    /// Whether a message has ancillary data, which may be descriptors for another process.
    ///
    /// # Safety
    /// `message` is null or points to a `struct msghdr`.
    pub unsafe fn has_control(message: usize) -> bool {
        // SAFETY: guaranteed by the caller.
        unsafe { (message as *const Message).as_ref() }.is_some_and(|it| it.control_len > 0)
    }

    /// Where `recvmsg` writes: the address, the data, the address length and the flags. Ancillary
    /// data is not recorded: when the message is replayed, it has none.
    ///
    /// # Safety
    /// `message` is null or points to a `struct msghdr`.
    pub unsafe fn memory(message: usize) -> impl Fn(isize) -> Memory {
        // SAFETY: guaranteed by the caller.
        let given = unsafe { Message::at(message) };
        let room = given.map_or(0, |it| it.name_len as usize);
        move |result| {
            let Some(it) = given.filter(|_| result >= 0) else { return Memory::NONE };
            let (len, flags) = (&raw const it.name_len as usize, &raw const it.flags as usize);
            let pieces = Memory::pieces([(it.name, room), (len, 4), (flags, 4)]);
            let rest = &raw const it.control_len as usize;
            pieces.with_blocks(it.blocks, it.count, result).without(rest)
        }
    }
}

/// The size of the address buffer, from the length at `len`; 0 if inputs are neither recorded nor
/// replayed.
///
/// # Safety
/// `len` is null or points to a `socklen_t`.
unsafe fn room(address: usize, len: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    if address == 0 || len == 0 || !is_on() { 0 } else { unsafe { *(len as *const u32) as usize } }
}

/// Where a call writes an address, and at `len` the length of the address.
///
/// # Safety
/// `len` is null or points to a `socklen_t` with the size of the buffer at `address`.
pub unsafe fn name(address: usize, len: usize) -> impl Fn(isize) -> Memory {
    // SAFETY: guaranteed by the caller.
    let room = unsafe { room(address, len) };
    move |result| {
        let there = result >= 0 && room != 0;
        if there { Memory::pieces([(address, room), (len, 4), (0, 0)]) } else { Memory::NONE }
    }
}

/// Where a call writes that fills a buffer and an address.
///
/// # Safety
/// As for the call that fills the buffer and the address.
pub unsafe fn named_buffer(
    (buffer, size): (usize, usize),
    address: usize,
    len: usize,
) -> impl Fn(isize) -> Memory {
    // SAFETY: guaranteed by the caller.
    let room = unsafe { room(address, len) };
    move |result| match usize::try_from(result.min(size as isize)) {
        Ok(count) if room != 0 => Memory::pieces([(buffer, count), (address, room), (len, 4)]),
        Ok(count) => Memory::pieces([(buffer, count), (0, 0), (0, 0)]),
        Err(_) => Memory::NONE,
    }
}
