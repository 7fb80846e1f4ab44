//! Objects of the kernel through which threads reach each other: pipes, sockets, event counters, timers,
//! futexes, child processes. What one thread sends there and another receives orders the two, so it is
//! recorded: each call on such an object is one event, with the object and how much went through it.
//!
//! Which receive got what which send sent is found out when the trace is read: what is sent first is
//! received first. A send takes its number before the call and a receive afterwards, as releases and
//! acquires do, so that a receive never seems to come before its send.

pub mod identity;
pub mod internal;
pub mod ready;
pub mod signal;
pub mod socket;
mod table;
pub mod usage;
pub mod watch;

use core::ffi::c_int;

use norn_abi::{Kind, arena::ThreadSlot, receipt};

use self::identity::{Ends, Tag, Unit, ends, key};
use crate::{control, event, number, real, sys, thread};

/// The channel of the wake-ups of a futex.
pub fn of_futex(word: usize) -> u64 {
    key(Tag::Futex, word as u64, 0)
}

/// The channel of a child process.
pub fn of_process(pid: c_int) -> u64 {
    key(Tag::Process, pid as u64, 0)
}

/// Asks the scheduler before a call, and completes the record of the thread's last write: the call may
/// overwrite the same memory.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn before(slot: *mut ThreadSlot, kind: Kind, pc: usize, channel: u64) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        control::before(slot, kind, pc, channel as usize);
        (*slot).lane.settle_any();
    }
}

/// A call that sends something.
pub struct Sending {
    slot: *mut ThreadSlot,
    channel: u64,
    pc: usize,
    /// The number of the event. In a controlled run no other thread runs between the call and the
    /// event, but many may before the call if it has to wait: then the number is taken afterwards.
    number: Option<u64>,
}

impl Sending {
    /// Called before the call that sends.
    ///
    /// # Safety
    /// The slot is the current thread's and not a placeholder.
    pub unsafe fn new(slot: *mut ThreadSlot, channel: u64, pc: usize) -> Sending {
        // SAFETY: guaranteed by the caller.
        unsafe {
            before(slot, Kind::Send, pc, channel);
            Sending { slot, channel, pc, number: Sending::number_before(slot, channel) }
        }
    }

    /// The number of the event, if it is taken before the call.
    ///
    /// # Safety
    /// The slot is the current thread's and not a placeholder.
    unsafe fn number_before(slot: *mut ThreadSlot, channel: u64) -> Option<u64> {
        // SAFETY: guaranteed by the caller.
        (!control::was_on()).then(|| unsafe { number::at(slot, Kind::Send, channel as usize) })
    }

    /// Called after the call: how much it sent; the error if it sent nothing, or 0.
    ///
    /// # Safety
    /// Called on the thread that made it.
    pub unsafe fn done(self, amount: Option<u64>, error: u64) {
        let Sending { slot, channel, pc, number } = self;
        // SAFETY: the slot is the current thread's.
        unsafe {
            let number = number.unwrap_or_else(|| number::at(slot, Kind::Send, channel as usize));
            match amount {
                Some(it) => event::note_at(slot, Kind::Send, pc, channel as usize, number, &[it]),
                None => event::note_at(slot, Kind::NotReady, pc, error as usize, number, &[]),
            }
        }
    }
}

/// Makes a call that sends to a file, and records what it sent. `address` is where a message is sent, if
/// the call names it; `buffer` where the data is, if it is in one piece.
///
/// # Safety
/// As for the call.
pub unsafe fn send(
    file: c_int,
    address: (usize, usize),
    buffer: usize,
    pc: usize,
    call: impl FnOnce() -> isize,
) -> isize {
    let Some(slot) = thread::recorded() else { return call() };
    // SAFETY: the slot is the current thread's; the rest is guaranteed by the caller.
    unsafe { usage::during(slot, file, pc, || send_by(slot, (file, pc), address, buffer, call)) }
}

/// # Safety
/// The slot is the current thread's and not a placeholder; the rest is as for [`send`].
unsafe fn send_by(
    slot: *mut ThreadSlot,
    (file, pc): (c_int, usize),
    address: (usize, usize),
    buffer: usize,
    call: impl FnOnce() -> isize,
) -> isize {
    let Some(ends) = ends(file) else { return call() };
    // SAFETY: the slot is the current thread's; the address is guaranteed by the caller.
    unsafe {
        let named = if ends.unit == Unit::Messages && address.0 != 0 {
            socket::to_address(address.0, address.1)
        } else {
            None
        };
        let sending = Sending::new(slot, named.unwrap_or(ends.output), pc);
        let result = call();
        sending.done(sent(&ends, buffer, result), error(result));
        result
    }
}

/// The error of a call, by its result; 0 if it has none.
fn error(result: isize) -> u64 {
    if result < 0 { real::errno() } else { 0 }
}

/// How much a call has sent, by its result.
///
/// # Safety
/// The call on the file has returned, and `buffer` is null or where its data is.
unsafe fn sent(ends: &Ends, buffer: usize, result: isize) -> Option<u64> {
    match ends.unit {
        Unit::Bytes => u64::try_from(result).ok().filter(|it| *it > 0),
        Unit::Messages => (result >= 0).then_some(1),
        // SAFETY: guaranteed by the caller.
        Unit::Count => (result > 0).then(|| unsafe { count(buffer) }).filter(|it| *it > 0),
        Unit::State | Unit::Signals => None,
    }
}

/// The number at the beginning of a buffer; 1 if it is not known.
///
/// # Safety
/// `buffer` is null or has 8 bytes.
unsafe fn count(buffer: usize) -> u64 {
    // SAFETY: guaranteed by the caller.
    if buffer == 0 { 1 } else { unsafe { (buffer as *const u64).read_unaligned() } }
}

/// Makes a call that receives from a file, and records what it received. `buffer` is where it writes and
/// how much fits, if that is one piece.
///
/// # Safety
/// As for the call.
pub unsafe fn receive(
    file: c_int,
    buffer: (usize, usize),
    flags: c_int,
    pc: usize,
    call: impl FnOnce() -> isize,
) -> isize {
    let Some(slot) = thread::recorded() else { return call() };
    // SAFETY: the slot is the current thread's; the rest is guaranteed by the caller.
    unsafe { usage::during(slot, file, pc, || receive_by(slot, (file, pc), buffer, flags, call)) }
}

/// # Safety
/// The slot is the current thread's and not a placeholder; the rest is as for [`receive`].
unsafe fn receive_by(
    slot: *mut ThreadSlot,
    (file, pc): (c_int, usize),
    buffer: (usize, usize),
    flags: c_int,
    call: impl FnOnce() -> isize,
) -> isize {
    const PEEK: c_int = 2;
    let Some(ends) = ends(file) else { return call() };
    // SAFETY: the slot is the current thread's; the buffer is guaranteed by the caller.
    unsafe {
        before(slot, Kind::Receive, pc, ends.input);
        let result = call();
        let got = if result < 0 { None } else { received(&ends, buffer, result as u64) };
        let channel = match (ends.unit, got) {
            (Unit::Signals, Some(_)) => signal::read(slot, buffer.0).unwrap_or(ends.input),
            _ => ends.input,
        } as usize;
        match got {
            None => {
                event::note(slot, Kind::NotReady, pc, error(result) as usize, &[]);
            }
            Some((_, how)) if flags & PEEK != 0 => {
                event::note(slot, Kind::Ready, pc, channel, &[how]);
            }
            Some((amount, how)) => event::note(slot, Kind::Receive, pc, channel, &[amount, how]),
        }
        result
    }
}

/// How much a call has received, by its result, and what it depends on.
///
/// # Safety
/// The call on the file has returned, and `buffer` is null or where its data is.
unsafe fn received(ends: &Ends, (buffer, room): (usize, usize), result: u64) -> Option<(u64, u64)> {
    match ends.unit {
        Unit::Bytes if result > 0 => Some((result, receipt::NEXT)),
        Unit::Bytes => (room > 0).then_some((0, receipt::END)),
        Unit::Messages => Some((1, receipt::NEXT)),
        // SAFETY: guaranteed by the caller.
        Unit::Count => Some((unsafe { count(buffer) }, receipt::NEXT)),
        Unit::State | Unit::Signals => Some((1, receipt::LATEST)),
    }
}

/// Records that a thread receives one item of a channel, such as a connection, or nothing.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn note_one(slot: *mut ThreadSlot, channel: Option<u64>, pc: usize, error: u64) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match channel {
            Some(channel) => {
                event::note(slot, Kind::Receive, pc, channel as usize, &[1, receipt::NEXT]);
            }
            None => event::note(slot, Kind::NotReady, pc, error as usize, &[]),
        }
    }
}

/// Makes a call that accepts a connection, and records it.
///
/// # Safety
/// As for the call.
pub unsafe fn accept(file: c_int, pc: usize, call: impl FnOnce() -> c_int) -> c_int {
    let Some(slot) = thread::recorded() else { return call() };
    // SAFETY: the slot is the current thread's; the rest is guaranteed by the caller.
    unsafe { usage::during(slot, file, pc, || accept_by(slot, file, pc, call)) }
}

/// # Safety
/// The slot is the current thread's and not a placeholder; the rest is as for [`accept`].
unsafe fn accept_by(
    slot: *mut ThreadSlot,
    file: c_int,
    pc: usize,
    call: impl FnOnce() -> c_int,
) -> c_int {
    let Some(ends) = ends(file) else { return call() };
    // SAFETY: the slot is the current thread's.
    unsafe {
        before(slot, Kind::Receive, pc, ends.input);
        let result = call();
        if result >= 0 {
            socket::accepted(result);
        }
        note_one(slot, (result >= 0).then_some(ends.input), pc, error(result as isize));
        result
    }
}

/// Makes a call that asks for a connection, and records it. A connection that is still being made will
/// be accepted, too.
///
/// # Safety
/// As for the call.
pub unsafe fn connect(
    file: c_int,
    address: (usize, usize),
    pc: usize,
    call: impl FnOnce() -> c_int,
) -> c_int {
    let Some(slot) = thread::recorded() else { return call() };
    // SAFETY: the slot is the current thread's; the rest is guaranteed by the caller.
    unsafe { usage::during(slot, file, pc, || connect_by(slot, (file, pc), address, call)) }
}

/// # Safety
/// The slot is the current thread's and not a placeholder; the rest is as for [`connect`].
unsafe fn connect_by(
    slot: *mut ThreadSlot,
    (file, pc): (c_int, usize),
    address: (usize, usize),
    call: impl FnOnce() -> c_int,
) -> c_int {
    const IN_PROGRESS: u64 = 115;
    // SAFETY: the slot is the current thread's; the address is guaranteed by the caller.
    unsafe {
        let Some(connecting) = socket::connecting(file, address.0, address.1) else {
            return call();
        };
        let sending = Sending::new(slot, connecting.channel, pc);
        let result = call();
        let made = result == 0 || real::errno() == IN_PROGRESS;
        connecting.done(made);
        sending.done(made.then_some(1), error(result as isize));
        result
    }
}

/// Records that nothing more will be sent by a descriptor, which is about to be closed or shut down.
///
/// # Safety
/// The program is about to close or shut down the file.
pub unsafe fn end(file: c_int, pc: usize) {
    let Some(slot) = thread::recorded() else { return };
    if let Some(ends) = ends(file).filter(|it| it.unit == Unit::Bytes)
        && sys::is_writable(file)
    {
        // SAFETY: the slot is the current thread's.
        unsafe { event::put(slot, Kind::Send, pc, ends.output as usize, &[0]) };
    }
}

/// Records that a timer is about to be set.
///
/// # Safety
/// The program is about to set the timer.
pub unsafe fn set_timer(file: c_int, pc: usize) {
    if let Some(slot) = thread::recorded()
        && let Some(ends) = ends(file).filter(|it| it.unit == Unit::State)
    {
        // SAFETY: the slot is the current thread's.
        unsafe { event::put(slot, Kind::Send, pc, ends.output as usize, &[1]) };
    }
}
